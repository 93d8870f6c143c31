"""Helpers for lists, objects, comparisons."""

from __future__ import annotations

import json as json_module
from collections.abc import Mapping
from typing import TypeGuard

from cuecard.model import Json
from cuecard.template.guards.escaping import TrustedText
from cuecard.template.helpers.texts import as_of, text, whole, within, written
from cuecard.template.runtime.values import NotData, WrongValueError, is_falsy


def is_same(left: Json, right: Json) -> bool:
    """Equal, and of the same type: `1` is neither `"1"` nor `true`, as in the conditions of an agent file."""
    return isinstance(left, bool) == isinstance(right, bool) and bool(left == right)


def eq(left: Json, right: Json) -> bool:
    """Whether two values are equal."""
    return is_same(left, right)


def ne(left: Json, right: Json) -> bool:
    """Whether two values differ."""
    return not is_same(left, right)


def gt(left: Json, right: Json) -> bool:
    """Whether a number or text is greater than another."""
    return _compared(left, right) > 0


def lt(left: Json, right: Json) -> bool:
    """Whether a number or text is less than another."""
    return _compared(left, right) < 0


def and_(*values: Json) -> Json:
    """The last value if all are truthy, otherwise the first that is not, as in JavaScript."""
    return next((each for each in values if is_falsy(each)), values[-1])


def or_(*values: Json) -> Json:
    """The first truthy value, otherwise the last."""
    return next((each for each in values if not is_falsy(each)), values[-1])


def not_(value: Json) -> bool:
    """Whether the value is falsy."""
    return is_falsy(value)


def _compared(left: Json, right: Json) -> int:
    if isinstance(left, str) and isinstance(right, str):
        return (left > right) - (left < right)
    if _is_number(left) and _is_number(right):
        return (left > right) - (left < right)
    raise WrongValueError("compares two numbers, or two texts", "declare the input as `type: number`")


def _is_number(value: Json) -> TypeGuard[float]:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


_COMMA = TrustedText(", ")
_DEEPEST = 16


def join(value: Json, separator: Json = _COMMA) -> str:
    """The items of a list, joined by a text; empty items are left out."""
    if not isinstance(value, (list, tuple)):
        raise WrongValueError("takes a list", "a text needs no `join`; for an object, write `json value`")
    items = [item for item in map(text, value) if item]
    between = written(separator)
    within(sum(map(len, items)) + len(between) * len(items))
    return as_of(between.join(items), items, separator)


def default(value: Json, otherwise: Json) -> Json:
    """The value, or the other one if it is missing or an empty text, list or object."""
    is_missing = value is None or (isinstance(value, (str, list, tuple, Mapping)) and not value)
    return otherwise if is_missing else value


def json(value: Json, indent: Json = 0) -> str:
    """The value as JSON, on one line or with each level indented by `indent` spaces."""
    width = whole(indent, "`indent`", _DEEPEST)
    try:
        made = json_module.dumps(value, ensure_ascii=False, indent=width or None, default=_plain)
    except (ValueError, RecursionError):
        raise WrongValueError("cannot write a value that is nested too deeply", "pass a part of it") from None
    return as_of(made, value)


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    raise NotData


def contains(value: Json, item: Json) -> bool:
    """Whether a list contains an item, an object a key, or a text another text."""
    if isinstance(value, str):
        return text(item) in value
    if isinstance(value, Mapping):
        return item in value if isinstance(item, str) else False
    if isinstance(value, (list, tuple)):
        return any(is_same(each, item) for each in value)
    if value is None:
        return False
    raise WrongValueError("looks into a text, a list or an object", "compare with `eq`")


def in_(item: Json, value: Json) -> bool:
    """The same with swapped arguments."""
    return contains(value, item)


def one_of(value: Json, *others: Json) -> bool:
    """Whether the value equals one of the others."""
    return any(is_same(value, each) for each in others)
