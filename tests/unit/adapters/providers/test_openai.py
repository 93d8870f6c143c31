"""Request bodies for OpenAI: roles, places, keys and explicit breakpoints."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cuecard import Engine, ToolResult, Turn
from cuecard.adapters.bodies import reminder
from cuecard.adapters.openai import chat_request, responses_request
from cuecard.types import Delivery
from unit.adapters.providers.talk import PROFILES, chat_messages, chat_tools, functions, response_items, two_turns
from unit.agent.section_lists.agents import TOOLS, opened

GPT, GPT_56, UNKNOWN = (PROFILES.find(name) for name in ("gpt-5", "gpt-5.6", "own"))


def test_chat_puts_developer_messages_after_the_last_output_of_the_batch() -> None:
    moment = two_turns()
    messages = chat_request(moment.step, chat_messages(moment.events), model=GPT)["messages"]
    blocks = [m["content"] for m in messages[1:] if m["role"] == "developer"]
    roles = [m["role"] for m in messages]
    found = ["developer"] * (len(blocks) - 1)

    assert roles == ["developer", "user", "assistant", "tool", "tool", *found, "assistant", "user", "developer"]
    assert blocks == [block.text for block in moment.step.appended]
    assert messages[0]["content"] == moment.step.system


def test_responses_puts_developer_items_after_the_last_output_of_the_batch() -> None:
    moment = two_turns()
    body = responses_request(moment.step, response_items(moment.events), model=GPT)
    kinds = [item.get("role") or item["type"] for item in body["input"]]
    found = ["developer"] * (len(moment.step.appended) - 1)
    calls = ["function_call"] * 2 + ["function_call_output"] * 2

    assert kinds == ["user", *calls, *found, "assistant", "user", "developer"]
    assert body["instructions"] == moment.step.system


def test_a_host_that_knows_only_system_messages_gets_those() -> None:
    moment = two_turns()
    profile = replace(GPT, mid_conversation="system")
    messages = chat_request(moment.step, chat_messages(moment.events), model=profile)["messages"]

    assert {m["role"] for m in messages} == {"system", "user", "assistant", "tool"}


def test_an_unknown_model_gets_reminders_in_the_user_role() -> None:
    moment = two_turns()
    messages = chat_request(moment.step, chat_messages(moment.events), model=UNKNOWN)["messages"]

    assert messages[0]["role"] == "system"
    assert messages[-1] == {"role": "user", "content": reminder(moment.step.appended[-1].text)}


def test_a_model_with_explicit_breakpoints_gets_them_after_the_static_part_and_the_system() -> None:
    moment = two_turns()
    explicit = {"prompt_cache_breakpoint": {"mode": "explicit"}}
    body = responses_request(moment.step, response_items(moment.events), model=GPT_56, tools=functions())
    chat = chat_request(moment.step, chat_messages(moment.events), model=GPT_56, tools=chat_tools())
    items, parts = body["input"][0]["content"], chat["messages"][0]["content"]

    assert "instructions" not in body
    assert [item["type"] for item in items] == ["input_text"] * 2
    assert [part["type"] for part in parts] == ["text"] * 2
    for pieces in (items, parts):
        assert "".join(piece["text"] for piece in pieces) == moment.step.system
        assert all(explicit.items() <= piece.items() for piece in pieces)


def test_below_the_minimum_the_system_prompt_is_one_text() -> None:
    moment = two_turns()
    large = replace(GPT_56, min_cache_tokens=100_000)

    assert responses_request(moment.step, [{"role": "user", "content": "a"}], model=large)["instructions"]
    assert chat_request(moment.step, [{"role": "user", "content": "a"}], model=large)["messages"][0] == {
        "role": "developer",
        "content": moment.step.system,
    }


SHOP = """agent: shop
inputs: {event: {default: "", lifetime: turn}}
tools: {instructions: tools.yaml}
sections:
- {id: role, text: You are the assistant of a shop.}
- {id: event, text: "{{{event}}}"}
- {id: instructions, text: "{{{activeProtocols}}}"}
"""


@pytest.mark.parametrize("marks", [False, True])
@pytest.mark.parametrize("delivery", ["append", "rewrite"])
def test_a_host_that_stores_what_was_sent_sends_one_prompt(tmp_path: Path, delivery: Delivery, *, marks: bool) -> None:
    """Also where the prompt is another one with each request, and has texts of one turn."""
    engine, profile = opened(tmp_path, SHOP, delivery=delivery, tools_yaml=TOOLS), replace(GPT_56, min_cache_tokens=1)
    for make, part in ((chat_request, "messages"), (responses_request, "input")):
        if make is responses_request and not marks:
            continue  # the prompt has a place of its own there
        chat, stored = engine.conversation(), list[Any]()
        for turn, result in enumerate(([ToolResult("tool_search", {"tools": ["get_page"]}, None)], [])):
            stored.append({"role": "user", "content": f"message {turn}"})
            chat.user(Turn({"event": f"EVENT {turn}"}))
            for results in ([], result):
                body = make(chat.step(results), stored, model=profile if marks else GPT)
                stored = [*body[part]]
                sent = str(stored)
                assert [sent.count(each) for each in ("assistant of", f"EVENT {turn}", "EVENT")] == [1, 1, 1]
                assert stored[-1] != stored[0]
            stored.append({"role": "assistant", "content": "done"})
        assert sent.count("<get_page>") == 1


def test_an_earlier_prompt_is_known_where_sections_stand_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "agent.xml").write_text(
        "<a><role>You are the assistant of a shop.</role><event>{{{event}}}</event></a>"
    )
    (tmp_path / "agent.yaml").write_text("agent: shop\ninputs: {event: {default: ''}}\ntemplate: agent.xml\n")
    chat, stored = Engine.open(tmp_path).conversation(), list[Any]()
    for event in ("ONE", "TWO"):
        chat.user(Turn({"event": event}, delivery="rewrite"))
        stored = [*chat_request(chat.step(), [*stored, {"role": "user", "content": "hi"}], model=GPT)["messages"]]

    assert [each["role"] for each in stored] == ["developer", "user", "user"]


def test_what_only_resembles_a_prompt_that_was_stored_stays(tmp_path: Path) -> None:
    chat = opened(tmp_path, SHOP, tools_yaml=TOOLS).conversation()
    chat.user(Turn())
    own = ("You are the assistant of a shop. Sell nothing to children.", "You are")
    said = [{"role": "system", "content": text} for text in own] + [{"role": "user", "content": chat.step().system}]

    assert chat_request(chat.step(), said, model=UNKNOWN)["messages"][1:] == said


def test_core_tools_come_first_in_both_forms() -> None:
    moment = two_turns()
    core = ["tool_search", "final_answer", "acknowledge"]
    responses = responses_request(moment.step, response_items(moment.events), model=GPT, tools=functions())
    chat = chat_request(moment.step, chat_messages(moment.events), model=GPT, tools=chat_tools())

    assert [tool["name"] for tool in responses["tools"]][:3] == core
    assert [tool["function"]["name"] for tool in chat["tools"]][:3] == core
