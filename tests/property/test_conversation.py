"""Promise 5 over whole conversations: what was sent never changes, and what changed is said once."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from cms_agent import TOOLS, cms
from cuecard import Call, Entity, Memory, Step, ToolResult, Turn

START = datetime(2026, 11, 20, 22, tzinfo=UTC)


MEMORIES = st.lists(st.sampled_from([Entity("page", f"p{n}", f"Page {n}") for n in range(4)]), max_size=3)
FOUND = st.lists(st.lists(st.sampled_from(TOOLS[:8]), min_size=1, max_size=2), max_size=3)
CALLS = st.lists(st.tuples(MEMORIES, FOUND, st.integers(0, 3), st.booleans()), min_size=1, max_size=5)


def play(calls: list[tuple[list[Entity], list[list[str]], int, bool]]) -> list[Step]:
    """Every step of a conversation: per call a memory, the results of its searches, hours passed, a tool withdrawn."""
    history: list[ToolResult] = []
    previous: Call | None = None
    steps, now = [], START
    for memory, searches, hours, withdraw in calls:
        now += timedelta(hours=hours)
        exists = tuple(name for name in cms().tools if not (withdraw and name == TOOLS[0]))
        turn = Turn(memory=Memory(tuple(memory)), now=now, tools=exists)
        call = cms().prepare_call(turn, history, previous=previous)
        steps.append(cms().prepare_step(call, history))
        for names in searches:
            history.append(ToolResult("tool_search", {"tools": names}, f"call-{len(history)}"))
            steps.append(cms().prepare_step(call, history))
        previous = Call.from_json(call.to_json())
    return steps


@given(calls=CALLS)
def test_promise_5_a_conversation_only_grows(calls: list[tuple[list[Entity], list[list[str]], int, bool]]) -> None:
    """Under `append` delivery, the serialized request n starts with the serialized request n-1."""
    steps = play(calls)

    assert {step.system for step in steps} == {steps[0].system}
    for before, after in pairwise(steps):
        assert after.appended[: len(before.appended)] == before.appended


@given(calls=CALLS)
def test_what_the_model_saw_last_is_what_holds_now(
    calls: list[tuple[list[Entity], list[list[str]], int, bool]],
) -> None:
    last = play(calls)[-1]
    memory, now = calls[-1][0], START + timedelta(hours=sum(call[2] for call in calls))
    whole = last.system + "".join(block.text for block in last.appended)
    fresh = cms().prepare_call(Turn(memory=Memory(tuple(memory)), now=now))

    for section in ("working-memory", "current-datetime"):
        text = next(segment.text for segment in fresh.prompt.segments if segment.id == section)
        seen = whole.rfind(f"<{section}>")
        assert whole[seen:].startswith(text)


def test_nothing_new_is_said_when_nothing_changed() -> None:
    first = cms().prepare_call(Turn(now=START))
    second = cms().prepare_call(Turn(now=START), previous=first)

    assert cms().prepare_step(second).appended == ()
    assert second.turn == 1


def test_a_change_is_announced_once_with_its_turn() -> None:
    home = Memory((Entity("page", "p1", "Home"),))
    first = cms().prepare_call(Turn(now=START))
    second = cms().prepare_call(Turn(now=START, memory=home), previous=first)
    third = cms().prepare_call(Turn(now=START, memory=home), previous=second)

    (block,) = cms().prepare_step(third).appended

    assert block.turn == 1
    assert block.text == (
        '<context-update turn="2">\n<working-memory>\n[WORKING MEMORY]\npages:\n  - "Home" (p1)\n</working-memory>\n'
        "</context-update>\n"
    )


def test_a_withdrawn_tool_is_named() -> None:
    history = [ToolResult("tool_search", {"tools": [TOOLS[0]]}, "call-0")]
    first = cms().prepare_call(Turn(now=START))
    rest = tuple(name for name in cms().tools if name != TOOLS[0])
    second = cms().prepare_call(Turn(now=START, tools=rest), history, previous=first)
    step = cms().prepare_step(second, history)

    assert f"<withdrawn-tools>\n{TOOLS[0]}\n" in step.appended[-1].text
    assert TOOLS[0] not in step.active_tools


def test_a_new_configuration_begins_a_new_baseline_and_says_so() -> None:
    before = replace(cms(), agent=replace(cms().agent, sha256="0" * 64))
    first = before.prepare_call(Turn(now=START))
    second = cms().prepare_call(Turn(now=START), previous=first)

    assert "baseline" in {cut.what for cut in cms().prepare_step(second).manifest.cuts}
