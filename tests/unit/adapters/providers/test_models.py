"""Model profiles: the shipped file, a file of one's own over it, and models that nobody has heard of."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from cuecard import SpecError
from cuecard.files.content import read_models
from cuecard.types import Figures, ModelProfile, ModelProfiles
from unit.adapters.providers.talk import PROFILES

CITED = 'source: "measured by us", as_of: 2026-11-20'


def own(folder: Path, text: str) -> ModelProfiles:
    path = folder / "models.yaml"
    path.write_text(text, encoding="utf-8")
    return read_models(path)


@pytest.mark.parametrize("name", ["", "lama-7", "claud", "*", "x" * 10_000])
def test_an_unknown_model_gets_a_careful_profile_and_no_error(name: str) -> None:
    assert PROFILES.find(name) == ModelProfile(name, known=False)
    assert ModelProfile(name).mid_conversation == "user"
    assert ModelProfile(name).breakpoints == 0


def test_an_unknown_model_of_a_known_provider_gets_what_holds_for_all_of_them() -> None:
    by_name, by_host = PROFILES.find("claude-unheard-of"), PROFILES.find("unheard-of", provider="anthropic")

    assert (by_name.provider, by_name.breakpoints, by_name.mid_conversation) == ("anthropic", 4, "user")
    assert by_name.min_cache_tokens == max(
        PROFILES.find(name).min_cache_tokens for name in PROFILES.models if name.startswith("claude-")
    )
    assert (by_host.min_cache_tokens, by_host.cache_write) == (by_name.min_cache_tokens, by_name.cache_write)


def test_the_exact_name_wins_then_the_longest_pattern() -> None:
    assert PROFILES.find("claude-opus-5").min_cache_tokens == 512
    assert PROFILES.find("claude-opus-5-5").cache_read == 0.05
    assert [PROFILES.find(name).cache_read for name in ("gpt-4o", "gpt-5.5", "gpt-6", "gpt-6.1-mini")] == [
        0.5,
        0.1,
        0.1,
        0.05,
    ]


@pytest.mark.parametrize("name", ["claude-opus-5-20260801", "claude-opus-5@20260801", "claude-opus-5-2026-08-01"])
def test_a_date_at_the_end_of_a_name_does_not_matter(name: str) -> None:
    assert PROFILES.find(name).min_cache_tokens == PROFILES.find("claude-opus-5").min_cache_tokens
    assert PROFILES.find(name).name == name


@pytest.mark.parametrize(
    ("name", "known_as"),
    [
        ("us.anthropic.claude-opus-4-5-20251101-v1:0", "claude-opus-4-5"),
        ("anthropic.claude-opus-4-6-v1", "claude-opus-4-6"),
        ("bedrock/us-gov.anthropic.claude-sonnet-5-5", "claude-sonnet-5-5"),
        ("bedrock:global.anthropic.claude-haiku-4-5-20251001-v1:0", "claude-haiku-4-5"),
        ("eu.anthropic.claude-sonnet-4-5-20250929-v1:0", "claude-sonnet-4-5"),
        ("us.openai.gpt-6.1-sol", "gpt-6.1-sol"),
        ("us.amazon.nova-pro-v1:0", "nova-pro"),
        ("vertex_ai/claude-opus-4-7@20260416", "claude-opus-4-7"),
        ("vertex_ai/claude-haiku-5-5@default", "claude-haiku-5-5"),
    ],
)
def test_names_of_bedrock_and_vertex_are_those_of_their_makers(name: str, known_as: str) -> None:
    assert replace(PROFILES.find(name), name=known_as) == PROFILES.find(known_as)


def test_where_definitions_stand_may_depend_on_the_interface(tmp_path: Path) -> None:
    """A name that states its interface gets what holds there; one that does not, the best that there is."""
    places = [PROFILES.find(name).definitions for name in ("gpt-5.6", "openai-responses:gpt-6", "openai/chat/gpt-6.1")]
    assert places == ["deferred", "deferred", "all"]
    assert [PROFILES.find("gpt-5.6").defers(where) for where in ("responses", "chat")] == [True, False]
    assert [PROFILES.find("claude-opus-5").defers(where) for where in ("anthropic", "responses")] == [True, False]
    assert PROFILES.find("gpt-5.6", endpoint="https://gate.example/v1").definitions == "all"
    assert PROFILES.find("claude-opus-5", endpoint="https://gate.example/v1").defers("anthropic")

    one = own(tmp_path, f"models: {{gpt-5.6: {{provider: openai, definitions: {{value: deferred, {CITED}}}}}}}")
    assert all(one.find("gpt-5.6").defers(where) for where in ("responses", "chat"))
    assert one.find("openai-chat:gpt-5.6").definitions == "deferred"
    there = one.find("gpt-5.6", endpoint="https://gate.example/v1")  # where items in between may not stay
    assert [there.defers(where) for where in ("responses", "chat")] == [False, True]
    with pytest.raises(SpecError) as caught:
        own(tmp_path, f"providers: {{x: {{definitions: {{value: {{response: late}}, {CITED}}}}}}}")
    assert [each.message.partition(" should")[0].rpartition(".")[2] for each in caught.value.problems] == [
        "response`"
    ] * 2


def test_where_sources_disagree_the_larger_minimum_is_kept_with_a_note() -> None:
    minimum = PROFILES.models["claude-opus-4-8"].min_cache_tokens

    assert minimum
    assert minimum.value == 4096
    assert "disagree" in minimum.note


def test_sonnet_5_ignores_system_messages_mid_conversation_and_so_gets_none() -> None:
    assert PROFILES.find("claude-sonnet-5").mid_conversation == "user"


@pytest.mark.parametrize(
    ("name", "context"),
    [
        ("claude-opus-5", 1_000_000),
        ("claude-sonnet-4-5-20250929", 200_000),
        ("gpt-5", 272_000),
        ("gpt-5-chat-latest", 128_000),
        ("gemini-2.5-pro", 1_048_576),
        ("claude-fable-5-2", 1_000_000),
        ("claude-unheard-of", None),
    ],
)
def test_a_context_size_is_known_where_a_source_states_it_and_is_not_guessed(name: str, context: int | None) -> None:
    assert PROFILES.find(name).context == context


OLDEST = timedelta(days=180)
"""Prices and minimums change several times a year: figures older than this have to be read again."""


def test_no_figure_is_older_than_half_a_year() -> None:
    """Where this fails, read the sources again, and set `as_of` to the day that was done."""
    today = datetime.now(UTC).date()
    entries = {**PROFILES.providers, **PROFILES.models}
    stated = [(name, key, getattr(entry, key)) for name, entry in entries.items() for key in Figures.model_fields]
    old = [f"{name}: {key}, {figure.as_of}" for name, key, figure in stated if figure and today - figure.as_of > OLDEST]

    assert not old


@pytest.mark.parametrize(
    ("name", "read", "output"),
    [
        ("gpt-4.1-mini", 0.25, 4),
        ("gpt-5.5", 0.1, 6),
        ("claude-mythos-5-2", 0.025, 5),
        ("gemini-4-argon", 0.05, 5),
        ("grok-4.20", 0.16, 2),
        ("deepseek-flash", 0.02, 4),
        ("mistral-large-4", 0.1, 3),
    ],
)
def test_what_reading_from_the_cache_and_answering_cost(name: str, read: float, output: float) -> None:
    assert (PROFILES.find(name).cache_read, PROFILES.find(name).output) == (read, output)


def test_where_prices_disagree_the_higher_one_is_kept_with_a_note() -> None:
    read = PROFILES.models["claude-sonnet-5-5"].cache_read

    assert read
    assert read.value == 0.1
    assert "disagree" in read.note


@pytest.mark.parametrize("name", ["claude-sonnet-5-5", "claude-haiku-5-5"])
def test_models_that_heed_a_system_message_less_get_a_reminder_in_the_users_turn(name: str) -> None:
    assert PROFILES.find(name).mid_conversation == "user"


def test_a_model_that_ends_says_when() -> None:
    assert PROFILES.find("claude-sonnet-4-5").ends == date(2026, 11, 30)


def test_a_context_size_that_differs_within_a_pattern_says_so() -> None:
    size = PROFILES.models["gpt-5*"].context

    assert size
    assert "1,050,000" in size.note


def test_a_file_of_your_own_wins_figure_by_figure(tmp_path: Path) -> None:
    profiles = own(
        tmp_path,
        f"""
        providers:
          home: {{breakpoints: {{value: 2, {CITED}}}}}
        models:
          claude-opus-5:
            provider: anthropic
            context: {{value: 200000, {CITED}}}
          house-*: {{provider: home}}
        """,
    )

    assert profiles.find("claude-opus-5") == replace(PROFILES.find("claude-opus-5"), context=200_000)
    assert profiles.find("house-wine") == ModelProfile("house-wine", "home", breakpoints=2)
    assert profiles.find("wine", provider="home") == ModelProfile("wine", "home", breakpoints=2)
    assert profiles.find("gpt-5") == PROFILES.find("gpt-5")


def test_a_mistake_in_a_file_of_your_own_is_shown_where_it_appears(tmp_path: Path) -> None:
    with pytest.raises(SpecError) as caught:
        own(tmp_path, "models:\n  mine:\n    provider: antropic\n")

    (problem,) = caught.value.problems
    assert problem.picture().startswith(f"{tmp_path / 'models.yaml'}:3:15: error[unknown-provider]: ")
    assert (problem.message, problem.hint) == ("there is no provider `antropic`", "did you mean `anthropic`?")


@pytest.mark.parametrize(
    ("figure", "said"),
    [
        ("{value: 1, as_of: 2026-11-20}", "`source` is missing"),
        ("{value: 1, source: us}", "`as_of` is missing"),
        ("{value: 1, source: us, as_of: yesterday}", "should be a date, such as 2026-11-20"),
        ("{value: -1, source: us, as_of: 2026-11-20}", "should be greater than or equal to 0"),
    ],
)
def test_a_figure_without_its_source_and_date_is_refused(tmp_path: Path, figure: str, said: str) -> None:
    with pytest.raises(SpecError) as caught:
        own(tmp_path, f"providers:\n  home:\n    context: {figure}\n")

    assert said in str(caught.value)


@pytest.mark.parametrize(
    "name", ["gpt-5-pro", "openai/gpt-5.4-pro-2026-03-05", "o3-pro", "gpt-4", "gpt-3.5-turbo-0125"]
)
def test_a_model_without_a_price_for_cached_input_is_never_billed_as_if_it_cached(name: str) -> None:
    assert PROFILES.find(name).cache_read == 1
