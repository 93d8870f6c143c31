"""The date as text."""

from __future__ import annotations

from datetime import datetime

from cuecard.errors import InputError, Problem


def date_text(now: datetime) -> str:
    """The date as ISO 8601, such as `2026-11-20`: day precision, so that a prompt stays the same all day (seed 003).

    Raises:
        InputError: when the time has no zone, because then nobody knows which day it is.
    """
    if now.tzinfo is None:
        hint = "pass a datetime with tzinfo, such as datetime.now(UTC)"
        raise InputError(Problem("naive-time", "`Turn.now` has no time zone", hint, "turn"))
    return now.date().isoformat()
