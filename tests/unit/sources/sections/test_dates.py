"""English dates without Babel: as Babel writes them; every other locale names the extra that brings Babel."""

from __future__ import annotations

import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import get_args

import pytest
from babel.dates import format_date, format_time
from babel.localedata import locale_identifiers
from hypothesis import given
from hypothesis import strategies as st

from cuecard import Engine, InputError, SpecError
from cuecard.config.documents.validation import validate
from cuecard.config.documents.yaml import read_yaml
from cuecard.config.sections.sources_spec import ClockSpec
from cuecard.sources.clock import clock_values
from cuecard.template.dates import Style, english, locale_named, writer_named
from cuecard.template.dates import _Babel as Babel
from cuecard.workbench.step import call_from

ROOT = Path(__file__).parents[4]
AGENTS = sorted(path for path in ROOT.glob("prompts/*/*.yaml") if path.name != "tools.yaml")
TAGS = ("en", "en-US", "en-GB")
STYLES: tuple[Style, ...] = get_args(Style)
NOW = datetime(2026, 9, 1, 13, 5, 9, tzinfo=UTC)
INSTALL = 'run `pip install "cuecard[locale]"`'


@pytest.fixture
def without_babel(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "babel"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "babel", None)


def differences(moment: datetime, tag: str) -> list[tuple[str, str]]:
    """What we write otherwise than Babel does."""
    ours, theirs = writer_named(tag), Babel(locale_named(tag))
    pairs = [
        pair
        for style in STYLES
        for pair in (
            (ours.date(moment, style), theirs.date(moment, style)),
            (ours.time(moment, style), theirs.time(moment, style)),
            (ours.joined("date", "time", style), theirs.joined("date", "time", style)),
        )
    ]
    return [(left, right) for left, right in pairs if left != right]


@pytest.mark.repeats
@pytest.mark.parametrize("tag", TAGS)
def test_every_day_of_two_years_and_every_hour_is_written_as_babel_does(tag: str) -> None:
    moments = [NOW + timedelta(days=n, hours=n, minutes=7 * n, seconds=11 * n) for n in range(730)]

    assert [found for moment in moments for found in differences(moment, tag)] == []
    assert {moment.hour for moment in moments} == set(range(24))


@pytest.mark.parametrize("tag", TAGS)
@given(st.datetimes(timezones=st.just(UTC)))
def test_any_time_is_written_as_babel_does(tag: str, moment: datetime) -> None:
    assert differences(moment, tag) == []


def test_the_comparison_finds_another_english() -> None:
    assert writer_named("en-US").date(NOW, "medium") != format_date(NOW, "medium", locale="en_GB")
    assert writer_named("en-US").time(NOW, "short") != format_time(NOW, "short", locale="en_GB")


def test_no_other_locale_is_taken_for_the_english_that_we_write() -> None:
    assert {name for name in locale_identifiers() if english(name)} == {"en", "en_US", "en_GB"}
    assert english("EN_gb") == "en-GB"


@pytest.mark.parametrize("tag", [*TAGS, "en_GB"])
def test_english_needs_no_extra(tag: str, without_babel: None) -> None:
    spec = validate(read_yaml(f"locale: {tag}\nprecision: minute", "agent.yaml"), ClockSpec)

    assert "September" in clock_values(NOW, spec)["datetime"]


@pytest.mark.parametrize("tag", ["de-AT", "en-AU", "no such locale"])
def test_another_locale_without_the_extra_is_an_error_at_its_place(tag: str, without_babel: None) -> None:
    with pytest.raises(SpecError) as error:
        validate(read_yaml(f"precision: minute\nlocale: {tag}", "agent.yaml"), ClockSpec)

    (problem,) = error.value.problems
    assert problem.span is not None
    assert problem.span.line == 2
    assert f"`locale` `{tag}` needs Babel, the extra `locale`; {INSTALL}, or write `en-US` or `en-GB`" in str(
        error.value
    )


def test_a_locale_of_a_turn_without_the_extra_is_an_error_that_names_it(without_babel: None) -> None:
    with pytest.raises(InputError) as error:
        clock_values(NOW, ClockSpec(locale="en-US"), locale="de-AT")

    assert error.value.problems[0].code == "no-locales"
    assert INSTALL in error.value.problems[0].hint


@pytest.mark.parametrize("style", ["full", "long"])
def test_a_style_that_names_the_time_zone_needs_the_extra(style: Style, without_babel: None) -> None:
    text = f"locale: en-GB\nprecision: minute\ntime_style: {style}"
    with pytest.raises(SpecError) as error:
        validate(read_yaml(text, "agent.yaml"), ClockSpec)

    assert f"`time_style` `{style}` needs Babel, the extra `locale`; {INSTALL}, or write `medium`" in str(error.value)
    assert error.value.problems[0].span is not None
    assert error.value.problems[0].span.line == 3
    with pytest.raises(InputError, match="no-locales"):
        clock_values(NOW, ClockSpec(precision="minute", time_style=style), locale="en")


def test_the_style_of_a_time_that_is_not_printed_needs_nothing(without_babel: None) -> None:
    assert clock_values(NOW, ClockSpec(locale="en-GB", time_style="full"))["datetime"] == "Tuesday, 1 September 2026"


@pytest.mark.parametrize("agent", AGENTS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_every_shipped_agent_renders_without_the_extra(agent: Path, without_babel: None) -> None:
    engine = Engine.open(agent)
    turns = sorted((agent.parent / "turns" / agent.stem.replace("agent", "")).glob("*.yaml"))

    assert turns
    for turn in turns:
        assert call_from(engine, discovered="", values=[], turn=turn)[1].system
