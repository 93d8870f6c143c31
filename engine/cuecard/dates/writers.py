"""Dates and times in a language: English is built in, all others come from Babel.

The English patterns and names are those of the Unicode CLDR, byte for byte as Babel 2.18 prints them: so the shipped
agents need no 33 MB of other languages.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias, get_args

from cuecard.dates.locales import English, check_time_style, english, locale_named
from cuecard.dates.patterns import DAYS, MONTHS, english_pattern, fields, wrong_pattern
from cuecard.records import dataclass

if TYPE_CHECKING:
    from babel import Locale

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


class Writer(Protocol):
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


def writer_named(tag: str) -> Writer:
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
