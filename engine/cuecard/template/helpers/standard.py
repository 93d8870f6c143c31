"""The standard helpers by name."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from types import MappingProxyType

from cuecard.errors import InputError
from cuecard.model import Json
from cuecard.template.dates import STYLES, writer_named, zone_named
from cuecard.template.guards.escaping import TrustedText
from cuecard.template.helpers import collections, texts
from cuecard.template.helpers.texts import as_of, text
from cuecard.template.runtime.values import WrongValueError


def date(value: Json, form: Json = "long", locale: Json = "en-US", zone: Json = "") -> str:
    """A date or time in ISO 8601, such as `2026-11-22` or `2026-11-22T09:30:00Z`, formatted for people.

    Args:
        value: the date; for a missing value, the result is an empty text.
        form: `full`, `long`, `medium` or `short`, or a pattern of the Unicode CLDR, such as `d MMMM yyyy, HH:mm`.
        locale: a language and a country; any but `en-US` and `en-GB` needs the extra `locale`.
        zone: the time zone to convert a time to, such as `Europe/Vienna`; by default it is not converted.
    """
    written = text(value)
    if not written:
        return ""
    try:
        moment = datetime.fromisoformat(written)
    except ValueError:
        hint = "pass a date in ISO 8601, such as `2026-11-22` or `2026-11-22T09:30:00Z`"
        raise WrongValueError("takes a date", hint) from None
    try:
        if text(zone):
            if moment.tzinfo is None:
                hint = "pass it with its zone, such as `2026-11-22T09:30:00Z`, or leave `zone` out"
                raise WrongValueError("cannot convert a time that has no zone", hint)
            moment = moment.astimezone(zone_named(text(zone)))
        writer = writer_named(text(locale))
        how = text(form)
        made = writer.date(moment, STYLES[how]) if how in STYLES else writer.pattern(moment, how)
    except InputError as error:
        problem = error.problems[0]
        message = _without_values(problem.message, (form, locale, zone))
        raise WrongValueError(f"cannot be written: {message}", problem.hint) from None
    except OverflowError:
        raise WrongValueError("takes a date between the years 1 and 9999") from None
    return as_of(made, value)


def _without_values(message: str, given: tuple[Json, ...]) -> str:
    """The message with each value of the host replaced by its length; the author's texts stay."""
    for each in given:
        if isinstance(each, str) and not isinstance(each, TrustedText):
            message = message.replace(f"`{each}`", f"a text of {len(each):,} characters")
    return message


_HELPERS: Mapping[str, tuple[Callable[..., Json], str]] = {
    "trim": (texts.trim, "trim text"),
    "one_line": (texts.on_one_line, "one_line text"),
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
    "date": (date, 'date value "d MMMM yyyy" locale="en-GB" zone="Europe/Vienna"'),
    "eq": (collections.eq, "eq value other"),
    "ne": (collections.ne, "ne value other"),
    "gt": (collections.gt, "gt number other"),
    "lt": (collections.lt, "lt number other"),
    "and": (collections.and_, "and value other"),
    "or": (collections.or_, "or value other"),
    "not": (collections.not_, "not value"),
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
