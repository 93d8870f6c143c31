"""What Anthropic gets from a LangChain agent with the `Cuecard` middleware: bytes that the real client sent."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache
from itertools import pairwise
from typing import Any

import anthropic
import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware, ClearToolUsesEdit, ContextEditingMiddleware, ModelRequest
from langchain_anthropic import ChatAnthropic
from langchain_core.messages import HumanMessage
from langchain_core.tools import StructuredTool
from langgraph.checkpoint.memory import InMemorySaver
from typing_extensions import override

from cms_agent import cms as engine
from cuecard import Call, InputError, Problem, Turn
from cuecard.adapters.langchain import Cuecard
from cuecard.types import Delivery
from property.cue_times import timed
from unit.adapters.model_server import Calls, Json, model_server

pytestmark = pytest.mark.repeats

NOW = datetime(2026, 11, 20, tzinfo=UTC)
NAMES = ("cms_createPage", "cms_searchImages", "cms_listPages")
PAGES: Json = {"query": "create an empty page", "limit": 1}
IMAGES: Json = {"query": "search images", "limit": 1}
TALK: list[Calls] = [
    [("tool_search", PAGES)],
    [("cms_createPage", {})],
    [],
    [("tool_search", IMAGES), ("cms_createPage", {})],
    [("cms_searchImages", {})],
]
OPUS, SONNET = "claude-opus-4-8", "claude-sonnet-4-6"


def host_tool(name: str) -> StructuredTool:
    def call() -> Json:
        return {"success": True, "page": {"id": "page-1", "title": "About"}}

    return StructuredTool.from_function(call, name=name, description=f"{name} of the host")


def model_at(name: str, url: str, *, gateway: bool) -> ChatAnthropic:
    """A model at Anthropic's own address, or at a gateway's; either way its requests arrive on this machine."""
    address = url if gateway else "https://api.anthropic.com"
    model = ChatAnthropic(model=name, api_key="k", base_url=address, max_tokens=100)
    if not gateway:  # the property in which the model keeps its client
        vars(model)["_client"] = anthropic.Anthropic(api_key="k", base_url=url)
    return model


def talk(
    name: str, *, gateway: bool = False, delivery: Delivery = "append",
    words: Sequence[str] = ("make a page", "and an image"), behind: Sequence[Any] = (),
    **options: Any,
) -> list[Json]:  # fmt: skip
    with model_server(TALK) as server:
        card = Cuecard(**{"engine": engine(delivery), "turn": Turn(now=NOW), **options})
        agent: Any = create_agent(
            model_at(name, server.url, gateway=gateway),
            tools=[host_tool(each) for each in NAMES],
            middleware=[card, *behind],
            checkpointer=InMemorySaver(),
        )
        for said in words:
            agent.invoke({"messages": [HumanMessage(said)]}, THREAD)
        return server.sent


plain = cache(talk)
"""For tests that read the same conversation."""


THREAD: Json = {"configurable": {"thread_id": "one"}}


def without_breakpoints(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: without_breakpoints(held) for key, held in value.items() if key != "cache_control"}
    return [without_breakpoints(each) for each in value] if isinstance(value, list) else value


def roles(body: Json) -> list[str]:
    return [message["role"] for message in body["messages"]]


def text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


@pytest.mark.parametrize("name", [OPUS, SONNET])
def test_every_request_begins_with_the_one_before_and_its_tools_never_change(name: str) -> None:
    sent = plain(name, gateway=False)

    assert len(sent) == 6
    for before, after in pairwise(sent):
        assert after["tools"] == before["tools"]
        assert after["system"] == before["system"]
        shorter, longer = (without_breakpoints(body["messages"]) for body in (before, after))
        assert longer[: len(shorter)] == shorter


def test_definitions_are_deferred_and_revealed_in_the_search_result_that_names_them() -> None:
    sent = plain(OPUS, gateway=False)

    assert [(tool["name"], tool.get("defer_loading", False)) for tool in sent[0]["tools"]] == [
        ("tool_search", False), ("cms_createPage", True), ("cms_listPages", True), ("cms_searchImages", True),
    ]  # fmt: skip
    (found,) = sent[1]["messages"][2]["content"]
    assert found["type"] == "tool_result"
    assert [part["type"] for part in found["content"]] == ["text", "tool_reference"]
    assert found["content"][1] == {"type": "tool_reference", "tool_name": "cms_createPage"}


def test_a_middleware_behind_the_card_that_takes_a_definition_out_is_an_error_that_names_it() -> None:
    clearing = ContextEditingMiddleware(edits=[ClearToolUsesEdit(trigger=1, keep=0)])
    with pytest.raises(InputError) as caught:
        talk(OPUS, behind=[clearing])

    told = "a middleware behind `Cuecard` takes the definition of `cms_createPage` out of the messages"
    hint = "name those that change messages in front of it: middleware=[Trimming(), Cuecard(...), Permission()]"
    assert caught.value.problems == (Problem("wrong-argument", told, hint, "middleware"),)
    assert talk(OPUS, behind=[Copying()]) == plain(OPUS, gateway=False)


class Copying(AgentMiddleware[Any, Any, Any]):
    """Changes messages, and takes nothing out of them."""

    @override
    def wrap_model_call(self, request: ModelRequest[Any], handler: Any) -> Any:
        return handler(request.override(messages=[*request.messages]))


def test_blocks_have_the_role_of_the_system_where_it_is_heeded() -> None:
    sent = plain(OPUS, gateway=False)

    assert roles(sent[1]) == ["user", "assistant", "user", "system"]
    assert "<cms_createPage>" in text(sent[1]["messages"][3])
    assert roles(sent[3])[-2:] == ["user", "system"]
    assert "page-1" in text(sent[3]["messages"][-1])


@pytest.mark.parametrize(("name", "gateway"), [(SONNET, False), (OPUS, True)])
def test_elsewhere_blocks_are_reminders_in_the_turn_of_the_user(name: str, *, gateway: bool) -> None:
    calls: list[Call] = []

    sent = talk(name, gateway=gateway, on_call=calls.append)

    assert roles(sent[1]) == ["user", "assistant", "user"]
    result, block = sent[1]["messages"][2]["content"]
    assert (result["type"], block["type"]) == ("tool_result", "text")
    assert block["text"].startswith("<system-reminder>\n<tool-usage-instructions>")
    assert {call.delivery.authority for call in calls} == {"user"}


def test_the_manifest_names_the_model_and_its_endpoint() -> None:
    calls: list[Call] = []

    talk(OPUS, on_call=calls.append)

    told = calls[0].delivery
    assert (told.model, told.endpoint, told.authority) == (OPUS, "api.anthropic.com", "system")


def breakpoints(body: Json) -> list[str]:
    held = [("system", block) for block in body["system"]] + [("tools", tool) for tool in body["tools"]]
    held += [("messages", block) for m in body["messages"] if isinstance(m["content"], list) for block in m["content"]]
    return [
        *(place for place, block in held if "cache_control" in block),
        *(["body"] if "cache_control" in body else []),
    ]


def test_breakpoints_appear_where_they_pay_and_are_four_at_most() -> None:
    for body in plain(SONNET, gateway=False):
        assert breakpoints(body)[-1] == "body"
        assert 1 <= len(breakpoints(body)) <= 4


def test_the_longer_lifetime_and_no_caching() -> None:
    assert talk(OPUS, words=["hello"], cache="1h")[0]["cache_control"] == {"type": "ephemeral", "ttl": "1h"}
    assert "cache_control" not in text(talk(OPUS, words=["hello"], cache=None))


def test_rewrite_sends_active_tools_and_defers_nothing() -> None:
    sent = talk(OPUS, delivery="rewrite")

    assert [[tool["name"] for tool in body["tools"]] for body in sent[:2]] == [
        ["tool_search"],
        ["tool_search", "cms_createPage"],
    ]
    assert "defer_loading" not in text(sent)
    assert "tool_reference" not in text(sent)


def test_a_tool_that_a_message_brings_is_revealed_by_the_first_result_after_it() -> None:
    turns = iter([Turn(now=NOW), Turn(now=NOW, ahead=("cms_listPages",))])
    sent = talk(OPUS, turn=lambda _: next(turns))

    for before, after in pairwise(sent):
        assert after["tools"] == before["tools"]
        shorter, longer = (without_breakpoints(body["messages"]) for body in (before, after))
        assert longer[: len(shorter)] == shorter
    holding = [
        (place, part["tool_name"])
        for place, message in enumerate(sent[-1]["messages"])
        if isinstance(message["content"], list)
        for block in message["content"]
        if isinstance(block.get("content"), list)
        for part in block["content"]
        if part["type"] == "tool_reference"
    ]
    second = [place for place, message in enumerate(sent[-1]["messages"]) if "and an image" in text(message)]
    assert [tool for _, tool in holding] == ["cms_createPage", "cms_searchImages", "cms_listPages"]
    assert next(place for place, tool in holding if tool == "cms_listPages") > second[0]


def test_an_agent_that_looks_ahead_defers_nothing_since_no_message_could_add_a_tool() -> None:
    sent = talk(OPUS, engine=replace(engine(), agent=timed()))

    assert "defer_loading" not in text(sent)
    assert "tool_reference" not in text(sent)
    assert len({text(body["tools"]) for body in sent}) == 1
