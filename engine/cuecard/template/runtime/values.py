"""Values as a template sees them: JSON only, accessed by keys and items, printed and tested as in JavaScript."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Any

from cuecard.model import Json
from cuecard.template.syntax.lexer import number_of, number_text

_NAME = 64
"""The maximum length of a name."""


class CallableValue:
    """Code that may be among the values: `@partial-block`. It can be tested, and called as a partial."""

    __slots__ = ()

    def is_blank(self) -> bool:
        """Whether it renders to nothing, which is what `{{#if @partial-block}}` tests in Handlebars.js."""
        raise NotImplementedError


class NotData(Exception):  # noqa: N818 - never shown: the runtime turns it into a TemplateRenderError with a place
    """A value that is not JSON, such as a function or an object with methods."""


class WrongValueError(Exception):
    """A value that a helper cannot use; the message continues after the helper's name, as in "takes a list"."""

    def __init__(self, message: str, hint: str = "") -> None:
        """Take the problem and the way to fix it."""
        super().__init__(message)
        self.hint = hint


def lookup(value: Json, key: str) -> Json:
    """`value.key`: a mapping's key, a sequence's or text's item or `length`; None for anything else.

    Attributes and methods are never accessible (Handlebars.js 4.7 looks up own properties only).
    """
    if isinstance(value, dict):
        return value.get(key)
    if isinstance(value, (list, tuple, str)):
        if key == "length":
            return len(value)
        return value[int(key)] if _is_index(key) and int(key) < len(value) else None
    if isinstance(value, Mapping):
        return value.get(key)
    return None


def has(value: Json, key: str) -> bool:
    """Whether a mapping or a sequence has the key, even if its value is null."""
    if isinstance(value, Mapping):
        return key in value
    return isinstance(value, (list, tuple)) and (key == "length" or (_is_index(key) and int(key) < len(value)))


def is_data(value: Any) -> bool:
    """Whether a value is JSON at its top level, so that a template may test, iterate over and print it."""
    return value is None or isinstance(value, (str, bool, int, float, list, tuple, Mapping))


def is_empty(value: Json) -> bool:
    """Whether `if` and `with` treat a value as absent: null, false, "", NaN and []; not 0 (Handlebars isEmpty)."""
    if isinstance(value, (list, tuple)):
        return not value
    if isinstance(value, (str, bool)) or value is None:
        return not value
    return isinstance(value, float) and math.isnan(value)


def is_falsy(value: Json, *, include_zero: bool = False) -> bool:
    """What `if` takes for no."""
    if isinstance(value, (int, float)) and not isinstance(value, bool) and value == 0:
        return not include_zero
    if isinstance(value, CallableValue):
        return value.is_blank()
    if not is_data(value):
        raise NotData
    return is_empty(value)


def is_nothing(value: Json) -> bool:
    """Whether JavaScript itself treats a value as false: unlike `if`, it treats an empty list as true."""
    if value is None or isinstance(value, (str, bool)):
        return not value
    return isinstance(value, (int, float)) and (value == 0 or value != value)  # noqa: PLR0124 - NaN; `isnan` of 10**400 raises


def items_of(value: Json) -> tuple[Sequence[Json], Sequence[Json]]:
    """Keys and values in the order of `each`; a mapping's integer keys come first, as in JavaScript."""
    if isinstance(value, (list, tuple)):
        return range(len(value)), value
    if isinstance(value, Mapping):
        keys = list(value)
        if not _may_be_indexes(keys):
            return keys, list(value.values())
        keys = [*sorted((k for k in keys if _is_index(k)), key=int), *(k for k in keys if not _is_index(k))]
        return keys, [value[key] for key in keys]
    if not is_data(value):
        raise NotData
    return (), ()


def _may_be_indexes(keys: list[Any]) -> bool:
    """False if none of them begins with a digit or with a character that sorts before digits."""
    try:
        return bool(min(keys, default=":") < ":")
    except TypeError:
        return True


def _is_index(key: Any) -> bool:
    return isinstance(key, str) and key.isascii() and key.isdigit() and (key == "0" or key[0] != "0") and len(key) < 11


def is_name(text: str) -> bool:
    """Whether a text may be a name, which an error may repeat; other values may be secret and are never repeated."""
    return len(text) <= _NAME and text.isprintable() and " " not in text


def named(text: str) -> str:
    """A computed name for use in an error."""
    return f"`{text}`" if is_name(text) else f"the computed name: a text of {len(text):,} characters"


def text_of(value: Json) -> str:
    """The value as JavaScript prints it: nothing for null, `a,b` for a list, `[object Object]` for a mapping."""
    if isinstance(value, str):
        # A member of an enumeration prints as its name otherwise.
        return str.__str__(value) if isinstance(value, Enum) else value
    if value is None:
        return ""
    if isinstance(value, (bool, int, float)):
        return number_text(value.value if isinstance(value, Enum) else value)
    if isinstance(value, (list, tuple)):
        return ",".join(map(text_of, value))
    if isinstance(value, Mapping):
        return "[object Object]"
    raise NotData


def holds_object(value: Json) -> bool:
    """Whether it is a mapping, or a list that contains one."""
    if isinstance(value, (list, tuple)):
        return any(map(holds_object, value))
    return isinstance(value, Mapping)


def same(left: Json, right: Json) -> bool:
    """JavaScript's `==`, which distinguishes blocks that keep their context from others."""
    if left is right:
        return True
    containers = (list, tuple, Mapping)
    if isinstance(left, containers) and isinstance(right, containers):
        return False
    left, right = (text_of(side) if isinstance(side, containers) else side for side in (left, right))
    if isinstance(left, str) and isinstance(right, str):
        return left == right
    scalars = (str, int, float)
    return isinstance(left, scalars) and isinstance(right, scalars) and _number(left) == _number(right)


def _number(value: str | float) -> float:
    return number_of(value) if isinstance(value, str) else value
