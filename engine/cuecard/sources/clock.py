"""The time as text."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from zoneinfo import ZoneInfo

from cuecard.config.sections.sources_spec import ClockSpec
from cuecard.model import Json
from cuecard.records import dataclass
from cuecard.sources.content import Content, SourceInput
from cuecard.template.dates import writer_named, zone_named


def date_text(now: datetime) -> str:
    """The date as ISO 8601, such as `2026-11-20`: day precision, so that a prompt stays the same all day."""
    return now.date().isoformat()


def clock_values(now: datetime, spec: ClockSpec, *, zone: str = "", locale: str = "") -> dict[str, str]:
    """The time as `datetime`, `date`, `time` and `timezone`; `time` is empty if only the date is given.

    Args:
        now: the time, with a zone.
        spec: the precision and format.
        zone: a zone that overrides the one in `spec`, unless it is empty.
        locale: a locale that overrides the one in `spec`, unless it is empty.

    Raises:
        InputError: when a zone or locale is unknown, or a locale or a style of times needs Babel and Babel is not
            installed (`no-locales`).
    """
    name = zone or spec.zone
    local = now.astimezone(zone_named(name)) if name else now
    tag = locale or spec.locale
    if spec.pattern:
        told = writer_named(tag or "en").pattern(local, spec.pattern)
        return {"datetime": told, "date": told, "time": "", "timezone": _zone_name(local)}
    texts = _localized(local, spec, tag) if tag else _iso(local, spec)
    return {**texts, "timezone": _zone_name(local)}


@dataclass(frozen=True, slots=True)
class ClockSource:
    """The section source `clock`: the text is the `datetime`, and the section's own text may read all four values."""

    spec: ClockSpec

    @property
    def inputs(self) -> frozenset[str]:
        """The values of a call that it reads."""
        return frozenset(name for name in (self.spec.zone_input, self.spec.locale_input) if name)

    def __call__(self, given: SourceInput) -> Content:
        """The time of the call.

        Raises:
            InputError: as `clock_values`.
        """
        zone, locale = (_named(given.values, name) for name in (self.spec.zone_input, self.spec.locale_input))
        values = clock_values(given.now, self.spec, zone=zone, locale=locale)
        return Content(values["datetime"], values=values)


def _named(values: Mapping[str, Json], name: str) -> str:
    value = values.get(name) if name else None
    return value if isinstance(value, str) else ""


def _zone_name(moment: datetime) -> str:
    """The IANA name if there is one, otherwise the zone's own name, such as `UTC+02:00`."""
    key = moment.tzinfo.key if isinstance(moment.tzinfo, ZoneInfo) else None
    return key or moment.tzname() or ""


def _iso(moment: datetime, spec: ClockSpec) -> dict[str, str]:
    date = moment.date().isoformat()
    if spec.precision == "date":
        return {"datetime": date, "date": date, "time": ""}
    exact = "minutes" if spec.precision == "minute" else "seconds"
    time = moment.time().isoformat(exact)
    return {"datetime": moment.isoformat(timespec=exact), "date": date, "time": time}


def _localized(moment: datetime, spec: ClockSpec, tag: str) -> dict[str, str]:
    writer = writer_named(tag)
    date = writer.date(moment, spec.date_style)
    if spec.precision == "date":
        return {"datetime": date, "date": date, "time": ""}
    style = "medium" if spec.precision == "second" and spec.time_style == "short" else spec.time_style
    time = writer.time(moment, style)
    return {"datetime": writer.joined(date, time, spec.date_style), "date": date, "time": time}
