"""The bodies have the shapes that the providers' own packages describe; skipped where those are not installed."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest
from pydantic import TypeAdapter

from cuecard.adapters import anthropic, openai
from unit.adapters.providers.talk import (
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


@cache
def adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def known(kind: Any, value: Json) -> Any:
    """What of a value the type knows; a value that does not fit raises."""
    return drained(adapter(kind).validate_python(value))


def drained(value: Any) -> Any:
    """Plain lists: what is behind an `Iterable` is validated only when it is read."""
    if isinstance(value, dict):
        return {key: drained(item) for key, item in value.items()}
    return value if isinstance(value, (str, int)) or value is None else [drained(item) for item in value]


@pytest.mark.parametrize("defer", [False, True], ids=["loaded", "deferred"])
@pytest.mark.parametrize("name", ["claude-opus-4-8", "claude-sonnet-5"])
def test_anthropic_knows_every_part_of_the_body(name: str, *, defer: bool) -> None:
    create = pytest.importorskip("anthropic.types.message_create_params", reason="anthropic is not installed")
    moment, profile = two_turns(), PROFILES.find(name)
    messages = anthropic_messages(moment.events)
    body = {**anthropic.request(moment.step, messages, model=profile, tools=schemas(), defer=defer), "max_tokens": 9}

    assert known(create.MessageCreateParamsNonStreaming, body) == body


@pytest.mark.parametrize("name", ["gpt-5", "gpt-5.6", "own"])
def test_openai_knows_every_part_of_a_chat_body(name: str) -> None:
    create = pytest.importorskip("openai.types.chat.completion_create_params", reason="openai is not installed")
    moment, profile = two_turns(), PROFILES.find(name)
    body = openai.chat_request(moment.step, chat_messages(moment.events), model=profile, tools=chat_tools())

    assert known(create.CompletionCreateParamsNonStreaming, body) == body


@pytest.mark.parametrize("name", ["gpt-5", "gpt-5.6", "own"])
def test_openai_knows_every_part_of_a_responses_body(name: str) -> None:
    create = pytest.importorskip("openai.types.responses.response_create_params", reason="openai is not installed")
    moment, profile = two_turns(), PROFILES.find(name)
    body = openai.responses_request(moment.step, response_items(moment.events), model=profile, tools=functions())

    assert known(create.ResponseCreateParamsNonStreaming, body) == body
