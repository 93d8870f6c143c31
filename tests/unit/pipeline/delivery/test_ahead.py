"""Tools that the user's own words find are discovered with the message, before the model searches."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from cms_agent import cms
from cuecard import Call, Engine, InputError, Message, Step, ToolResult, Turn
from cuecard.config.agent_file import BudgetSpec
from cuecard.config.tools_spec import AheadSpec
from cuecard.types import DeliveryWish
from property.engines import opened

NOW = datetime(2026, 11, 20, tzinfo=UTC)
DELETE, OTHER = "cms_deletePage", "cms_createPage"


def ahead(delivery: DeliveryWish = "append", protocols: int | None = None, **spec: float) -> Engine:
    agent = cms().agent
    tools = agent.spec.tools.model_copy(update={"ahead": AheadSpec(**spec)})  # type: ignore[arg-type]  # numbers of both kinds
    changed = agent.spec.model_copy(update={"tools": tools, "budget": BudgetSpec(protocols=protocols)})
    return replace(cms(), agent=replace(agent, spec=changed), delivery=delivery)


def said(text: str, **more: object) -> Turn:
    return replace(Turn(now=NOW, query=text), **more)  # type: ignore[arg-type]  # any field of a turn


def codes(step: Step) -> list[str]:
    return [each.code for each in step.manifest.diagnostics]


def test_what_the_user_asks_for_is_active_in_the_first_step_and_its_instructions_appear_with_the_message() -> None:
    engine = ahead()
    plain = cms().prepare_step(cms().prepare_call(said("Delete the about page")))
    step = engine.prepare_step(engine.prepare_call(said("Delete the about page")))

    assert DELETE in step.active_tools
    assert step.system == plain.system
    assert [(block.turn, block.after_call_id) for block in step.appended] == [(0, None)]
    assert engine.agent.protocols[DELETE].text in step.appended[0].text
    record = next(each for each in step.manifest.protocols if each.id == DELETE)
    assert (record.placement, record.reason) == ("appended", "found ahead by the user's message")
    assert step.manifest.sections[-1].reason == "found ahead by the user's message"
    assert (plain.appended, plain.discovered, codes(plain)) == ((), (), []), "off where nobody asks for it"


def test_the_text_of_the_message_is_searched_where_there_is_no_query() -> None:
    parts = ({"type": "image", "data": "..."}, {"type": "text", "text": "Delete the about page"})
    turns = [Turn(now=NOW, message=Message("user", each)) for each in ("Delete the about page", parts)]

    for turn in turns:
        assert DELETE in ahead().prepare_step(ahead().prepare_call(turn)).active_tools


@pytest.mark.parametrize("turn", [Turn(now=NOW), said("  "), said("page " * 500)])
def test_where_nothing_can_be_searched_a_diagnostic_says_so(turn: Turn) -> None:
    step = ahead().prepare_step(ahead().prepare_call(turn))

    assert codes(step) == ["nothing_ahead"]
    assert step.discovered == ()


def test_an_unsure_answer_discovers_nothing() -> None:
    sure = ahead(confidence=0.99)

    assert sure.prepare_step(sure.prepare_call(said("Delete the about page"))).discovered == ()


@pytest.mark.parametrize("delivery", ["append", "rewrite"])
def test_what_was_found_ahead_stays_in_the_conversation_and_is_announced_once(delivery: DeliveryWish) -> None:
    engine = ahead(delivery)
    chat = engine.conversation()
    first = chat.user(said("Delete the about page"))
    before = chat.step()
    search = ToolResult("tool_search", {"tools": [DELETE, OTHER]}, "call-1")
    chat.step([search])
    second = chat.user(said("Delete the about page"))
    after = chat.step()

    assert second == engine.prepare_call(
        said("Delete the about page"), [search], previous=Call.from_json(first.to_json())
    )
    assert after.active_tools[: len(before.active_tools)] == before.active_tools
    whole = after.system + "".join(block.text for block in after.appended)
    assert whole.count(engine.agent.protocols[DELETE].text) == 1
    assert after.appended[: len(before.appended)] == before.appended
    assert next(each for each in after.manifest.protocols if each.id == DELETE).reason.startswith("found ahead")


def test_a_compaction_keeps_what_was_found_ahead() -> None:
    engine = ahead()
    chat = engine.conversation()
    chat.user(said("Delete the about page"))
    before = chat.step()
    chat.compacted()
    chat.user(said("ok"))
    after = chat.step()

    assert set(before.active_tools) <= set(after.active_tools)
    assert engine.agent.protocols[DELETE].text in after.system
    assert after.appended == ()


def test_under_frozen_nothing_changes() -> None:
    engine = ahead("frozen")
    step = engine.prepare_step(engine.prepare_call(said("Delete the about page")))

    assert step.appended == ()
    assert step.active_tools == engine.prepare_step(engine.prepare_call(said("ok"))).active_tools


def test_what_has_no_room_is_left_to_the_search_and_recorded() -> None:
    engine = ahead(protocols=1)
    call = engine.prepare_call(said("Delete the about page"))
    step = engine.prepare_step(call)

    assert step.discovered == ()
    cut = next(each for each in step.manifest.cuts if each.what == DELETE)
    assert cut.reason == "found ahead by the user's message, no room: budget.protocols: 1 tokens"
    assert "tool_search" in (step.refusal(DELETE) or "")


def test_the_limit_holds_and_a_tool_that_the_turn_does_not_have_takes_no_place() -> None:
    engine = ahead(limit=1, confidence=0.1)
    (gone,) = engine.prepare_call(said("Delete the about page")).tools.ahead
    rest = tuple(name for name in engine.tools if name != gone)
    step = engine.prepare_step(engine.prepare_call(said("Delete the about page", tools=rest)))

    assert len(step.discovered) == 1
    assert gone not in step.active_tools


def test_a_ranker_that_is_awaited_searches_before_the_call() -> None:
    async def ranker(_query: str, _limit: int) -> Sequence[tuple[str, float]]:
        return [(OTHER, 0.9)]

    engine = ahead()
    turn = asyncio.run(engine.alook_ahead(said("Delete the about page"), ranker=ranker))
    step = engine.prepare_step(engine.prepare_call(turn))

    assert turn.ahead == (OTHER,)
    assert [each.tool for each in step.discovered] == [OTHER]


def test_a_turn_that_was_looked_ahead_is_not_searched_again() -> None:
    engine = ahead()
    turn = engine.look_ahead(said("Delete the about page"))

    assert engine.look_ahead(turn) == turn
    assert engine.prepare_call(turn) == engine.prepare_call(said("Delete the about page"))
    assert cms().look_ahead(said("Delete the about page")).ahead is None


def test_a_wrong_turn_is_refused() -> None:
    with pytest.raises(InputError, match="turn"):
        ahead().look_ahead("Delete the about page")  # type: ignore[arg-type]  # the mistake


def test_what_was_called_before_it_was_found_ahead_brings_no_cues_behind_that_old_result() -> None:
    """It would be news in the middle of what was sent; its next result brings them."""
    cues = "{on_discovery: [before, gotcha], on_result: [after, next]}"
    tools = f"{{instructions: t.yaml, search: {{tool: find}}, ahead: {{}}, cues: {cues}}}"
    texts = {
        "agent.yaml": f"agent: a\ntemplate: a.xml\ndelivery: append\ntools: {tools}\n",
        "a.xml": "<a>\n<use>\n{{{activeProtocols}}}\n</use>\n</a>\n",
        "t.yaml": "tools: {x: {before: FIRST, after: LATER}}\ndescribed: {find: {description: finds}}\n",
    }
    chat = opened(texts).conversation()
    chat.user(Turn(now=NOW, ahead=()))
    chat.step([ToolResult("x", "ok", "c0")])
    chat.user(Turn(now=NOW, ahead=("x",)))

    assert [("FIRST" in each.text, each.turn) for each in chat.step().appended] == [(True, 1)]
    assert [each.after_call_id for each in chat.step([ToolResult("x", "ok", "c1")]).appended] == [None, "c1"]
