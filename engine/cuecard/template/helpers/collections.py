"""Helpers for lists and objects, and those that turn any value into a text."""

from __future__ import annotations

import json as json_module
from collections.abc import Mapping

from cuecard.model import Json
from cuecard.template.guards.guard import Trusted
from cuecard.template.helpers.comparisons import is_same
from cuecard.template.helpers.values import as_of, text, whole, within, written
from cuecard.template.runtime.values import NotData, WrongValueError

_COMMA = Trusted(", ")
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
