"""Time zones and locales by name, and dates written in a language.

The English patterns and names are those of the Unicode CLDR, byte for byte as Babel 2.18 prints them: so the shipped
agents need no 33 MB of other languages.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias, get_args
from zoneinfo import ZoneInfo, available_timezones

from cuecard.errors import InputError, Problem, did_you_mean
from cuecard.records import dataclass
from cuecard.template.date_patterns import DAYS, MONTHS, english_pattern, fields, wrong_pattern

if TYPE_CHECKING:
    from babel import Locale


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


English: TypeAlias = Literal["en-US", "en-GB"]
"""The variants of English supported without Babel."""

_ENGLISH: Mapping[str, English] = MappingProxyType({"en": "en-US", "en-us": "en-US", "en-gb": "en-GB"})
_INSTALL = 'run `pip install "cuecard[locale]"`'


def english(tag: str) -> English | None:
    """The English that a tag such as `en` or `en_GB` names; None for every other locale."""
    return _ENGLISH.get(tag.replace("_", "-").lower())


def check_locale(tag: str) -> None:
    """Reject an unsupported locale.

    Raises:
        InputError: as `locale_named`; never for English.
    """
    if not english(tag):
        locale_named(tag)


def check_time_style(style: str, tag: str) -> None:
    """Reject an unsupported style of times.

    Raises:
        InputError: `no-locales` when the style names the time zone, whose names in English only Babel knows, and Babel
            is not installed.
    """
    if style in {"full", "long"} and english(tag):
        _babel_for(style, "`medium`")


def locale_named(tag: str) -> Locale:
    """Babel's locale for a tag, such as `de-AT`.

    Raises:
        InputError: `unknown-locale`, or `no-locales` when Babel is not installed.
    """
    _babel_for(tag, "`en-US` or `en-GB`")
    from babel import Locale, UnknownLocaleError  # noqa: PLC0415 - more than 10 MB of data, for those who name a locale

    try:
        locale = Locale.parse(tag.replace("_", "-"), sep="-")
    except (UnknownLocaleError, ValueError, TypeError):
        locale = None
    if locale and _has_territory(tag, locale.territory):
        return locale
    from babel.localedata import locale_identifiers  # noqa: PLC0415 - as above

    known = [name.replace("_", "-") for name in locale_identifiers()]
    hint = closest(tag, known, "write a language and a country, such as `de-AT`")
    raise InputError(Problem("unknown-locale", f"`{tag}` is not a locale", hint))


def _babel_for(wish: str, instead: str) -> None:
    try:
        import babel  # noqa: F401, PLC0415 - an extra
    except ImportError:
        hint = f"{_INSTALL}, or write {instead}"
        raise InputError(Problem("no-locales", f"`{wish}` needs Babel, the extra `locale`", hint)) from None


def _has_territory(tag: str, territory: str | None) -> bool:
    """Whether the locale has the country in the tag: for an unknown country, Babel falls back to the language."""
    parts = tag.replace("_", "-").partition("@")[0].split("-")[1:]
    return all(part.upper() == territory for part in parts if len(part) == 2 or (len(part) == 3 and part.isdigit()))


Style: TypeAlias = Literal["full", "long", "medium", "short"]
"""How much of a date or time a locale writes out."""

STYLES: Mapping[str, Style] = {style: style for style in get_args(Style)}

_Patterns: TypeAlias = Mapping[str, str]

_DATES: Mapping[English, _Patterns] = {
    "en-US": {
        "full": "{weekday}, {month} {day}, {year}",
        "long": "{month} {day}, {year}",
        "medium": "{month:.3} {day}, {year}",
        "short": "{number}/{day}/{two:02}",
    },
    "en-GB": {
        "full": "{weekday}, {day} {month} {year}",
        "long": "{day} {month} {year}",
        "medium": "{day} {brief} {year}",
        "short": "{day:02}/{number:02}/{year}",
    },
}
_TIMES: Mapping[English, _Patterns] = {
    "en-US": {"medium": "{hour}:{minute:02}:{second:02}\u202f{half}", "short": "{hour}:{minute:02}\u202f{half}"},
    "en-GB": {"medium": "{hours:02}:{minute:02}:{second:02}", "short": "{hours:02}:{minute:02}"},
}


class DateWriter(Protocol):
    """Writes dates and times in one language."""

    def date(self, moment: datetime, style: Style) -> str:
        """The date in that style."""

    def time(self, moment: datetime, style: Style) -> str:
        """The time of day in that style."""

    def joined(self, date: str, time: str, style: Style) -> str:
        """Date and time combined; the style is the date's (Unicode TR 35, dates, 2.6.2.2)."""

    def pattern(self, moment: datetime, pattern: str) -> str:
        """The moment formatted by a pattern, such as `d MMMM yyyy`.

        Raises:
            InputError: `wrong-pattern`.
        """


def writer_named(tag: str) -> DateWriter:
    """The writer of a locale, such as `en-GB` or `de-AT`.

    Raises:
        InputError: `unknown-locale`, or `no-locales` when the locale needs Babel and Babel is not installed.
    """
    kind = english(tag)
    return _English(kind) if kind else _Babel(locale_named(tag))


@dataclass(frozen=True, slots=True)
class _English:
    kind: English

    def date(self, moment: datetime, style: Style) -> str:
        month = MONTHS[moment.month - 1]
        return _DATES[self.kind][style].format(
            weekday=DAYS[moment.weekday()],
            month=month,
            brief="Sept" if month == "September" else month[:3],
            number=moment.month,
            day=moment.day,
            year=moment.year,
            two=moment.year % 100,
        )

    def time(self, moment: datetime, style: Style) -> str:
        pattern = _TIMES[self.kind].get(style)
        if pattern is None:  # it contains the name of the time zone, of which there are hundreds
            check_time_style(style, self.kind)
            return _Babel(locale_named(self.kind)).time(moment, style)
        return pattern.format(
            hour=moment.hour % 12 or 12,
            hours=moment.hour,
            minute=moment.minute,
            second=moment.second,
            half="AM" if moment.hour < 12 else "PM",
        )

    def joined(self, date: str, time: str, style: Style) -> str:  # noqa: ARG002 - alike in every style
        return f"{date}, {time}"

    def pattern(self, moment: datetime, pattern: str) -> str:
        return english_pattern(moment, pattern)


@dataclass(frozen=True, slots=True)
class _Babel:
    locale: Locale

    def date(self, moment: datetime, style: Style) -> str:
        from babel.dates import format_date  # noqa: PLC0415 - an extra

        return format_date(moment, style, locale=self.locale)

    def time(self, moment: datetime, style: Style) -> str:
        from babel.dates import format_time  # noqa: PLC0415 - an extra

        return format_time(moment, style, locale=self.locale)

    def joined(self, date: str, time: str, style: Style) -> str:
        pattern = str(self.locale.datetime_formats[style]).replace("'", "")
        return pattern.replace("{1}", date).replace("{0}", time)

    def pattern(self, moment: datetime, pattern: str) -> str:
        from babel.dates import format_datetime  # noqa: PLC0415 - an extra

        fields(pattern)
        try:
            return format_datetime(moment, pattern, locale=self.locale)
        except (ValueError, KeyError, AttributeError) as error:
            raise wrong_pattern(pattern, str(error), "see the fields of Unicode TR 35") from None
