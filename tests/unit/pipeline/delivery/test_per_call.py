"""Delivery by call: a turn may ask for another one, and a conversation that changes it gets a new baseline."""

from __future__ import annotations

import gc
import weakref
from datetime import UTC, datetime
from pathlib import Path

import pytest

from cms_agent import CMS
from cms_agent import cms as engine
from command_line import RefusedError, rendered
from cuecard import Call, Entity, Memory, Step, ToolResult, Turn
from cuecard.types import Delivery, DeliveryWish

NOW = datetime(2026, 11, 20, 23, 30, tzinfo=UTC)
HOME = Memory((Entity("page", "p1", "Home"),))


def turn(delivery: DeliveryWish | None = None, memory: Memory | None = None) -> Turn:
    return Turn(now=NOW, delivery=delivery, memory=memory or Memory())


def baselines(step: Step) -> list[str]:
    return [cut.reason for cut in step.manifest.cuts if cut.what == "baseline"]


SEARCHED = [ToolResult("tool_search", {"tools": ["cms_listPages", "cms_createPage"]}, "call-1")]


@pytest.mark.parametrize("delivery", ["rewrite", "frozen"])
def test_a_turn_may_ask_for_another_delivery_than_the_engine(delivery: Delivery) -> None:
    step = engine().prepare_step(engine().prepare_call(turn(delivery)), SEARCHED)
    other = engine(delivery)
    same = other.prepare_step(other.prepare_call(turn()), SEARCHED)

    assert (step.system, step.appended, step.active_tools) == (same.system, same.appended, same.active_tools)
    assert step.manifest.delivery.name == delivery


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("append", "rewrite"),
        ("rewrite", "frozen"),
        ("frozen", None),  # where a turn asks for nothing, the engine's holds again
    ],
)
def test_another_delivery_in_a_conversation_begins_a_new_baseline_and_says_so(
    before: Delivery, after: Delivery | None
) -> None:
    first = engine().prepare_call(turn(before))
    second = engine().prepare_call(turn(after), previous=first)
    step = engine().prepare_step(second)

    assert baselines(step) == [
        f"the delivery changed from {before} to {after or 'append'}: the system prompt differs from the one sent before"
    ]
    assert step.system == engine().prepare_step(engine().prepare_call(turn(after))).system


def test_after_a_new_baseline_the_conversation_only_grows_again() -> None:
    first = engine().prepare_call(turn("rewrite"))
    second = engine().prepare_call(turn("append"), SEARCHED, previous=first)
    third = engine().prepare_call(turn("append", HOME), SEARCHED, previous=second)
    before, after = engine().prepare_step(second, SEARCHED), engine().prepare_step(third, SEARCHED)

    assert after.system == before.system
    assert after.appended[: len(before.appended)] == before.appended
    assert [block.turn for block in after.appended] == [None, 2]
    assert baselines(after) == []


def test_a_host_that_can_only_set_the_system_prompt_gets_everything_there() -> None:
    only = Turn(now=NOW, delivery="frozen", host="system-only")
    first = engine().prepare_call(only)
    second = engine().prepare_call(Turn(now=NOW, delivery="frozen", host="system-only", memory=HOME), previous=first)
    step = engine().prepare_step(second, SEARCHED)

    assert step.appended == ()
    assert '- "Home" (p1)' in step.system
    assert second.turn == 1


def test_a_withdrawn_tool_that_comes_back_is_named_again_also_where_all_are_frozen() -> None:
    tools = tuple(engine().tools)
    without = tuple(name for name in tools if name != "cms_listPages")
    previous: Call | None = None
    for exists in (tools, without, tools):
        call = engine().prepare_call(Turn(now=NOW, delivery="frozen", tools=exists), previous=previous)
        previous = call
    step = engine().prepare_step(call)

    assert "cms_listPages" in step.active_tools
    assert [("withdrawn" in block.text, "restored" in block.text) for block in step.appended] == [
        (True, False),
        (False, True),
    ]
    assert all(block.tokens < 40 for block in step.appended)


def test_a_tool_that_the_host_names_later_is_announced_once_and_stays_active() -> None:
    first = engine().prepare_call(turn("append"))
    found = Turn(now=NOW, discovered=("cms_listPages",))
    second = engine().prepare_call(found, previous=first)
    third = engine().prepare_call(turn(), previous=second)
    step = engine().prepare_step(third)

    assert [block.text.count("BEFORE:") for block in step.appended] == [1]
    assert "<cms_listPages>\nBEFORE:" in step.appended[0].text
    assert step.active_tools[-1] == "cms_listPages"


def test_a_turn_file_may_ask_for_delivery_model_and_host(tmp_path: Path) -> None:
    file = tmp_path / "turn.yaml"
    file.write_text("delivery: auto\nmodel: claude-opus-4-8\nhost: system-only\n", encoding="utf-8")
    manifest = rendered(CMS, file).manifest

    assert (manifest.delivery.name, manifest.delivery.model) == ("rewrite", "claude-opus-4-8")
    assert manifest.delivery.reason.startswith("auto: the host can only set the system prompt")


def test_a_host_that_nobody_knows_is_refused_where_it_is_written(tmp_path: Path) -> None:
    file = tmp_path / "turn.yaml"
    file.write_text("now: 2026-11-20T09:00:00+00:00\nhost: browser\n", encoding="utf-8")
    with pytest.raises(RefusedError, match=r"turn.yaml:2:7: error\[wrong-value\]"):
        rendered(CMS, file)


def test_a_date_that_rolls_over_arrives_once_in_a_block() -> None:
    first = engine().prepare_call(turn())
    midnight = Turn(now=datetime(2026, 11, 21, 0, 30, tzinfo=UTC))
    second = engine().prepare_call(midnight, previous=first)
    third = engine().prepare_call(midnight, previous=second)
    steps = [engine().prepare_step(call) for call in (first, second, third)]

    assert {step.system for step in steps} == {steps[0].system}
    assert "2026-11-20" in steps[0].system
    assert [len(step.appended) for step in steps] == [0, 1, 1]
    assert "2026-11-21" in steps[1].appended[0].text
    assert steps[2].appended == steps[1].appended


@pytest.mark.parametrize("delivery", ["rewrite", "append"])
def test_an_engine_lets_go_of_a_call_that_its_host_has_dropped(delivery: Delivery) -> None:
    made = engine(delivery)
    call = made.prepare_call(turn())
    made.prepare_step(call, SEARCHED)
    there = weakref.ref(call)
    del call
    gc.collect()

    assert there() is None
