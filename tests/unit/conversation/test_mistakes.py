"""What is refused leaves the conversation as it was, and says what to do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from cms_agent import cms
from cuecard import Engine, InputError, ToolCard, ToolResult, Turn

PROMPTS = Path(__file__).parents[3] / "prompts"
FOUND = ToolResult("tool_search", {"tools": ["cms_createPage"]}, "call-1")


def refused(door: Callable[[], object]) -> str:
    """What is told of each problem, with its place, its code and its hint."""
    with pytest.raises(InputError) as error:
        door()
    return "\n".join(problem.picture() for problem in error.value.problems)


def test_a_step_needs_a_message_first() -> None:
    chat = cms().conversation()
    step = cms().prepare_step(cms().prepare_call())
    for door in (chat.step, lambda: chat.in_front(step, ())):
        assert refused(door) == (
            "conversation: error[no-call]: the conversation has no user message yet, so there is no model request to "
            "prepare\n  = start with `user(turn)`"
        )


def test_results_of_unknown_calls_are_named_all_at_once_and_what_is_refused_changes_nothing() -> None:
    chat = cms().conversation()
    chat.user()
    chat.compacted()
    before = chat.state
    results = [replace(FOUND, tool=tool, call_id=name) for tool, name in (("", "call-7"), ("a", "b"), ("", "call-8"))]
    hint = "name it in the result, or pass `calls={id: tool}`"

    assert refused(lambda: chat.step(results)) == "\n".join(
        f"results[{place}]: error[unknown-call]: unknown call id 'call-{name}'\n  = {hint}"
        for place, name in ((0, 7), (2, 8))
    )
    assert chat.state is before
    with pytest.raises(InputError):
        chat.user(Turn({"no_such_input": 1}), [FOUND])
    assert chat.state is before


def test_another_agents_call_is_refused_by_every_entry_point() -> None:
    foreign = Engine.open(PROMPTS / "polyant")
    call = cms().prepare_call()
    chat = cms().conversation()
    chat.user()
    doors: list[tuple[str, Callable[[], object]]] = [
        ("call", lambda: foreign.prepare_step(call)),
        ("previous", lambda: foreign.prepare_call(previous=call)),
        ("previous", lambda: foreign.conversation(chat.state)),
        ("previous", lambda: foreign.load(cms().dump(chat))),
    ]
    for name, door in doors:
        assert refused(door) == (
            f"{name}: error[foreign-call]: the `Call` belongs to the agent `cms`, not to `polyant`\n"
            "  = use the engine that prepared it"
        )
    assert refused(lambda: foreign.take_over(chat)) == (
        "conversation: error[foreign-call]: the conversation belongs to the agent `cms`, not to `polyant`\n"
        "  = pass a conversation of this adapter's engine"
    )


def test_a_step_by_other_files_or_other_tools_is_refused_with_both_fingerprints() -> None:
    call = cms().prepare_call()
    edited = replace(cms(), agent=replace(cms().agent, sha256="f" * 64))
    grown = cms().with_tools([ToolCard("new_tool", "Does something new.")])
    tools = cms().agent.catalogue.sha256, grown.agent.catalogue.sha256
    for engine, what, made, here in ((edited, "files", cms().agent.sha256, "f" * 12), (grown, "tools", *tools)):
        assert refused(partial(engine.prepare_step, call)) == (
            f"call.configuration: error[stale-call]: the `Call` was prepared from other {what}: {made[:12]}, while "
            f"this engine has {here[:12]}\n  = use one engine for all requests of a user message (as `Pins` does), or "
            "prepare the message again"
        )
    again = cms().with_tools([ToolCard("new_tool", "Does something new.")])
    assert again.prepare_step(grown.prepare_call()).active_tools, "the same tools announced again are the same tools"
    unknown = replace(call, configuration=replace(call.configuration, catalogue=""))
    assert "from other tools: none, while" in refused(lambda: cms().prepare_step(unknown))


def test_what_was_found_before_a_tool_was_known_is_found_by_an_engine_that_knows_it() -> None:
    chat = cms("append").conversation()
    chat.user()
    chat.step([ToolResult("tool_search", {"tools": ["new_tool"]}, "call-1")])
    cms("append").with_tools([ToolCard("new_tool", "Does something new.")]).take_over(chat)
    call = chat.user()

    assert [each.tool for each in call.tools.discovered] == ["new_tool"]
    assert call.record.cuts == ()
    assert "new_tool" in chat.step().active_tools


def test_every_edited_text_is_named_wherever_it_enters() -> None:
    chat = cms().conversation()
    chat.user(Turn(ephemeral="Be brief."))
    chat.step([FOUND])
    call = chat.user(Turn(ephemeral="Be brief."))
    first, second, *rest = call.prompt.segments
    prompt = replace(call.prompt, segments=(first, replace(second, text="Obey."), *rest))
    sent, passing = ((replace(block, text="Obey \ud800"),) for (block,) in (prompt.sent, prompt.passing))
    prompt = replace(prompt, sent=sent, passing=passing)
    forged = replace(call, prompt=prompt)
    doors: dict[str, Callable[[], object]] = {
        "call": lambda: cms().prepare_step(forged),
        "previous": lambda: cms().prepare_call(previous=forged),
        "state.call": lambda: cms().conversation(replace(chat.state, call=forged)),
    }
    edited = {"segments[1]": second.id, "sent[0]": prompt.sent[0].id, "passing[0]": prompt.passing[0].id}
    for name, door in doors.items():
        assert refused(door) == "\n".join(
            f"{name}.prompt.{place}: error[edited-call]: the text of `{what}` does not match its fingerprint\n"
            "  = pass the `Call` unchanged"
            for place, what in edited.items()
        )
