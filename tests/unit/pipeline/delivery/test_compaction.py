"""Compaction: one new baseline that tells what was discovered, and append-only again from there on."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from cms_agent import cms as engine
from cuecard import Call, Entity, Memory, Step, ToolResult, Turn
from cuecard.adapters import anthropic
from cuecard.config.agent_file import BudgetSpec
from shipped import read_models

NOW = datetime(2026, 11, 20, 23, 30, tzinfo=UTC)
HOME, NEWS = Entity("page", "p1", "Home"), Entity("page", "p2", "News")
FOUND = ["cms_searchImages", "cms_createPage", "cms_listPages"]
OPUS = read_models().find("claude-opus-4-8")


def turn(*entities: Entity, hours: int = 0) -> Turn:
    return Turn(memory=Memory(entities), now=NOW + timedelta(hours=hours))


def search(number: int, *names: str) -> ToolResult:
    return ToolResult("tool_search", {"tools": list(names)}, f"call-{number}")


HISTORY = [search(0, FOUND[0]), search(1, FOUND[1], FOUND[0]), search(2, FOUND[2])]


def talked() -> Call:
    """Two calls: in the first one tool was found, in the second (with a memory) two more."""
    first = engine().prepare_call(turn())
    return engine().prepare_call(turn(HOME), HISTORY[:1], previous=first)


def compacted(history: list[ToolResult] = HISTORY, kept: int = 1) -> Call:
    return engine().prepare_call(turn(HOME, NEWS, hours=1), history, previous=talked(), compacted=True, kept=kept)


def shown(step: Step) -> list[str]:
    return [record.id for record in step.manifest.protocols]


def test_the_system_prompt_is_rebuilt_with_todays_memory_and_date_and_what_was_discovered_in_its_order() -> None:
    before, step = engine().prepare_step(talked(), HISTORY), engine().prepare_step(compacted())
    places = [step.system.index(f"<{name}>\nBEFORE: ") for name in FOUND]

    assert '- "Home" (p1)' in step.system
    assert '- "News" (p2)' in step.system
    assert "2026-11-21" in step.system
    assert step.appended == ()
    assert places == sorted(places)
    assert step.active_tools == before.active_tools
    assert shown(step) == shown(before)


def test_after_a_compaction_the_conversation_only_grows_again() -> None:
    call = compacted()
    history = [*HISTORY, search(9, "cms_deletePage", FOUND[0])]
    steps = [engine().prepare_step(call), engine().prepare_step(call, history)]
    following = engine().prepare_call(turn(NEWS, hours=1), history, previous=Call.from_json(call.to_json()))
    steps.append(engine().prepare_step(following, history))

    assert {step.system for step in steps} == {steps[0].system}
    assert [[block.after_call_id or block.turn for block in step.appended] for step in steps] == [
        [],
        ["call-9"],
        ["call-9", 2],
    ]
    assert steps[-1].active_tools[-4:] == (*FOUND, "cms_deletePage")


def test_a_compaction_under_frozen_and_rewrite_keeps_what_is_active() -> None:
    for delivery in ("frozen", "rewrite"):
        one = engine(delivery)
        first = one.prepare_call(turn())
        second = one.prepare_call(turn(HOME), HISTORY, previous=first, compacted=True)

        assert one.prepare_step(second).active_tools == one.prepare_step(first, HISTORY).active_tools
        assert '- "Home" (p1)' in one.prepare_step(second).system


def test_a_compaction_does_not_lift_a_budget_and_keeps_what_was_found_last() -> None:
    costs = {name: engine().count(protocol.text) for name, protocol in engine().agent.protocols.items()}
    room = costs[FOUND[1]] + costs[FOUND[2]]
    spec = engine().agent.spec.model_copy(update={"budget": BudgetSpec(protocols=room)})
    one = replace(engine(), agent=replace(engine().agent, spec=spec))
    first = one.prepare_call(turn())
    second = one.prepare_call(turn(), HISTORY, previous=first, compacted=True)
    after = one.prepare_step(second, HISTORY)

    assert shown(after)[-2:] == [*FOUND[1:]]
    assert [cut.what for cut in after.manifest.cuts] == ["baseline", FOUND[0]]


def user(text: str) -> dict[str, object]:
    return {"role": "user", "content": text}


def model(text: str) -> dict[str, object]:
    return {"role": "assistant", "content": text}


def test_blocks_find_their_message_by_how_many_messages_of_the_user_were_kept() -> None:
    """The summary and two old messages stay: the next change belongs to the fifth message of the user, for good."""
    call = compacted(kept=3)
    following = engine().prepare_call(turn(NEWS, hours=2), previous=call)
    messages = [user("summary"), user("old"), model("a"), user("older"), model("b"), user("now"), model("c")]
    sent = []
    for more in ([user("next")], [user("next"), model("d"), user("last")]):
        body = anthropic.request(engine().prepare_step(following), [*messages, *more], model=OPUS)
        sent.append(json.dumps([without_breakpoints(message) for message in body["messages"]]))

    assert sent[1].startswith(sent[0].removesuffix("]"))
    assert sent[0].index('"next"') < sent[0].index("context-update")


def without_breakpoints(message: dict[str, object]) -> object:
    return json.loads(json.dumps(message).replace(', "cache_control": {"type": "ephemeral"}', ""))
