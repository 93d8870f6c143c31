"""Any text is a pattern of a date and a date, in any language, or fails with an error that tells why."""

from __future__ import annotations

from datetime import UTC, datetime

from cuecard import InputError, compile_template
from cuecard.template.dates import writer_named, zone_named
from cuecard.types import TemplateError
from fuzz.drawn import check_told

PIECES = (
    *("d", "MMMM", "yyyy", "HH:mm", "EEEE", "a", "z", "VVVV", "''", "'", " ", ", ", "Q", "w", "j", "ZZZZZ", "xxx", "S"),
    *("2026-11-22", "T09:30", "Z", "+02:00", "-00:00:59", "|", "0001-01-01", "9999-12-31", "en-GB", "de", "_", "ar"),
    *("Europe/Vienna", "UTC", "../", "/etc/localtime", "\0", "zh-Hant-TW", "x-", "short", "full"),
)
PHRASES = (
    *("d MMMM yyyy, HH:mm|", "2026-11-22T09:30:00Z|", "en-GB|", "de-AT|", "Europe/Vienna|", "full|", "medium|", "|"),
    *("'at' HH 'o''clock'|", "0001-01-01T00:00:00+14:00|", "America/New_York|", "fa-IR|", "EEE d. MMM|", "''|"),
)
LONGEST = 200
MOMENT = datetime(2026, 11, 22, 9, 30, tzinfo=UTC)
DATE = compile_template("{{date when form locale=locale zone=zone}}")


def target(data: bytes) -> None:
    """Read one input: parts between `|` are the pattern, the date, the language and the zone."""
    parts = [part[:LONGEST] for part in data.decode("utf-8", "surrogateescape").split("|")]
    form, when, locale, zone = [*parts, *["", "2026-11-22T09:30:00Z", "en-GB", ""][len(parts) :]][:4]
    for tag in ("en-US", "de-AT"):
        try:
            assert isinstance(writer_named(tag).pattern(MOMENT, form), str)
        except InputError as error:
            check_told(error)
    try:
        zone_named(zone)
    except InputError as error:
        check_told(error)
    try:
        assert isinstance(DATE.render({"when": when, "form": form, "locale": locale, "zone": zone}), str)
    except TemplateError as error:
        check_told(error)
