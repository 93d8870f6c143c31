"""Time zones and locales by name, with a hint where a name is wrong; both are looked up only when one is named."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo, available_timezones

from cuecard.errors import InputError, Problem, did_you_mean

if TYPE_CHECKING:
    from babel import Locale


def zone_named(name: str) -> ZoneInfo:
    """The time zone of an IANA name, such as `Europe/Vienna`.

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
    hint = _closest(name, known, "write an IANA name, such as `Europe/Vienna` or `UTC`")
    raise InputError(Problem("unknown-zone", f"`{name}` is not a time zone", hint))


def locale_named(tag: str) -> Locale:
    """The locale of a tag, such as `de-AT`.

    Raises:
        InputError: `unknown-locale`, or `no-locales` when Babel is not installed.
    """
    try:
        from babel import Locale, UnknownLocaleError  # noqa: PLC0415 - more than 10 MB of data, for those who name a locale
    except ImportError:
        hint = "install the package `babel`, or leave the locale out"
        raise InputError(Problem("no-locales", f"the locale `{tag}` needs Babel", hint)) from None
    try:
        locale = Locale.parse(tag.replace("_", "-"), sep="-")
    except (UnknownLocaleError, ValueError, TypeError):
        locale = None
    if locale and _has_territory(tag, locale.territory):
        return locale
    from babel.localedata import locale_identifiers  # noqa: PLC0415 - as above

    known = [name.replace("_", "-") for name in locale_identifiers()]
    hint = _closest(tag, known, "write a language and a country, such as `de-AT`")
    raise InputError(Problem("unknown-locale", f"`{tag}` is not a locale", hint))


def _has_territory(tag: str, territory: str | None) -> bool:
    """Whether the country that a tag names is the locale's: Babel takes the language alone for an unknown one."""
    parts = tag.replace("_", "-").partition("@")[0].split("-")[1:]
    return all(part.upper() == territory for part in parts if len(part) == 2 or (len(part) == 3 and part.isdigit()))


def _closest(word: str, known: Iterable[str], otherwise: str) -> str:
    """The closest of the known words; of hundreds, a list would say nothing."""
    by_case = {name.casefold(): name for name in known}
    hint = did_you_mean(word.casefold(), by_case)
    close = hint.removeprefix("did you mean `").removesuffix("`?")
    return f"did you mean `{by_case[close]}`?" if close in by_case else otherwise
