"""Cues that wait for a tool's first result: AFTER and NEXT come where they are needed, and only there."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest

from cms_agent import CMS, cms
from cuecard import Call, Engine, SpecError, Step, ToolResult, Turn
from cuecard.agent import build_agent
from cuecard.config.agent_file import BudgetSpec
from cuecard.files.folder import read_agent
from cuecard.types import Agent, DeliveryWish, Json
from unit.agent.section_lists.agents import TOOLS, opened

NOW = datetime(2026, 11, 20, tzinfo=UTC)
GET, DELETE, LIST = "cms_getPage", "cms_deletePage", "cms_listPages"
UNASKED = """\
agent: a
tools:
  instructions: t.yaml
  core: [tool_search]
  cues: {on_discovery: [before, gotcha], on_result: [after, next], pending: ""}
sections: [{id: p, text: "{{{activeProtocols}}}"}]
"""


@cache
def timed() -> Agent:
    sources = read_agent(CMS)
    text = sources.agent.text.replace(
        "tools:\n", "tools:\n  cues: {on_discovery: [before, gotcha], on_result: [after, next]}\n", 1
    )
    return build_agent(replace(sources, agent=replace(sources.agent, text=text)))


def engine(delivery: DeliveryWish = "append", budget: BudgetSpec | None = None) -> Engine:
    agent = timed()
    if budget:
        agent = replace(agent, spec=agent.spec.model_copy(update={"budget": budget}))
    return replace(cms(delivery), agent=agent)


def found(*names: str, number: int = 1) -> ToolResult:
    return ToolResult("tool_search", {"tools": names}, f"search-{number}")


def result(tool: str, call_id: str | None, value: Json = None, **more: object) -> ToolResult:
    return replace(ToolResult(tool, value or {"ok": True}, call_id), **more)  # type: ignore[arg-type]  # its fields


def steps(history: list[ToolResult], one: Engine | None = None) -> list[Step]:
    one = one or engine()
    call = one.prepare_call(Turn(now=NOW))
    return [one.prepare_step(call, history[:length]) for length in range(len(history) + 1)]


def anchors(step: Step) -> list[str | None]:
    return [block.after_call_id for block in step.appended]


def test_the_first_result_brings_after_and_next_and_no_other_does_and_the_manifest_counts_them() -> None:
    made = steps([found(DELETE), result(DELETE, "a"), result(DELETE, "b")])
    protocol = timed().protocols[DELETE]

    assert protocol.first in made[1].appended[0].text
    assert "AFTER: " not in made[1].appended[0].text
    assert anchors(made[3]) == ["search-1", "a"]
    assert protocol.later in made[3].appended[1].text
    assert [line.split(":")[0] for line in protocol.later.splitlines()[1:-1]] == ["AFTER", "NEXT"]
    for before, after in pairwise(made):
        assert after.appended[: len(before.appended)] == before.appended
        assert after.system == before.system
    told = [next(each for each in step.manifest.protocols if each.id == DELETE).tokens for step in made[1:3]]
    assert told == [engine().count(protocol.first), engine().count(protocol.text)]
    assert made[2].manifest.sections[-1].reason == "cues for first results"


@pytest.mark.parametrize(
    "first",
    [
        result(DELETE, "a", is_error=True),
        result(DELETE, "a", pending=True),
        result(DELETE, "a", {"requiresConfirmation": True, "message": "Sure?"}),
        result(DELETE, "a", '{"requiresConfirmation": true, "message": "Sure?"}'),
        result(DELETE, "a", {"structuredContent": {"requiresConfirmation": True}}),
        result(DELETE, "a", [{"type": "text", "text": '{"requiresConfirmation": true}'}]),
        result(DELETE, "a", {"toolResult": {"toolUseId": "a", "content": [{"json": {"requiresConfirmation": True}}]}}),
        result(DELETE, "a", {"toolResult": {"content": [{"text": '{"requiresConfirmation": true}'}]}}),
        result(DELETE, "a", [{"text": '{"requiresConfirmation": true}'}]),
        result(DELETE, "a", {"functionResponse": {"name": DELETE, "response": {"requiresConfirmation": True}}}),
        result(DELETE, "a", {"name": DELETE, "response": {"output": {"requiresConfirmation": True}}}),
    ],
)
def test_an_error_or_a_request_for_confirmation_is_not_a_result_yet(first: ToolResult) -> None:
    made = steps([found(DELETE), first, result(DELETE, "b")])

    assert anchors(made[2]) == ["search-1"]
    assert anchors(made[3]) == ["search-1", "b"]


@pytest.mark.parametrize(
    "value",
    [
        "requiresConfirmation: true",
        {"text": "requiresConfirmation"},
        {"page": {"requiresConfirmation": True}},
        [{"requiresConfirmation": True}],
    ],
)
def test_words_are_not_a_request_for_confirmation(value: Json) -> None:
    assert anchors(steps([found(DELETE), result(DELETE, "a", value)])[2]) == ["search-1", "a"]


def test_without_a_key_no_result_asks_for_confirmation_and_cues_come(tmp_path: Path) -> None:
    one = opened(tmp_path, UNASKED, t_yaml=TOOLS, delivery="append")

    assert anchors(steps([found("get_page"), result("get_page", "a", {"": True})], one)[2]) == ["search-1", "a"]


def test_one_block_for_a_batch() -> None:
    history = [found(GET, LIST), result(LIST, "a", batch="m1"), result(GET, "b", batch="m1")]
    step = steps(history)[-1]

    assert anchors(step) == ["search-1", "a"]
    assert all(timed().protocols[name].later in step.appended[1].text for name in (GET, LIST))


def test_without_a_call_id_they_come_with_the_next_message_of_the_user() -> None:
    one, history = engine(), [found(DELETE), result(DELETE, None)]
    first = one.prepare_call(Turn(now=NOW))
    second = one.prepare_call(Turn(now=NOW), history, previous=Call.from_json(first.to_json()))
    third = one.prepare_call(Turn(now=NOW), history, previous=second)

    assert anchors(one.prepare_step(first, history)) == ["search-1"]
    assert [(b.after_call_id, b.turn) for b in second.prompt.sent] == [("search-1", None), (None, 1)]
    assert timed().protocols[DELETE].later in second.prompt.sent[1].text
    assert third.prompt.sent == second.prompt.sent


def test_a_result_of_a_later_turn_brings_them_and_a_result_before_the_discovery_does_not() -> None:
    one, history = engine(), [result(DELETE, "early"), found(DELETE)]
    first = one.prepare_call(Turn(now=NOW))
    second = one.prepare_call(Turn(now=NOW), history, previous=first)

    assert anchors(one.prepare_step(second, history)) == ["search-1"]
    assert anchors(one.prepare_step(second, [*history, result(DELETE, "late")])) == ["search-1", "late"]


@pytest.mark.parametrize("delivery", ["rewrite", "frozen"])
def test_a_system_prompt_prints_all_four(delivery: DeliveryWish) -> None:
    step = steps([found(DELETE), result(DELETE, "a")], engine(delivery))[-1]

    assert timed().protocols[DELETE].text in step.system
    assert step.appended == ()


def test_a_compaction_prints_all_four_and_nothing_waits_any_more() -> None:
    one, history = engine(), [found(DELETE)]
    first = one.prepare_call(Turn(now=NOW))
    second = one.prepare_call(Turn(now=NOW), history, previous=first, compacted=True)
    step = one.prepare_step(second, [*history, result(DELETE, "a")])

    assert timed().protocols[DELETE].text in step.system
    assert step.appended == ()


@pytest.mark.repeats
def test_the_budget_has_room_for_all_four_from_the_start() -> None:
    cost = {name: engine().count(made.text) for name, made in timed().protocols.items()}
    tight = engine(budget=BudgetSpec(protocols=cost[DELETE] + cost[GET] - 1))
    made = steps([found(DELETE, GET), result(DELETE, "a")], tight)

    assert made[1].active_tools[3:] == (DELETE,)
    assert made[2].active_tools == made[1].active_tools


def test_the_budget_of_the_whole_prompt_holds_when_the_cues_have_come() -> None:
    start = steps([])[0].manifest.total_tokens
    history = [found(GET, LIST, DELETE), result(GET, "a"), result(LIST, "b"), result(DELETE, "c")]
    for total in range(start, start + 500, 40):
        made = steps(history, engine(budget=BudgetSpec(total=total)))
        assert all(step.manifest.total_tokens <= total for step in made)
        assert len({step.active_tools for step in made[1:]}) == 1


@pytest.mark.parametrize(
    "cues", ["{on_result: [after]}", "{on_discovery: [], on_result: [before, after, next, gotcha]}"]
)
def test_each_cue_has_one_time(tmp_path: Path, cues: str) -> None:
    with pytest.raises(SpecError, match="each of before, after, next and gotcha once"):
        opened(
            tmp_path,
            f"agent: a\ntools: {{instructions: t.yaml, cues: {cues}}}\nsections: [{{id: a, text: a}}]\n",
            t_yaml=TOOLS,
        )
