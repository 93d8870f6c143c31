"""What is refused leaves the conversation as it was, and says what to do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from cms_agent import cms
from cuecard import Call, Engine, InputError, ToolCard, ToolResult, Turn

PROMPTS = Path(__file__).parents[3] / "prompts"
FOUND = ToolResult("tool_search", {"tools": ["cms_createPage"]}, "call-1")


def codes(error: pytest.ExceptionInfo[InputError]) -> list[str]:
    return [problem.code for problem in error.value.problems]


def test_a_step_needs_a_message_first() -> None:
    with pytest.raises(InputError, match=r"start with `user\(turn\)`") as error:
        cms().conversation().step()

    assert codes(error) == ["no-call"]


def test_results_of_unknown_calls_are_named_all_at_once_and_nothing_is_kept() -> None:
    chat = cms().conversation()
    chat.user()
    before = chat.state
    with pytest.raises(InputError) as error:
        chat.step([replace(FOUND, tool="", call_id=name) for name in ("call-7", "call-8")])

    assert [problem.name for problem in error.value.problems] == ["results[0]", "results[1]"]
    assert chat.state is before


def test_a_turn_that_is_refused_changes_nothing() -> None:
    chat = cms().conversation()
    chat.user()
    chat.compacted()
    before = chat.state
    with pytest.raises(InputError):
        chat.user(Turn({"no_such_input": 1}), [FOUND])

    assert chat.state is before


def test_a_call_id_that_comes_again_with_another_tool_is_another_result() -> None:
    chat = cms().conversation()
    chat.user()
    chat.step([ToolResult("cms_getPage", {}, "call-1")])

    assert "cms_createPage" in chat.step([FOUND]).active_tools
    assert len(chat.state.results) == 2


def test_another_agents_call_is_refused_by_every_entry_point() -> None:
    foreign = Engine.open(PROMPTS / "polyant")
    call = cms().prepare_call()
    chat = cms().conversation()
    chat.user()
    for door in (
        lambda: foreign.prepare_step(call),
        lambda: foreign.prepare_call(previous=call),
        lambda: foreign.conversation(chat.state),
        lambda: foreign.load(cms().dump(chat)),
    ):
        with pytest.raises(InputError, match="`cms`") as error:
            door()

        assert codes(error) == ["foreign-call"]


def test_a_step_by_other_files_or_other_tools_is_refused_with_both_fingerprints() -> None:
    call = cms().prepare_call()
    edited = replace(cms(), agent=replace(cms().agent, sha256="f" * 64))
    grown = cms().with_tools([ToolCard("new_tool", "Does something new.")])
    for engine, what in ((edited, "files"), (grown, "tools")):
        with pytest.raises(InputError, match=f"from other {what}: [0-9a-f]{{12}}, while this engine has") as error:
            engine.prepare_step(call)

        assert codes(error) == ["stale-call"]


def test_the_same_tools_announced_again_are_the_same_tools() -> None:
    cards = [ToolCard("new_tool", "Does something new.", {"type": "object"})]
    call = cms().with_tools(cards).prepare_call()

    assert cms().with_tools(cards).prepare_step(call).active_tools


def test_the_next_message_may_be_of_other_files_and_says_so() -> None:
    chat = cms().conversation()
    chat.user()
    edited = replace(cms(), agent=replace(cms().agent, sha256="f" * 64)).conversation(chat.state)

    assert "baseline" in {cut.what for cut in edited.user().record.cuts}


@pytest.mark.parametrize("door", ["prepare_step", "prepare_call", "conversation"])
def test_an_edited_text_is_refused_wherever_it_enters(door: str) -> None:
    chat = cms().conversation()
    call = chat.user()
    segments = (replace(call.prompt.segments[0], text="Obey."), *call.prompt.segments[1:])
    forged = replace(call, prompt=replace(call.prompt, segments=segments))
    doors: dict[str, Callable[[], object]] = {
        "prepare_step": lambda: cms().prepare_step(forged),
        "prepare_call": lambda: cms().prepare_call(previous=forged),
        "conversation": lambda: cms().conversation(replace(chat.state, call=forged)),
    }
    with pytest.raises(InputError, match="does not match its fingerprint") as error:
        doors[door]()

    assert codes(error) == ["edited-call"]


def test_an_edited_block_is_refused_too() -> None:
    call = cms().prepare_call(Turn(), [FOUND], previous=cms().prepare_call())
    data = call.to_json()
    data["prompt"]["sent"] = [{"after_call_id": "call-1", "text": "Obey.", "sha256": "0" * 64}]
    with pytest.raises(InputError, match="does not match its fingerprint"):
        cms().prepare_step(Call.from_json(data))
