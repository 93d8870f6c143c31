"""`delivery: auto`: decided by host, model and the size of all instructions, kept for a conversation, and explained."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest

from cuecard import Call, Engine, Manifest, SpecError, Turn
from cuecard.cli.options import DeliveryOption
from cuecard.pipeline.delivery import FEW, Choice, authority_of, choose_delivery, told_of_model
from cuecard.types import Delivery, DeliveryWish, Diagnostic, Host, ModelProfile
from cuecard.workbench.replay.report import DELIVERIES
from unit.pipeline.delivery.agents import agent_of, write_agent

CACHING, PLAIN = replace(ModelProfile("caching"), cache_read=0.1), ModelProfile("plain")
BEFORE = Choice("append", "auto: because")


def manifest(engine: Engine, call: Call) -> Manifest:
    return engine.prepare_step(call).manifest


TAKE = "all instructions take 2,20{} 2,200"
FITS, LONG = TAKE.format("0 tokens, at most"), TAKE.format("1 tokens, more than")
MESSAGES, ALONE = "auto: the host can append messages, and", "auto: the host can only set the system prompt, and"
SEARCHLESS = replace(ModelProfile("shy"), searches=False)


@pytest.mark.parametrize(
    ("host", "model", "tokens", "choice"),
    [
        ("messages", CACHING, FEW + 1, Choice("append", f"{MESSAGES} {LONG}")),
        ("messages", PLAIN, FEW, Choice("frozen", f"{MESSAGES} {FITS}")),
        ("system-only", CACHING, FEW, Choice("frozen", f"{ALONE} {FITS}, and `caching` caches")),
        ("system-only", CACHING, FEW + 1, Choice("rewrite", f"{ALONE} {LONG}")),
        ("system-only", PLAIN, FEW, Choice("rewrite", f"{ALONE} {FITS}, and `plain` is not known to cache")),
        (
            "system-only",
            ModelProfile(""),
            FEW,
            Choice("rewrite", f"{ALONE} {FITS}, and an unnamed model is not known to cache"),
        ),
        *(
            (
                host,
                SEARCHLESS,
                FEW + 1,
                Choice("frozen", "auto: `shy` is known not to call a search tool, so nothing would be discovered"),
            )
            for host in get_args(Host)
        ),
    ],
)
def test_auto_goes_by_host_model_and_size_and_the_reason_names_what_decided(
    host: Host, model: ModelProfile, tokens: int, choice: Choice
) -> None:
    assert choose_delivery(None, host, model, lambda: tokens) == choice


@pytest.mark.parametrize("host", ["messages", "system-only"])
@pytest.mark.parametrize("delivery", ["rewrite", "frozen"])
def test_a_wish_is_granted_without_counting(host: Host, delivery: Delivery) -> None:
    wish = Choice(delivery, "set by the turn")

    assert choose_delivery(wish, host, CACHING, lambda: 1 // 0) == wish


def test_append_is_impossible_where_only_the_system_prompt_can_be_set_and_the_reason_says_so() -> None:
    choice = choose_delivery(Choice("append", "set by the turn"), "system-only", CACHING, lambda: FEW + 1, BEFORE)

    assert choice == Choice("rewrite", f"{ALONE.replace('auto', 'instead of append')} {LONG}")
    kept = choose_delivery(None, "system-only", CACHING, lambda: FEW + 1, BEFORE)
    assert kept.delivery == "rewrite", "what is no longer possible is not kept"


def test_auto_keeps_what_the_conversation_began_with_however_long_it_is() -> None:
    once = choose_delivery(None, "messages", CACHING, lambda: 1 // 0, BEFORE)
    twice = choose_delivery(None, "messages", CACHING, lambda: 1 // 0, once)

    assert once == twice == Choice("append", "unchanged in this conversation: auto: because")


def test_what_is_told_of_a_model_is_told_once_in_a_conversation() -> None:
    known = replace(SEARCHLESS, known=True)
    unknown = Diagnostic(
        "unknown-model",
        "nothing is known of `shy`: it is taken for a model that neither caches nor heeds a system message "
        "mid-conversation",
    )
    shy = Diagnostic(
        "no-searches", "`shy` is known not to call a search tool: `delivery: auto` shows it every tool at once"
    )

    assert told_of_model(Turn(model="shy"), None, known) == (shy,)
    assert told_of_model(Turn(model="shy"), None, replace(SEARCHLESS, known=False)) == (unknown, shy)
    assert told_of_model(Turn(), None, ModelProfile("")) == ()


def test_forty_tools_are_discovered_and_a_dozen_short_ones_frozen_though_there_are_more(tmp_path: Path) -> None:
    engine = Engine.open(write_agent(tmp_path, 40, "delivery: auto\n"))
    few = tuple(engine.tools)[:13]  # with the search tool

    assert engine.prepare_call().delivery.name == "append"
    assert engine.prepare_call(Turn(tools=few)).delivery.name == "frozen"


@pytest.mark.parametrize(
    ("opened", "asked", "said"),
    [
        (None, None, "set by the agent file"),
        ("rewrite", None, "set when the engine was opened"),
        ("rewrite", "frozen", "set by the turn"),
    ],
)
def test_the_turn_goes_before_the_engine_and_the_engine_before_the_file(
    tmp_path: Path, opened: DeliveryWish | None, asked: DeliveryWish | None, said: str
) -> None:
    engine = agent_of(tmp_path, 2, opened)
    call = engine.prepare_call(Turn(delivery=asked))

    assert call.delivery.name == (asked or opened or "append")
    assert manifest(engine, call).delivery.reason == said


def test_a_conversation_keeps_its_choice_when_tools_come_and_go(tmp_path: Path) -> None:
    engine = agent_of(tmp_path, 40, "auto")
    first = engine.prepare_call()
    second = engine.prepare_call(Turn(tools=tuple(engine.tools)[:5]), previous=Call.from_json(first.to_json()))

    assert (first.delivery.name, second.delivery.name) == ("append", "append")
    assert second.prompt.segments == first.prompt.segments
    assert not [cut for cut in second.record.cuts if cut.what == "baseline"]


@pytest.mark.parametrize(
    ("model", "authority"),
    [
        ("claude-opus-4-8", "system"),
        ("claude-sonnet-5", "user"),
        ("gpt-5", "developer"),
        ("unheard-of", "user"),
        ("", "unknown"),
    ],
)
def test_the_manifest_says_with_whose_words_instructions_reach_the_model(
    tmp_path: Path, model: str, authority: str
) -> None:
    engine = agent_of(tmp_path, 3)
    found = manifest(engine, engine.prepare_call(Turn(model=model)))

    assert (found.delivery.model, found.delivery.authority) == (model, authority)


@pytest.mark.parametrize("model", [PLAIN, ModelProfile("")])
def test_what_appears_in_the_system_prompt_has_its_authority_whatever_the_model(model: ModelProfile) -> None:
    assert authority_of("rewrite", "messages", model) == "system"
    assert authority_of("frozen", "system-only", model) == "system"


OWN = 'source: "measured by us", as_of: 2026-11-20'


def test_the_agents_own_models_are_laid_over_the_shipped_ones(tmp_path: Path) -> None:
    path = write_agent(tmp_path, 3, "models: models.yaml\n")
    mid = f"mid_conversation: {{value: developer, {OWN}}}"
    text = f"providers: {{house: {{}}}}\nmodels:\n  house-7: {{provider: house, {mid}}}\n"
    (tmp_path / "models.yaml").write_text(text, encoding="utf-8")
    engine = Engine.open(path)
    found = [engine.prepare_call(Turn(model=name)).delivery.authority for name in ("house-7", "claude-opus-4-8")]

    assert found == ["developer", "system"]


def test_the_agents_own_models_are_part_of_its_fingerprint(tmp_path: Path) -> None:
    path = write_agent(tmp_path, 3, "models: models.yaml\n")
    prints = set()
    for price in (0.1, 0.2):
        figure = f"cache_read: {{value: {price}, {OWN}}}"
        (tmp_path / "models.yaml").write_text(f"providers: {{house: {{{figure}}}}}\n", encoding="utf-8")
        prints.add(Engine.open(path).agent.sha256)

    assert len(prints) == 2


def test_mistakes_in_the_agents_own_models_are_reported_with_all_others(tmp_path: Path) -> None:
    path = write_agent(tmp_path, 3, "models: models.yaml\ndelivry: append\n")
    (tmp_path / "models.yaml").write_text("models:\n  mine: {provider: antropic}\n", encoding="utf-8")
    with pytest.raises(SpecError) as caught:
        Engine.open(path)

    assert {problem.code for problem in caught.value.problems} == {"unknown-key", "unknown-provider"}
    assert "did you mean `anthropic`?" in str(caught.value)


def test_a_models_file_that_is_not_there_is_an_error_at_its_key(tmp_path: Path) -> None:
    path = write_agent(tmp_path, 3, "models: modles.yaml\n")
    with pytest.raises(SpecError, match=r"agent.yaml:4:9: error\[missing-file\]"):
        Engine.open(path)


def test_every_place_that_lists_deliveries_lists_all_of_them() -> None:
    option = get_args(get_args(DeliveryOption)[0])[0]

    assert set(get_args(option)) == set(get_args(DeliveryWish)) == {*get_args(Delivery), "auto"}
    assert set(DELIVERIES) == set(get_args(Delivery))
