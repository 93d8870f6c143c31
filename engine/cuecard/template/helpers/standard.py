"""The standard helpers by name, and their usage."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from cuecard.model import Json
from cuecard.template.helpers import collections, comparisons, moments, texts

_HELPERS: Mapping[str, tuple[Callable[..., Json], str]] = {
    "trim": (texts.trim, "trim text"),
    "one_line": (texts.one_line, "one_line text"),
    "indent": (texts.indent, "indent text 2 first=false"),
    "join": (collections.join, 'join list ", "'),
    "replace": (texts.replace, 'replace text "old" "new"'),
    "default": (collections.default, 'default value "otherwise"'),
    "json": (collections.json, "json value indent=2"),
    "truncate": (texts.truncate, 'truncate text 80 marker="..."'),
    "middle": (texts.middle, "middle text 2000"),
    "first_sentence": (texts.first_sentence, "first_sentence text"),
    "lower": (texts.lower, "lower text"),
    "upper": (texts.upper, "upper text"),
    "date": (moments.date, 'date value "d MMMM yyyy" locale="en-GB" zone="Europe/Vienna"'),
    "eq": (comparisons.eq, "eq value other"),
    "ne": (comparisons.ne, "ne value other"),
    "gt": (comparisons.gt, "gt number other"),
    "lt": (comparisons.lt, "lt number other"),
    "and": (comparisons.and_, "and value other"),
    "or": (comparisons.or_, "or value other"),
    "not": (comparisons.not_, "not value"),
    "in": (collections.in_, "in item list"),
    "contains": (collections.contains, "contains list item"),
    "one_of": (collections.one_of, 'one_of value "a" "b"'),
}

OF_RENDER = MappingProxyType({"xml": 'xml value "name"', "tool": 'tool "name"'})
"""The usage of helpers that look at more than their arguments."""

STANDARD: Mapping[str, Callable[..., Json]] = MappingProxyType({name: made for name, (made, _) in _HELPERS.items()})
"""Functions by name."""

NAMES: Sequence[str] = (*STANDARD, *OF_RENDER)


def usage(name: str) -> str:
    """The usage of a helper, with its arguments."""
    return OF_RENDER[name] if name in OF_RENDER else _HELPERS[name][1]


def takes(name: str, params: int, pairs: Sequence[str]) -> bool:
    """Whether a helper accepts this number of arguments and these names."""
    if name in OF_RENDER:
        return not pairs and params in ({1} if name == "tool" else {1, 2})
    try:
        inspect.signature(STANDARD[name]).bind(*range(params), **dict.fromkeys(pairs))
    except TypeError:
        return False
    return params >= (2 if name in {"and", "or", "one_of"} else 0)
