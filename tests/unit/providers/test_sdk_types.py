"""The bodies have the shapes that the providers' own packages describe; skipped where those are not installed."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import TypeAdapter

from cuecard.adapters import anthropic, openai
from unit.providers.talk import (
    PROFILES,
    Json,
    anthropic_messages,
    chat_messages,
    chat_tools,
    functions,
    response_items,
    schemas,
    two_turns,
)


def lost(adapter: TypeAdapter[Any], value: Json) -> set[str]:
    """Keys that the type does not know; a value that does not fit raises. Lists behind iterators are read too."""
    return set(value) - set(adapter.validate_python(value))


@pytest.mark.parametrize("defer", [False, True])
@pytest.mark.parametrize("name", ["claude-opus-4-8", "claude-sonnet-4-5"])
def test_anthropic_knows_every_part_of_the_body(name: str, defer: bool) -> None:  # noqa: FBT001 - a parameter
    types = pytest.importorskip("anthropic.types", reason="anthropic is not installed")
    create = pytest.importorskip("anthropic.types.message_create_params")
    moment = two_turns()
    body = anthropic.request(
        moment.step, anthropic_messages(moment.events), model=PROFILES.find(name), tools=schemas(), defer=defer
    )

    assert not lost(TypeAdapter(create.MessageCreateParamsNonStreaming), {**body, "max_tokens": 100})
    for message in body["messages"]:
        kind = {"user": types.MessageParam, "assistant": types.MessageParam, "system": create.MessageParam}
        assert not lost(TypeAdapter(kind[message["role"]]), message)
    for block in body["system"]:
        assert not lost(TypeAdapter(types.TextBlockParam), block)
    for tool in body["tools"]:
        assert not lost(TypeAdapter(types.ToolParam), tool)
    for result in body["messages"][2]["content"][:2]:
        known = TypeAdapter(types.ToolResultBlockParam).validate_python(result)
        assert list(known["content"]) == result["content"]


@pytest.mark.parametrize("name", ["gpt-5", "gpt-5.6", "own"])
def test_openai_knows_every_part_of_a_chat_body(name: str) -> None:
    chat = pytest.importorskip("openai.types.chat", reason="openai is not installed")
    create = pytest.importorskip("openai.types.chat.completion_create_params")
    moment = two_turns()
    body = openai.chat_request(moment.step, chat_messages(moment.events), model=PROFILES.find(name), tools=chat_tools())

    assert not lost(TypeAdapter(create.CompletionCreateParamsNonStreaming), body)
    for message in body["messages"]:
        assert not lost(TypeAdapter(chat.ChatCompletionMessageParam), message)
    for part in body["messages"][0]["content"] if name == "gpt-5.6" else ():
        assert not lost(TypeAdapter(chat.ChatCompletionContentPartTextParam), part)


@pytest.mark.parametrize("name", ["gpt-5", "gpt-5.6", "own"])
def test_openai_knows_every_part_of_a_responses_body(name: str) -> None:
    responses = pytest.importorskip("openai.types.responses", reason="openai is not installed")
    create = pytest.importorskip("openai.types.responses.response_create_params")
    moment = two_turns()
    body = openai.responses_request(
        moment.step, response_items(moment.events), model=PROFILES.find(name), tools=functions()
    )

    assert not lost(TypeAdapter(create.ResponseCreateParamsNonStreaming), body)
    for item in body["input"]:
        assert not lost(TypeAdapter(responses.ResponseInputItemParam), item)
    for tool in body["tools"]:
        assert not lost(TypeAdapter(responses.FunctionToolParam), tool)
    for part in body["input"][0]["content"] if name == "gpt-5.6" else ():
        assert not lost(TypeAdapter(responses.ResponseInputTextParam), part)
