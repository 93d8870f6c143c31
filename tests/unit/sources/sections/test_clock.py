"""The source `clock`: the time in a zone, a language and a precision; names that nobody knows are errors."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuecard import InputError, SpecError
from cuecard.config.documents.validation import validate
from cuecard.config.documents.yaml import read_yaml
from cuecard.config.sections.sources_spec import ClockSpec
from cuecard.sources.clock import ClockSource, clock_values, date_text
from cuecard.sources.content import SourceInput
from cuecard.types import Json

NOW = datetime(2026, 11, 20, 23, 5, 9, 123456, tzinfo=UTC)


def told(**settings: Json) -> dict[str, str]:
    return clock_values(NOW, ClockSpec(**settings))


def test_by_default_the_clock_shows_only_the_date() -> None:
    assert told() == {"datetime": "2026-11-20", "date": "2026-11-20", "time": "", "timezone": "UTC"}
    assert date_text(NOW) == "2026-11-20"


def test_a_zone_may_make_it_another_day() -> None:
    assert told(zone="Europe/Vienna", precision="minute") == {
        "datetime": "2026-11-21T00:05+01:00",
        "date": "2026-11-21",
        "time": "00:05",
        "timezone": "Europe/Vienna",
    }


def test_seconds_are_whole() -> None:
    assert told(precision="second")["datetime"] == "2026-11-20T23:05:09+00:00"


def test_a_zone_without_a_name_calls_itself_by_its_offset() -> None:
    now = NOW.astimezone(timezone(timedelta(hours=2)))

    assert clock_values(now, ClockSpec())["timezone"] == "UTC+02:00"


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"locale": "de-AT"}, "Samstag, 21. November 2026"),
        ({"locale": "de_AT", "precision": "minute"}, "Samstag, 21. November 2026, 00:05"),
        (
            {"locale": "de-AT", "precision": "minute", "pattern": "EEEE, d. MMMM y 'um' HH:mm"},
            "Samstag, 21. November 2026 um 00:05",
        ),
        ({"locale": "de-AT", "precision": "second"}, "Samstag, 21. November 2026, 00:05:09"),
        ({"locale": "en-GB", "date_style": "short", "precision": "minute"}, "21/11/2026, 00:05"),
        ({"locale": "it-IT", "date_style": "long"}, "21 novembre 2026"),
    ],
)
def test_a_locale_writes_it_out(settings: dict[str, str], text: str) -> None:
    assert told(zone="Europe/Vienna", **settings)["datetime"] == text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("zone: Europe/Wiena", "`zone` `Europe/Wiena` is not a time zone; did you mean `Europe/Vienna`?"),
        ("zone: europe/vienna", "did you mean `Europe/Vienna`?"),
        ("zone: ../../etc/passwd", "write an IANA name, such as `Europe/Vienna` or `UTC`"),
        ("zone: Europe", "`Europe` is not a time zone"),
        ("locale: de-AU-x", "`de-AU-x` is not a locale"),
        ("locale: deAT", "`locale` `deAT` is not a locale; did you mean `de-AT`?"),
        ("locale: de-ZZ", "`de-ZZ` is not a locale; did you mean"),
        ("locale: qqq-12345", "`qqq-12345` is not a locale; write a language and a country, such as `de-AT`"),
    ],
)
def test_an_unknown_name_is_an_error_of_the_file(text: str, message: str) -> None:
    with pytest.raises(SpecError) as error:
        validate(read_yaml(text, "agent.yaml"), ClockSpec)

    assert message in str(error.value)
    assert error.value.problems[0].span is not None


def test_inputs_may_name_the_zone_and_the_locale_of_a_call() -> None:
    source = ClockSource(ClockSpec(zone="UTC", zone_input="zone", locale_input="language", precision="minute"))
    made = source(SourceInput({"zone": "Asia/Tokyo", "language": "de-AT"}, NOW))

    assert source.inputs == {"zone", "language"}
    assert made.text == made.values["datetime"] == "Samstag, 21. November 2026, 08:05"
    assert source(SourceInput({"zone": "", "language": None}, NOW)).values["timezone"] == "UTC"
    with pytest.raises(InputError, match="did you mean `Asia/Tokyo`"):
        source(SourceInput({"zone": "Asia/Tokio"}, NOW))


@given(now=st.datetimes(timezones=st.just(UTC), min_value=datetime(1900, 1, 2), max_value=datetime(2200, 1, 1)))  # noqa: DTZ001 - Hypothesis adds the zone
def test_equal_times_are_printed_equally_whatever_zone_they_come_in(now: datetime) -> None:
    spec = ClockSpec(zone="Asia/Kolkata", precision="second")
    values = clock_values(now, spec)

    assert clock_values(now.astimezone(timezone(timedelta(hours=-7))), spec) == values
    assert datetime.fromisoformat(values["datetime"]) == now.replace(microsecond=0)
    assert values["datetime"].startswith(f"{values['date']}T{values['time']}")


def _python(code: str, **environment: str) -> str:
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={**os.environ, **environment}
    )
    return run.stdout.strip()


def test_babel_is_loaded_only_for_those_who_name_a_locale_other_than_english() -> None:
    code = (
        "import sys, datetime, cuecard.engine\n"
        "from cuecard.config.sections.sources_spec import ClockSpec\n"
        "from cuecard.sources.clock import clock_values\n"
        "now = datetime.datetime.now(datetime.UTC)\n"
        "for more in ({'zone': 'UTC'}, {'locale': 'en-GB', 'precision': 'second'}, {'locale': 'de'}):\n"
        "    clock_values(now, ClockSpec(**more)); print('babel' in sys.modules)"
    )

    assert _python(code, PYTHONPATH=os.pathsep.join(sys.path)).split() == ["False", "False", "True"]


def test_a_machine_without_time_zones_says_what_to_install() -> None:
    code = (
        "import sys; sys.modules['tzdata'] = None\n"
        "from cuecard.errors import InputError\n"
        "from cuecard.template.dates import zone_named\n"
        "try: zone_named('Europe/Vienna')\n"
        "except InputError as error: print(error.problems[0].code, error.problems[0].hint)"
    )
    said = _python(code, PYTHONPATH=os.pathsep.join(sys.path), PYTHONTZPATH="")

    assert said == "unknown-zone install the package `tzdata`, or the time zone database of the operating system"
