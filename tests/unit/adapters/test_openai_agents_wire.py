"""What OpenAI gets from agents of the OpenAI Agents SDK: bytes that the real client sent, and what is cached."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import httpx2
import pytest
from agents import (
    Agent,
    FunctionTool,
    Model,
    OpenAIChatCompletionsModel,
    OpenAIResponsesModel,
    RunConfig,
    Runner,
    SQLiteSession,
    Tool,
)
from openai import AsyncOpenAI

from cms_agent import cms as engine
from cuecard import Call, Turn
from cuecard.adapters.openai_agents import Cuecard
from unit.adapters.model_server import Calls, Json, ToLoopback, model_server

pytestmark = pytest.mark.repeats

ROOT = Path(__file__).parents[3]
NOW = datetime(2026, 11, 20, tzinfo=UTC)
QUIET = RunConfig(tracing_disabled=True)
PAGES: Json = {"query": "create an empty page", "limit": 1}
IMAGES: Json = {"query": "search images", "limit": 1}
TALK: list[Calls] = [
    [("tool_search", PAGES)],
    [("cms_createPage", {})],
    [],
    [("tool_search", IMAGES), ("cms_listPages", {})],
    [("cms_searchImages", {})],
]


def tool(name: str) -> Tool:
    async def call(_context: Any, _arguments: str) -> Json:
        return {"ok": name}

    schema = {"type": "object", "properties": {}, "additionalProperties": False}
    return FunctionTool(name, f"{name} of the host", schema, call)


@cache
def talk(
    model: str, *, official: bool = True, streamed: bool = False, chat: bool = False
) -> tuple[list[Json], list[Call]]:
    """What is sent in two runs of a session, the conversation stored in between."""
    calls = list[Call]()
    with model_server(TALK) as server:

        async def say(words: str, stored: str, session: SQLiteSession) -> str:
            client = AsyncOpenAI(
                api_key="k",
                base_url="https://api.openai.com/v1" if official else f"{server.url}/v1",
                http_client=httpx2.AsyncClient(transport=ToLoopback(server.url)),
            )
            kind = OpenAIChatCompletionsModel if chat else OpenAIResponsesModel
            made: Model = kind(model, client)
            card = Cuecard(engine(), on_call=calls.append)
            names = ("cms_createPage", "cms_searchImages", "cms_listPages")
            agent: Agent[Any] = Agent("cms", model=made, tools=card.tools([tool(name) for name in names]))
            conversation = engine().load(stored) if stored else engine().conversation()
            options = card.options(Turn(now=NOW), conversation, config=QUIET)
            async with client:
                if streamed:
                    result = Runner.run_streamed(agent, words, session=session, **options)
                    _ = [event async for event in result.stream_events()]
                else:
                    await Runner.run(agent, words, session=session, **options)
            return engine().dump(conversation)

        with_session = SQLiteSession("talk")
        stored = asyncio.run(say("Create a page", "", with_session))
        asyncio.run(say("Now an image", stored, with_session))
        with_session.close()
        return server.sent, calls


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
def test_each_request_to_responses_begins_with_the_one_before_so_that_it_is_read_from_the_cache(streamed: bool) -> None:  # noqa: FBT001 - a parameter of the test
    sent, _ = talk("gpt-5.4", streamed=streamed)

    assert len(sent) == 6
    for shorter, longer in pairwise(sent):
        assert longer["instructions"] == shorter["instructions"]
        assert json.dumps(longer["tools"]) == json.dumps(shorter["tools"])
        assert longer["input"][: len(shorter["input"])] == shorter["input"]
    assert "<cms_createPage>" in str(sent[1]["input"][-1])
    assert len({body.get("prompt_cache_key") for body in sent}) == 1
    assert sent[0]["prompt_cache_key"]
    assert sent == [{**body, **({"stream": True} if streamed else {})} for body in talk("gpt-5.4")[0]]


def test_blocks_have_the_role_that_openai_leaves_in_its_place_and_the_manifest_says_so() -> None:
    sent, calls = talk("gpt-5.4")

    assert sent[1]["input"][-1]["role"] == "developer"
    assert {(c.delivery.model, c.delivery.authority, c.delivery.endpoint) for c in calls} == {
        ("gpt-5.4", "developer", "api.openai.com/v1")
    }


@pytest.mark.parametrize("chat", [False, True], ids=["responses", "chat"])
def test_behind_an_address_that_nobody_knows_blocks_are_reminders_of_the_user(chat: bool) -> None:  # noqa: FBT001 - the same
    sent, calls = talk("gpt-5.4", official=False, chat=chat)

    block = sent[1]["messages" if chat else "input"][-1]
    assert block["role"] == "user"
    assert block["content"].startswith("<system-reminder>")
    assert {call.delivery.authority for call in calls} == {"user"}


def test_chat_completions_are_sent_the_same_prefix() -> None:
    sent, _ = talk("gpt-5.4", chat=True)

    assert [message["role"] for message in sent[1]["messages"]] == ["system", "user", "assistant", "tool", "developer"]
    for shorter, longer in pairwise(sent):
        assert json.dumps(longer["tools"]) == json.dumps(shorter["tools"])
        assert longer["messages"][: len(shorter["messages"])] == shorter["messages"]


def test_the_working_memory_and_what_was_found_travel_to_another_process_with_the_conversation() -> None:
    _, calls = talk("gpt-5.4")

    assert [call.turn for call in calls] == [0, 1]
    assert [each.tool for each in calls[1].tools.discovered] == ["cms_createPage"]
