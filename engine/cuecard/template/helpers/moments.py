"""The helper `date`."""

from __future__ import annotations

from datetime import datetime

from cuecard.dates.writers import STYLES, writer_named
from cuecard.dates.zones import zone_named
from cuecard.errors import InputError
from cuecard.model import Json
from cuecard.template.guards.guard import Trusted
from cuecard.template.helpers.values import as_of, text
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
        if isinstance(each, str) and not isinstance(each, Trusted):
            message = message.replace(f"`{each}`", f"a text of {len(each):,} characters")
    return message
