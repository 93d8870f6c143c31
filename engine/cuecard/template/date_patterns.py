"""Patterns of dates and times, such as `d MMMM yyyy, HH:mm`, in English.

The fields are those of Unicode TR 35, part 4, Date Format Patterns.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import datetime

from cuecard.errors import InputError, Problem

DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)

_PIECES = re.compile(r"'((?:[^']|'')*)'|([A-Za-z])\2*|[^A-Za-z']+|(')")

FIELDS: Mapping[str, Callable[[datetime], str]] = {
    "y": lambda at: str(at.year),
    "yy": lambda at: f"{at.year % 100:02}",
    "yyyy": lambda at: f"{at.year:04}",
    "M": lambda at: str(at.month),
    "MM": lambda at: f"{at.month:02}",
    "MMM": lambda at: MONTHS[at.month - 1][:3],
    "MMMM": lambda at: MONTHS[at.month - 1],
    "d": lambda at: str(at.day),
    "dd": lambda at: f"{at.day:02}",
    "E": lambda at: DAYS[at.weekday()][:3],
    "EEE": lambda at: DAYS[at.weekday()][:3],
    "EEEE": lambda at: DAYS[at.weekday()],
    "H": lambda at: str(at.hour),
    "HH": lambda at: f"{at.hour:02}",
    "h": lambda at: str(at.hour % 12 or 12),
    "hh": lambda at: f"{at.hour % 12 or 12:02}",
    "mm": lambda at: f"{at.minute:02}",
    "ss": lambda at: f"{at.second:02}",
    "a": lambda at: "AM" if at.hour < 12 else "PM",
}
"""The format of each field; names are English."""

CLOCK = frozenset("HhmsaSkKzZOvVXxjbB")
"""The letters of fields for the time of day or its zone."""


def fields(pattern: str) -> tuple[str, ...]:
    """The fields of a pattern, in order.

    Raises:
        InputError: `wrong-pattern`, for a quote that is not closed, and a pattern without a field.
    """
    found = [*_PIECES.finditer(pattern)]
    if any(piece[3] for piece in found):
        raise wrong_pattern(pattern, "a `'` is not closed", "put literal text in quotes, and write a quote as `''`")
    told = tuple(piece.group() for piece in found if piece[2])
    if not told:
        raise wrong_pattern(pattern, "it has no date field", "write fields, as in `d MMMM yyyy`")
    return told


def english_pattern(moment: datetime, pattern: str) -> str:
    """The moment formatted by the pattern.

    Raises:
        InputError: `wrong-pattern`.
    """
    unknown = next((name for name in fields(pattern) if name not in FIELDS), None)
    if unknown:
        hint = f"the fields are {', '.join(FIELDS)}; put literal text in quotes: `'text'`"
        raise wrong_pattern(pattern, f"it has no field `{unknown}`", hint)
    return _PIECES.sub(lambda piece: FIELDS[piece.group()](moment) if piece[2] else _text(piece), pattern)


def _text(piece: re.Match[str]) -> str:
    if piece[1] is None:
        return piece.group()
    return piece[1].replace("''", "'") or "'"


def wrong_pattern(pattern: str, why: str, hint: str) -> InputError:
    """The problem of an invalid pattern."""
    return InputError(Problem("wrong-pattern", f"`{pattern}` is not a date pattern: {why}", hint))
