"""A tool and its instructions come together, or not at all."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from cms_agent import cms
from cuecard import Call, ConversationState, Engine, InputError, Step, ToolResult, Turn
from cuecard.config.agent_file import BudgetSpec
from cuecard.types import DeliveryWish
from unit.agent.section_lists.agents import TOOLS, opened

NOW = datetime(2026, 11, 20, tzinfo=UTC)
BIG, SMALL, LAST = "cms_updateSectionImage", "cms_listAllImages", "cms_deletePage"
ACKNOWLEDGED = ToolResult("acknowledge", {"acknowledged": "At once."}, "ack")


def cost(*tools: str) -> int:
    return sum(cms().count(cms().agent.protocols[name].text) for name in tools)


def limited(protocols: int | None = None, total: int | None = None, delivery: DeliveryWish = "append") -> Engine:
    spec = cms().agent.spec.model_copy(update={"budget": BudgetSpec(protocols=protocols, total=total)})
    return replace(cms(), agent=replace(cms().agent, spec=spec), delivery=delivery)


def found(number: int, *names: str) -> ToolResult:
    return ToolResult("tool_search", {"tools": names}, f"call-{number}")


def used(number: int, name: str) -> ToolResult:
    return ToolResult(name, {"ok": True}, f"use-{number}")


def reasons(step: Step) -> dict[str, str]:
    return {cut.what: cut.reason for cut in step.manifest.cuts}


def test_a_tool_whose_instructions_do_not_fit_is_not_active_and_the_block_says_so() -> None:
    engine = limited(cost(BIG, SMALL) - 1)
    step = engine.prepare_step(engine.prepare_call(Turn(now=NOW)), [found(1, BIG, SMALL)])

    assert step.active_tools[3:] == (BIG,)
    assert f"<withheld-tools>\n{SMALL}\nNot active:" in step.appended[0].text
    assert reasons(step)[SMALL] == f"not active: budget.protocols: {cost(BIG, SMALL) - 1} tokens"
    assert step.refusal(SMALL) == (
        f"`{SMALL}` is not active: there is no room left for its instructions. Use other tools, or tell the user what "
        "cannot be done."
    )


def test_calls_are_refused_of_what_is_not_active_and_of_nothing_else() -> None:
    step = cms().prepare_step(cms().prepare_call(Turn(now=NOW)), [ACKNOWLEDGED, found(1, BIG)])

    assert step.refusal(BIG) is None
    assert step.refusal("a_tool_of_the_host") is None
    assert step.refusal(LAST) == (
        f"`{LAST}` is not active. Call `tool_search` with what you want to do, then use what it finds."
    )
    assert Step.from_json(step.to_json()).refusal(LAST) == step.refusal(LAST)


def test_what_was_decided_stays_in_later_turns() -> None:
    engine = limited(cost(BIG))
    first = engine.prepare_call(Turn(now=NOW))
    rest = tuple(name for name in engine.tools if name != BIG)
    history = [found(1, BIG, SMALL)]
    second = engine.prepare_call(Turn(now=NOW, tools=rest), history, previous=first)
    third = engine.prepare_call(Turn(now=NOW), history, previous=Call.from_json(second.to_json()))

    assert SMALL not in engine.prepare_step(second, history).active_tools
    assert engine.prepare_step(third, [*history, found(2, SMALL)]).active_tools[3:] == (BIG,)


def test_a_compaction_keeps_what_was_called_last_not_what_was_found_first() -> None:
    engine = limited(max(cost(BIG, SMALL), cost(BIG, LAST)))
    history = [found(1, SMALL, BIG), used(1, BIG), found(2, LAST)]
    first = engine.prepare_call(Turn(now=NOW))
    before = engine.prepare_step(first, history)
    after = engine.prepare_step(engine.prepare_call(Turn(now=NOW), history, previous=first, compacted=True))

    assert before.active_tools[3:] == (SMALL, BIG)
    assert after.active_tools[3:] == (BIG, LAST)
    assert reasons(after)[SMALL].startswith("not active: budget.protocols")
    assert f"<withheld-tools>\n{SMALL}\n" in after.appended[0].text
    assert SMALL not in after.system


def test_under_rewrite_each_call_decides_again_and_the_section_says_what_is_left_out() -> None:
    engine = limited(max(cost(BIG), cost(SMALL)), delivery="rewrite")
    history = [found(1, BIG), found(2, SMALL)]
    first = engine.prepare_call(Turn(now=NOW))
    before = engine.prepare_step(first, history)
    after = engine.prepare_step(engine.prepare_call(Turn(now=NOW), history, previous=first), history)

    assert before.active_tools[3:] == (BIG,)
    assert f"<withheld-tools>\n{SMALL}\nNot active:" in before.system
    assert after.active_tools[3:] == (SMALL,)


def test_frozen_shows_all_instructions_whatever_they_take() -> None:
    engine = limited(1, delivery="frozen")
    step = engine.prepare_step(engine.prepare_call(Turn(now=NOW)))

    assert set(step.active_tools) == {*engine.tools} - {"tool_search"}
    assert all(engine.agent.protocols[name].text in step.system for name in step.active_tools)


SECTIONS = """\
agent: a
tools: {instructions: t.yaml, core: [tool_search]}
inputs: {show: {type: boolean, default: false}}
sections: [{id: a, text: a}, {id: p, %stext: "{{{activeProtocols}}}"}]
"""


def test_where_no_section_shows_instructions_now_tools_with_some_wait(tmp_path: Path) -> None:
    engine = opened(tmp_path, SECTIONS % "when: show, ", t_yaml=TOOLS)
    hidden = engine.prepare_step(engine.prepare_call(), [found(1, "get_page")])
    shown = engine.prepare_step(engine.prepare_call(Turn(inputs={"show": True})), [found(1, "get_page")])

    assert hidden.active_tools == ("tool_search",)
    assert reasons(hidden)["get_page"] == "not active: no section of this call shows its instructions"
    assert shown.active_tools == ("tool_search", "get_page")


def test_a_section_that_is_too_small_activates_what_it_shows_as_a_whole(tmp_path: Path) -> None:
    engine = opened(tmp_path, SECTIONS % "budget: 60, ", delivery="rewrite", t_yaml=TOOLS)
    step = engine.prepare_step(engine.prepare_call(), [found(1, "get_page", "put_page")])
    texts = {name: made.text.strip() for name, made in engine.agent.protocols.items()}

    assert "put_page" not in step.active_tools
    assert all(texts[name] in step.system for name in step.active_tools)


def test_a_search_announces_what_the_next_step_has_active_and_nothing_else() -> None:
    plain = cms().search_tools("delete a page")
    first, *others = plain.tools
    rest = tuple(name for name in cms().tools if name not in others[:1])
    engine = limited(cost(first))
    call = engine.prepare_call(Turn(now=NOW, tools=rest))
    answer = engine.search_tools("delete a page", call=call, history=[])
    step = engine.prepare_step(call, [ToolResult("tool_search", answer.to_json(), "call-1")])

    assert answer.tools == step.active_tools[3:] == (first,)
    assert answer.message.startswith("Found 1 tool.")
    assert {each.code for each in answer.diagnostics} >= {"absent_tool"}
    assert all(name in answer.message for name in others[1:])
    assert others[0] not in answer.message


def test_a_search_that_finds_only_what_has_no_room_says_so() -> None:
    engine = limited(1)
    answer = engine.search_tools("delete a page", call=engine.prepare_call(Turn(now=NOW)))

    assert answer.tools == ()
    assert answer.message.startswith("Not active, because there is no room left for their instructions: cms_")


@pytest.mark.parametrize("delivery", ["append", "rewrite"])
def test_a_tool_without_room_is_remembered_and_active_after_a_compaction(delivery: DeliveryWish) -> None:
    """A conversation whose budget is used up can still get what it searches for: at the next baseline."""
    engine = limited(cost(BIG, SMALL), delivery=delivery)
    chat = engine.conversation()
    call = chat.user(Turn(now=NOW))
    chat.step([found(1, BIG, SMALL), used(1, SMALL)])
    answer = engine.search_tools("delete a page", call=call, history=[found(1, BIG, SMALL)])
    full = chat.step([ToolResult("tool_search", answer.to_json(), "call-2")])
    chat.compacted()
    chat.user(Turn(now=NOW))
    later = chat.step()

    assert answer.tools == ()
    assert answer.withheld[0] == "cms_deletePage"
    assert answer.to_json()["withheld"] == list(answer.withheld)
    assert {BIG, SMALL} <= {*full.active_tools}
    assert reasons(full)["cms_deletePage"] == f"not active: budget.protocols: {cost(BIG, SMALL)} tokens"
    assert BIG not in later.active_tools
    assert {SMALL, "cms_deletePage"} <= {*later.active_tools}


def test_a_history_without_its_call_is_refused() -> None:
    with pytest.raises(InputError, match="has no meaning without its `call`"):
        cms().search_tools("delete a page", history=[found(1, BIG)])


@pytest.mark.parametrize("room", ["enough", "protocols", "total"])
def test_a_tool_found_while_it_did_not_exist_is_decided_with_the_turn_that_brings_it(room: str) -> None:
    """Its instructions, or why they do not come, stand with the new message, and nothing behind the old result."""
    before = limited().prepare_step(limited().prepare_call(Turn(now=NOW))).manifest.total_tokens
    engine = limited(cost(BIG) - 1 if room == "protocols" else None, before + 10 if room == "total" else None)
    chat = engine.conversation()
    chat.user(Turn(now=NOW, tools=engine.core_tools))
    absent = chat.step([found(1, BIG)])
    call = chat.user(Turn(now=NOW))
    step = chat.step([ACKNOWLEDGED])

    assert step.appended[: len(absent.appended)] == absent.appended
    assert not [block for block in step.appended if block.after_call_id == "call-1"]
    assert {block.turn for block in step.appended} <= {1}
    assert (BIG in step.active_tools) is (room == "enough")
    assert (f"<{BIG}>" in "".join(block.text for block in step.appended)) is (room == "enough")
    assert bool(step.refusal(BIG)) is (room != "enough")
    assert chat.step([found(2, BIG)]).appended == step.appended
    rebuilt = engine.conversation(ConversationState.from_json(chat.to_json()))
    assert rebuilt.user(Turn(now=NOW)) == chat.user(Turn(now=NOW))
    assert rebuilt.step().active_tools == step.active_tools
    assert call.prompt.sent == step.appended


def test_tools_that_a_later_turn_names_are_decided_by_their_use_within_both_budgets() -> None:
    """The tool that was used last comes first; one that is too long takes no room of the other budget."""

    def named(engine: Engine, *tools: str) -> Step:
        chat = engine.conversation()
        chat.user(Turn(now=NOW))
        chat.step([used(1, SMALL)])
        chat.user(Turn(now=NOW, discovered=tools))
        step = chat.step()
        chat.user(Turn(now=NOW, discovered=tools))
        again = chat.step()
        assert (again.active_tools, again.appended) == (step.active_tools, step.appended)
        return step

    room = named(limited(), SMALL, LAST).manifest.total_tokens
    step = named(limited(cost(SMALL, BIG), room), SMALL, LAST, BIG)  # by use: SMALL, BIG, LAST

    assert step.active_tools[3:] == (SMALL, LAST)
    assert reasons(step)[BIG] == f"not active: budget.total: {room} tokens, with no room to say so"
    assert step.manifest.total_tokens == room
    assert reasons(named(limited(cost(SMALL, BIG), room + 60), SMALL, LAST, BIG))[LAST].startswith(
        "not active: budget.p"
    )
    least = limited().prepare_step(limited().prepare_call(Turn(now=NOW))).manifest.total_tokens
    tight = limited(cost(SMALL, BIG) - 1, least)
    first = tight.prepare_step(tight.prepare_call(Turn(now=NOW, discovered=(SMALL, BIG))))
    assert [reasons(first)[tool].split(":")[1] for tool in (BIG, SMALL)] == [" budget.total", " budget.protocols"]


def test_a_tool_that_had_no_room_in_a_step_and_is_named_by_the_next_turn_is_announced_once() -> None:
    engine = limited(cost(SMALL))
    chat = engine.conversation()
    chat.user(Turn(now=NOW))
    said = chat.step([found(1, SMALL, BIG)]).appended
    chat.user(Turn(now=NOW, discovered=(SMALL, BIG)))
    step = chat.step()

    assert step.appended == said
    assert step.active_tools[3:] == (SMALL,)


@pytest.mark.parametrize("delivery", ["frozen", "rewrite"])
def test_tools_that_exist_only_later_are_held_to_the_whole_budget_however_they_come(delivery: DeliveryWish) -> None:
    core = cms().core_tools

    def brought(engine: Engine, *tools: str) -> Step:
        chat = engine.conversation()
        chat.user(Turn(now=NOW, tools=core))
        chat.step()
        chat.user(Turn(now=NOW, tools=(*core, *tools), discovered=tools))
        return chat.step()

    room = brought(limited(delivery=delivery), BIG).manifest.total_tokens
    step = brought(limited(None, room, delivery), SMALL, BIG)

    assert set(step.active_tools) - {*core} == {BIG}
    assert step.manifest.total_tokens <= room
    assert step.refusal(SMALL)


def test_a_change_of_the_delivery_makes_a_baseline_that_is_held_to_the_whole_budget() -> None:
    plain = limited()
    before = plain.prepare_step(plain.prepare_call(Turn(now=NOW))).manifest.total_tokens
    engine = limited(None, before + 2_000)
    chat = engine.conversation()
    chat.user(Turn(now=NOW))
    chat.step()
    chat.user(Turn(now=NOW, delivery="frozen"))
    step = chat.step()

    assert step.manifest.total_tokens <= before + 2_000
    inactive = {*engine.tools} - {"tool_search", *step.active_tools}
    assert inactive
    assert all(reasons(step)[name].startswith("not active") for name in inactive)


def test_what_does_not_exist_takes_no_place_among_the_hits() -> None:
    found = cms().search_tools("delete a page", 3).tools
    gone = found[0]
    call = cms().prepare_call(Turn(now=NOW, tools=tuple(name for name in cms().tools if name != gone)))
    answer = cms().search_tools("delete a page", 3, call=call)

    assert answer.tools[: len(found) - 1] == found[1:]
    assert len(answer.tools) == 3 or len(cms().search_tools("delete a page", 4).tools) < 4
    assert [each.message for each in answer.diagnostics if each.code == "absent_tool"] == [
        f"`{gone}` matches the query but does not exist for this call"
    ]


def test_what_is_hidden_from_a_remote_search_takes_no_place_either() -> None:
    names = [name for name in cms().tools if name not in cms().core_tools][:6]
    asked: list[int] = []

    async def ranker(_query: str, limit: int) -> list[tuple[str, float]]:
        asked.append(limit)
        return [(name, 0.9) for name in names][:limit]

    call = cms().prepare_call(Turn(now=NOW, tools=tuple(name for name in cms().tools if name not in names[:2])))
    answer = asyncio.run(cms().asearch_tools("anything", 3, ranker=ranker, call=call))

    assert answer.tools == tuple(names[2:5])
    assert asked == [5]


def test_what_the_host_has_said_within_the_run_is_not_said_again() -> None:
    without = tuple(name for name in cms().tools if name != BIG)
    chat = limited().conversation()
    chat.user(Turn(now=NOW))
    said = chat.step([found(1, BIG)]).appended
    chat.tools_changed(without)
    stored = ConversationState.from_json(chat.to_json())
    for going_on in (chat, limited().conversation(stored)):
        going_on.user(Turn(now=NOW, tools=without))
        assert going_on.step().appended == said
        going_on.user(Turn(now=NOW))
        assert f"<restored-tools>\n{BIG}\n" in going_on.step().appended[-1].text
    again = limited().conversation(stored)
    again.user(Turn(now=NOW))
    assert f"<restored-tools>\n{BIG}\n" in again.step().appended[-1].text
    wrong: Any = [3]
    with pytest.raises(InputError, match=r"there\[0\]"):
        chat.tools_changed(wrong)


def test_an_engine_has_no_delivery_that_does_not_exist() -> None:
    wrong: Any = "apend"
    with pytest.raises(InputError, match="delivery"):
        replace(cms(), delivery=wrong)


def test_under_rewrite_messages_have_one_system_prompt_also_after_a_tool_has_gone() -> None:
    engine = limited(delivery="rewrite")
    chat = engine.conversation()
    there = (*engine.tools, engine.search_tool)
    left = tuple(name for name in there if name != SMALL)
    chat.user()
    chat.step([found(1, SMALL, LAST)], tools=there)
    chat.compacted(0)
    chat.user(Turn(ephemeral="Only now."))
    chat.step(tools=there)
    chat.step(tools=left)
    step = chat.step([found(2, BIG)], tools=left)

    assert [message.content for message in step.messages] == [step.system, "Only now."]
    assert str(step.refusal(SMALL)).startswith(f"`{SMALL}` is no longer there.")


@pytest.mark.parametrize("text", ["{{{activeProtocols}}}", "{{#if activeProtocols}}Use:\n{{{activeProtocols}}}{{/if}}"])
def test_instructions_stay_told_when_the_turn_has_no_core_tool(tmp_path: Path, text: str) -> None:
    sections = f"sections:\n  - {{id: role, text: You help.}}\n  - {{id: use, text: {text!r}}}\n"
    head = "agent: pages\ntools: {instructions: tools.yaml, core: [get_page]}\n"
    chat = opened(tmp_path, head + sections, tools_yaml=TOOLS).conversation()
    chat.user()
    told = chat.step([found(1, "put_page")]).appended
    chat.user(Turn(tools=("put_page",)))
    step = chat.step()
    (block,) = step.appended[len(told) :]

    assert step.active_tools == ("put_page",)
    assert "withdrawn-sections" not in block.text
    assert "Get the page" not in block.text


def test_a_tool_that_was_never_told_is_not_active_when_it_is_back_within_the_run(tmp_path: Path) -> None:
    head = "agent: pages\ntools: {instructions: tools.yaml, core: [get_page]}\n"
    text = head + "sections: [{id: use, text: '{{{activeProtocols}}}'}]\n"
    every, few = ("get_page", "put_page"), ()
    chat = opened(tmp_path, text, tools_yaml=TOOLS).conversation()
    chat.user(Turn(tools=few))
    steps = [chat.step(tools=there) for there in (every, few)]
    steps += [chat.step([found(1, "put_page")], tools=few), chat.step(tools=every)]
    chat.user(Turn(tools=every))
    later = chat.step()

    assert {(each.active_tools, each.appended) for each in steps} == {((), ())}
    assert later.active_tools == every
    assert [(block.turn, block.text.count("BEFORE")) for block in later.appended] == [(1, 2)]


@pytest.mark.parametrize("core", [["get_page"], ["get_page", "put_page"]])
def test_a_section_with_a_condition_is_not_told_again_where_a_tool_has_gone(tmp_path: Path, core: list[str]) -> None:
    head = f"agent: pages\ninputs: {{user: {{default: Jana}}}}\ntools: {{instructions: tools.yaml, core: {core}}}\n"
    text = head + "sections: [{id: use, when: user, text: 'For {{user}}: {{{activeProtocols}}}'}]\n"
    chat = opened(tmp_path, text, tools_yaml=TOOLS).conversation()
    chat.user()
    told = chat.step([found(1, "put_page")]).appended
    chat.user(Turn(tools=("put_page",)))
    (gone,) = chat.step().appended[len(told) :]
    chat.user(Turn({"user": "Max"}, tools=("put_page",)))

    assert "For Jana" not in gone.text
    assert "For Max" in chat.step().appended[-1].text
