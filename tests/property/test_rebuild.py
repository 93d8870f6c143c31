"""Blocks are rebuilt from the call and the history alone, and a compaction loses nothing that was discovered."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import groupby, pairwise

from hypothesis import given
from hypothesis import strategies as st

from cms_agent import CMS, CORE, TOOLS, cms
from cuecard import Call, Engine, Entity, Memory, Step, ToolResult, Turn

START = datetime(2026, 11, 20, 22, tzinfo=UTC)


@cache
def another() -> Engine:
    """The same agent in another process."""
    return Engine.open(CMS, delivery="append")


ENTITIES = [Entity("page", f"p{n}", f"Page {n}") for n in range(4)]


@dataclass(frozen=True)
class Spoken:
    """One call: its memory, the results of its searches, the hours since the last, and whether the host compacted."""

    memory: list[Entity]
    searches: list[list[str]]
    hours: int
    compacted: bool
    forgotten: bool


CALLS = st.lists(
    st.builds(
        Spoken,
        st.lists(st.sampled_from(ENTITIES), max_size=3),
        st.lists(st.lists(st.sampled_from(TOOLS[:8]), min_size=1, max_size=3), max_size=3),
        st.integers(0, 3),
        st.booleans(),
        st.booleans(),
    ),
    min_size=1,
    max_size=6,
)


@dataclass(frozen=True)
class Moment:
    """One request: its call, the results that the host still has, the step, and how many baselines came before.

    `opens` says whether its call opened one.
    """

    call: Call
    history: tuple[ToolResult, ...]
    step: Step
    baseline: int
    opens: bool


def play(calls: list[Spoken]) -> list[Moment]:
    history: list[ToolResult] = []
    moments: list[Moment] = []
    previous: Call | None = None
    now, baseline, number = START, 0, 0
    for said in calls:
        now += timedelta(hours=said.hours)
        opens = said.compacted and previous is not None
        baseline += opens
        turn = Turn(memory=Memory(tuple(said.memory)), now=now)
        call = cms().prepare_call(turn, history, previous=previous, compacted=said.compacted)
        if said.compacted and said.forgotten:
            history.clear()
        moments.append(Moment(call, tuple(history), cms().prepare_step(call, history), baseline, opens))
        for names in said.searches:
            history.append(ToolResult("tool_search", {"tools": names}, f"call-{number}"))
            number += 1
            moments.append(Moment(call, tuple(history), cms().prepare_step(call, history), baseline, opens))
        previous = call
    return moments


@given(calls=CALLS)
def test_a_step_is_rebuilt_from_its_call_and_the_history_also_in_another_process(calls: list[Spoken]) -> None:
    for moment in play(calls):
        call = Call.from_json(json.loads(json.dumps(moment.call.to_json())))
        history = [ToolResult(**json.loads(json.dumps(asdict(result)))) for result in moment.history]

        assert another().prepare_step(call, history) == moment.step


@given(calls=CALLS)
def test_a_block_has_an_id_of_its_own_and_keeps_it(calls: list[Spoken]) -> None:
    for _, moments in groupby(play(calls), key=lambda moment: moment.baseline):
        texts: dict[str, str] = {}
        for moment in moments:
            blocks = moment.step.appended

            assert len({block.id for block in blocks}) == len(blocks)
            assert all(texts.setdefault(block.id, block.text) == block.text for block in blocks)


@given(calls=CALLS)
def test_promise_5_holds_from_each_baseline_to_the_next(calls: list[Spoken]) -> None:
    """Under `append` delivery, the serialized request n starts with the serialized request n-1."""
    for before, after in pairwise(play(calls)):
        if before.baseline == after.baseline:
            assert after.step.system == before.step.system
            assert after.step.appended[: len(before.step.appended)] == before.step.appended


@given(calls=CALLS)
def test_promise_1_holds_across_compactions_whatever_results_the_host_forgets(calls: list[Spoken]) -> None:
    """Only what was discovered, in order of first discovery, never re-ordered."""
    found = dict.fromkeys(name for said in calls for names in said.searches for name in names)
    last = play(calls)[-1].step
    whole = last.system + "".join(block.text for block in last.appended)
    placed = sorted(found, key=lambda name: whole.index(f"<{name}>\nBEFORE: "))

    assert list(last.active_tools) == [*CORE, *found]
    assert placed == list(found)
    assert whole.count("\nBEFORE: ") == len(CORE) + len(found)


@given(calls=CALLS)
def test_each_compaction_is_recorded_by_the_call_that_it_concerns_and_by_no_other(calls: list[Spoken]) -> None:
    for moment in play(calls):
        cuts = [cut.reason.partition(":")[0] for cut in moment.step.manifest.cuts if cut.what == "baseline"]

        assert cuts == (["compacted"] if moment.opens else [])


@given(calls=CALLS)
def test_the_memory_and_the_date_of_the_last_call_are_what_the_model_saw_last(calls: list[Spoken]) -> None:
    last = play(calls)[-1].step
    now = START + timedelta(hours=sum(said.hours for said in calls))
    fresh = cms().prepare_call(Turn(memory=Memory(tuple(calls[-1].memory)), now=now))
    whole = last.system + "".join(block.text for block in last.appended)

    for section in ("working-memory", "current-datetime"):
        text = next(segment.text for segment in fresh.prompt.segments if segment.id == section)
        assert whole[whole.rfind(f"<{section}>") :].startswith(text)
