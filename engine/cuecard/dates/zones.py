"""Time zones by name, with a hint for a wrong one; only looked up if one is named."""

from __future__ import annotations

from collections.abc import Iterable
from zoneinfo import ZoneInfo, available_timezones

from cuecard.errors import InputError, Problem, did_you_mean


def zone_named(name: str) -> ZoneInfo:
    """The time zone with an IANA name, such as `Europe/Vienna`.

    Raises:
        InputError: `unknown-zone`, also when the machine has no time zone database at all.
    """
    try:
        return ZoneInfo(name)
    except (LookupError, ValueError, OSError):
        # No such zone; not even a name, such as `../x`; a folder of zones, such as `Europe`.
        known = available_timezones()
    if not known:
        hint = "install the package `tzdata`, or the time zone database of the operating system"
        raise InputError(Problem("unknown-zone", f"`{name}`: this machine has no time zone database", hint))
    hint = closest(name, known, "write an IANA name, such as `Europe/Vienna` or `UTC`")
    raise InputError(Problem("unknown-zone", f"`{name}` is not a time zone", hint))


def closest(word: str, known: Iterable[str], otherwise: str) -> str:
    """The closest of the known words, since a list of hundreds would not help."""
    by_case = {name.casefold(): name for name in known}
    hint = did_you_mean(word.casefold(), by_case)
    close = hint.removeprefix("did you mean `").removesuffix("`?")
    return f"did you mean `{by_case[close]}`?" if close in by_case else otherwise
