"""The promises of docs/guarantees.md, each quoted where it is proved, on the shipped CMS agent."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache
from itertools import pairwise
from typing import Literal

from hypothesis import given
from hypothesis import strategies as st

from cms_agent import CMS, CORE, cms
from cms_agent import TOOLS as FOUND_TOOLS
from cuecard import Call, Engine, Entity, Memory, Step, ToolResult, Turn
from cuecard.agent import build_agent
from cuecard.config.agent_file import BudgetSpec
from cuecard.files.folder import read_agent
from cuecard.types import Delivery

NOW = datetime(2026, 11, 20, tzinfo=UTC)


@cache
def elsewhere(delivery: Delivery) -> Engine:
    """The same agent, read in another place."""
    sources = read_agent(CMS)
    moved = replace(sources, agent=replace(sources.agent, name="C:/another/place/agent.yaml"))
    return replace(cms(delivery), agent=build_agent(moved))


TOOLS = st.sampled_from(FOUND_TOOLS)
NAMES = st.lists(st.one_of(TOOLS, TOOLS, TOOLS, st.sampled_from([*CORE, "cms_unknown", "</agent>", ""])), max_size=6)
RESULTS = st.lists(
    st.builds(
        lambda tool, names, error: (tool, {"tools": names, "message": "found"}, error),
        st.sampled_from(["tool_search", "tool_search", "tool_search", "cms_listPages"]),
        NAMES,
        st.sampled_from([False, False, False, True]),
    ),
    max_size=8,
).map(lambda items: [ToolResult(t, r, f"call-{n}", is_error=e) for n, (t, r, e) in enumerate(items)])
CONTROLS = "".join(chr(code) for code in range(32) if chr(code) not in "\t\n\r")
TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters=CONTROLS), max_size=40)
MEMORY = st.lists(st.builds(Entity, st.sampled_from(["page", "post"]), TEXT, TEXT), max_size=14).map(tuple).map(Memory)
DELIVERY: st.SearchStrategy[Literal["rewrite", "append"]] = st.sampled_from(["rewrite", "append"])


def everything(step: Step) -> str:
    return step.system + "".join(block.text for block in step.appended)


def first_found(history: list[ToolResult]) -> list[str]:
    """Promise 1 told a second time, as simply as possible."""
    named = [n for r in history if r.tool == "tool_search" and not r.is_error for n in r.result["tools"]]
    return list(dict.fromkeys(n for n in named if n in cms("append").tools and n not in CORE))


@given(history=RESULTS, delivery=DELIVERY)
def test_promise_1_only_what_was_discovered(history: list[ToolResult], delivery: Delivery) -> None:
    """A tool's instructions are in the prompt if and only if the tool is a core tool or was named by a result of the
    search tool in this conversation. Order of first discovery, never re-ordered.
    """
    one = cms(delivery)
    step = one.prepare_step(one.prepare_call(Turn(now=NOW)), history)
    shown = re.findall(r"^<(\w+)>\nBEFORE: ", everything(step), re.MULTILINE)

    assert shown == [*CORE, *first_found(history)]
    assert list(step.active_tools) == shown


@given(history=RESULTS, memory=MEMORY, delivery=DELIVERY)
def test_promise_4_same_inputs_same_bytes(history: list[ToolResult], memory: Memory, delivery: Delivery) -> None:
    """Equal spec and turn give equal prompt, manifest and fingerprints, on any machine."""
    one, other = cms(delivery), elsewhere(delivery)
    turn = Turn(memory=memory, now=NOW)

    assert one.prepare_step(one.prepare_call(turn), history) == other.prepare_step(other.prepare_call(turn), history)


@given(history=RESULTS, memory=MEMORY)
def test_promise_5_append_only(history: list[ToolResult], memory: Memory) -> None:
    """Under `append` delivery nothing that was sent ever changes: later steps only add blocks at the end."""
    one = cms("append")
    call = one.prepare_call(Turn(memory=memory, now=NOW))
    steps = [one.prepare_step(call, history[:length]) for length in range(len(history) + 1)]

    for before, after in pairwise(steps):
        assert after.system == before.system
        assert after.appended[: len(before.appended)] == before.appended
        assert after.active_tools[: len(before.active_tools)] == before.active_tools


@given(history=RESULTS, memory=MEMORY, delivery=DELIVERY)
def test_promise_6_exact_sums(history: list[ToolResult], memory: Memory, delivery: Delivery) -> None:
    """The token count of the prompt is the sum of its sections' counts, for the bundled encodings."""
    one = cms(delivery)
    step = one.prepare_step(one.prepare_call(Turn(memory=memory, now=NOW)), history)
    manifest = step.manifest

    assert step.system == "".join(segment.text for segment in step.segments)
    assert sum(segment.tokens for segment in step.segments) == one.count(step.system) == manifest.tokens.system
    assert sum(block.tokens for block in step.appended) == manifest.tokens.appended
    assert sum(record.tokens for record in manifest.sections) == manifest.total_tokens


@given(
    history=RESULTS,
    memory=MEMORY,
    delivery=DELIVERY,
    total=st.none() | st.integers(1, 3000),
    protocols=st.none() | st.integers(1, 800),
)
def test_promise_7_no_silent_cut(
    history: list[ToolResult], memory: Memory, delivery: Delivery, total: int | None, protocols: int | None
) -> None:
    """Whatever a budget, a condition, a trust rule or a missing file left out is in the manifest, with the reason."""
    plain = cms(delivery)
    spec = plain.agent.spec.model_copy(update={"budget": BudgetSpec(total=total, protocols=protocols)})
    one = replace(plain, agent=replace(plain.agent, spec=spec))
    step = one.prepare_step(one.prepare_call(Turn(memory=memory, now=NOW)), history)
    cuts = {cut.what: cut for cut in step.manifest.cuts}
    shown = {record.id for record in step.manifest.protocols}
    discovered = first_found(history)

    assert all(cut.reason for cut in cuts.values())
    assert {name for name in discovered if name not in shown} == {name for name in discovered if name in cuts}
    assert sum(r.tokens for r in step.manifest.protocols if r.id in discovered) <= (protocols or 10**9)
    assert step.manifest.total_tokens <= (total or 10**9) or "budget.total" in cuts
    shown_ids = re.findall(r'^  - ".*" \((.*)\)$', step.system, re.MULTILINE)
    unique = {(entity.type, entity.id) for entity in memory.entities}
    assert len(shown_ids) + sum(what.startswith("memory ") for what in cuts) == len(unique)


@given(history=RESULTS, memory=MEMORY, delivery=DELIVERY)
def test_a_call_survives_json(history: list[ToolResult], memory: Memory, delivery: Delivery) -> None:
    one = cms(delivery)
    call = one.prepare_call(Turn(memory=memory, now=NOW), history[:3])
    travelled = Call.from_json(json.loads(json.dumps(call.to_json())))

    assert travelled == call
    assert one.prepare_step(travelled, history) == one.prepare_step(call, history)


@given(history=RESULTS, delivery=DELIVERY, seen=st.integers(0, 8))
def test_a_step_may_get_the_whole_history_or_only_this_run(
    history: list[ToolResult], delivery: Delivery, seen: int
) -> None:
    one = cms(delivery)
    call = one.prepare_call(Turn(now=NOW), history[:seen])
    whole, run = one.prepare_step(call, history), one.prepare_step(call, history[seen:])

    assert (run.system, run.appended, run.active_tools) == (whole.system, whole.appended, whole.active_tools)
