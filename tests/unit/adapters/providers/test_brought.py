"""Tools that no search result names come append-only, too: Claude's `tool_addition`, and OpenAI's items."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any

import pytest

from cuecard import InputError
from cuecard.adapters import anthropic, openai
from cuecard.adapters.openai_tools import additional_tools, client_tool_search
from property.hosts import Json, anthropic_messages, bare, items
from unit.adapters.providers.brought import AHEAD, BROUGHT, ENGINE, EVERY, LATER, NAMED, PLAIN, SEARCHED, requests
from unit.adapters.providers.loopback import loopback

SCHEMAS = [{"name": name, "input_schema": {"type": "object"}} for name in EVERY]
FUNCTIONS: list[Json] = [
    {"type": "function", "name": name, "description": f"Does {name}.", "parameters": {"type": "object"}}
    for name in EVERY
]
OWN: Json = {"type": "function", "name": "mine", "parameters": {"type": "object"}}
MERGED = pytest.mark.parametrize("merged", [True, False], ids=["merged", "apart"])


def claude(model: str, *, merged: bool) -> list[Json]:
    make = partial(anthropic.request, model=model, tools=SCHEMAS, defer=True)
    bodies = []
    for step, said in requests():
        bodies.append(make(step, anthropic_messages(said, merged=merged)))
        assert bare(make(step, bodies[-1]["messages"])) == bare(bodies[-1])
    return [bare(body) for body in bodies]


def grows(bodies: list[Json], key: str) -> None:
    """Nothing that was sent is another one in the next request."""
    for before, after in pairwise(bodies):
        head = {name: value for name, value in before.items() if name != key}
        assert {name: value for name, value in after.items() if name != key} == head
        assert json.dumps(after[key])[:-1].startswith(json.dumps(before[key])[:-1])


def added(body: Json) -> dict[str, int]:
    """The tools that are added, each with how many messages of the user stand before."""
    found: dict[str, int] = {}
    asked = -1
    for message in body["messages"]:
        results = any(block["type"] == "tool_result" for block in message["content"])
        asked += message["role"] == "user" and not results
        for block in message["content"]:
            if block["type"] == "tool_addition":
                assert message["role"] == "system"
                assert block["tool"]["name"] not in found
                found[block["tool"]["name"]] = asked
    return found


@MERGED
@pytest.mark.parametrize("model", ["claude-opus-4-8", "claude-opus-5-5", "claude-haiku-5-5", "claude-sonnet-5-5"])
def test_claude_is_given_what_a_message_brings_after_that_message(model: str, *, merged: bool) -> None:
    bodies = claude(model, merged=merged)

    grows(bodies, "messages")
    assert added(bodies[-1]) == BROUGHT
    assert requests()[-1][0].brought == BROUGHT
    assert {tool["name"] for tool in bodies[0]["tools"] if tool.get("defer_loading")} == {*BROUGHT, SEARCHED}
    assert referenced(bodies[-1]) == [SEARCHED]


def referenced(body: Json) -> list[str]:
    results = [b for m in body["messages"] for b in m["content"] if b["type"] == "tool_result"]
    parts = [part for result in results for part in result["content"] if isinstance(part, dict)]
    return [part["tool_name"] for part in parts if part["type"] == "tool_reference"]


NO_ADDITIONS = pytest.mark.parametrize(
    ("model", "base_url"),
    [("claude-sonnet-5", ""), ("claude-sonnet-4-6", ""), ("claude-opus-5", "https://gate.example")],
)


@MERGED
@NO_ADDITIONS
def test_where_nothing_can_be_added_the_first_result_after_a_message_reveals_what_it_brought(
    model: str, base_url: str, *, merged: bool
) -> None:
    make = partial(anthropic.request, model=model, tools=SCHEMAS, defer=True, base_url=base_url)
    bodies = []
    for step, said in requests():
        bodies.append(make(step, anthropic_messages(said, merged=merged)))
        assert bare(make(step, bodies[-1]["messages"])) == bare(bodies[-1])

    grows([bare(body) for body in bodies], "messages")
    assert added(bodies[-1]) == {}
    assert {tool["name"] for tool in bodies[0]["tools"] if tool.get("defer_loading")} == {*BROUGHT, SEARCHED}
    results = [b for m in bodies[-1]["messages"] for b in m["content"] if b["type"] == "tool_result"]
    shown = {b["tool_use_id"]: [part["tool_name"] for part in b["content"] if "tool_name" in part] for b in results}
    assert {call: {*tools} for call, tools in shown.items()} == {
        "c1": {AHEAD, SEARCHED},
        "c2": set(),
        "c3": {NAMED, PLAIN, LATER},
    }


@pytest.mark.parametrize("model", ["claude-sonnet-5", "claude-opus-5"])
def test_an_error_reveals_nothing_since_it_may_hold_only_text(model: str) -> None:
    step, said = requests()[1]
    messages = anthropic_messages(said)
    messages[-1]["content"][0]["is_error"] = True
    body = anthropic.request(step, messages, model=model, tools=SCHEMAS, defer=True)

    (result,) = (b for m in body["messages"] for b in m["content"] if b.get("is_error"))
    assert isinstance(result["content"], str) or {part["type"] for part in result["content"]} == {"text"}


@NO_ADDITIONS
def test_where_nothing_can_be_added_and_the_agent_looks_ahead_every_definition_is_loaded(
    model: str, base_url: str
) -> None:
    step, said = requests()[0]
    step = replace(step, looks_ahead=True)
    body = anthropic.request(step, anthropic_messages(said), model=model, tools=SCHEMAS, defer=True, base_url=base_url)

    assert not any("defer_loading" in tool for tool in body["tools"])


def test_a_reference_whose_result_the_host_has_dropped_becomes_an_addition_and_the_front_stays() -> None:
    step, said = requests()[-1]
    whole, window = (
        anthropic.request(step, anthropic_messages(m), model="claude-opus-5", tools=SCHEMAS, defer=True)
        for m in (said, said[-4:])
    )

    assert (whole["tools"], bare(whole["system"])) == (window["tools"], bare(window["system"]))
    assert {*added(window)} == {*BROUGHT, SEARCHED}
    assert referenced(window) == []


def test_the_beta_client_of_anthropic_knows_and_sends_additions() -> None:
    sdk = pytest.importorskip("anthropic", reason="anthropic is not installed")
    create = pytest.importorskip("anthropic.types.anthropic_beta_param", reason="anthropic is not installed")
    step, said = requests()[-1]
    body = anthropic.request(step, anthropic_messages(said), model="claude-opus-5", tools=SCHEMAS, defer=True)
    known = sdk.types.beta.BetaRequestToolAdditionBlockParam.__annotations__
    with loopback() as server, sdk.Anthropic(api_key="k", base_url=server.url, max_retries=0) as client:
        client.beta.messages.create(**body, max_tokens=64, betas=[anthropic.TOOL_CHANGES_BETA])
        sent = json.loads(server.bodies[-1])

    assert added(sent) == BROUGHT
    assert anthropic.TOOL_CHANGES_BETA in str(create.AnthropicBetaParam)
    blocks = [b for m in sent["messages"] for b in m["content"] if b["type"] == "tool_addition"]
    assert all(block.keys() <= known.keys() for block in blocks)


def openai_bodies(place: Any, host: Any) -> list[Json]:
    bodies = []
    for step, said in requests():
        front, placed = place([*FUNCTIONS, OWN], host(said), step, also=["mine"])
        assert place([*FUNCTIONS, OWN], placed, step, also=["mine"]) == (front, placed)
        bodies.append(openai.responses_request(step, placed, model="gpt-5.6", tools=front))
        again = place([*FUNCTIONS, OWN], bodies[-1]["input"], step, also=["mine"])
        assert openai.responses_request(step, again[1], model="gpt-5.6", tools=again[0]) == bodies[-1]
    return bodies


def defined(body: Json, kind: str) -> list[str]:
    return [tool["name"] for item in body["input"] if item.get("type") == kind for tool in item["tools"]]


def test_openai_is_given_definitions_after_what_brought_the_tools_and_keeps_those_of_withdrawn_ones() -> None:
    bodies = openai_bodies(additional_tools, items)

    grows(bodies, "input")
    assert sorted(defined(bodies[-1], "additional_tools")) == sorted({*BROUGHT, SEARCHED})
    assert {tool["name"] for tool in bodies[0]["tools"]} == {*ENGINE.core_tools, "mine"}


def test_definitions_stand_in_front_of_blocks_which_may_come_later() -> None:
    told: Json = {"role": "developer", "content": "<block>"}
    step, said = requests()[1]
    front, placed = additional_tools(FUNCTIONS, items(said), step)
    body = openai.responses_request(step, placed, model="gpt-5.6", tools=front)
    kinds = [item.get("type", item.get("role")) for item in body["input"]]

    assert kinds.index("function_call_output") + 1 == len(kinds) - 1 - kinds[::-1].index("additional_tools")
    assert kinds[-1] == told["role"]


def searching(said: Any) -> list[Json]:
    """The conversation of a host that executes the provider's tool search itself."""
    told: Json = {"execution": "client", "status": "completed"}
    searched: dict[str, Json] = {
        "function_call": {"type": "tool_search_call", "call_id": "c1", "arguments": {"query": "x"}, **told},
        "function_call_output": {"type": "tool_search_output", "call_id": "c1", "tools": [], **told},
    }
    return [searched[item["type"]] if item.get("call_id") == "c1" else item for item in items(said)]


def test_a_search_that_the_host_executes_answers_with_the_definitions_of_what_it_found() -> None:
    bodies = openai_bodies(client_tool_search, searching)
    search = next(tool for tool in bodies[0]["tools"] if tool["type"] == "tool_search")

    grows(bodies, "input")
    assert search == {
        "type": "tool_search",
        "execution": "client",
        "description": "Does tool_search.",
        "parameters": {"type": "object"},
    }
    assert defined(bodies[-1], "tool_search_output") == [SEARCHED]
    assert sorted(defined(bodies[-1], "additional_tools")) == sorted(BROUGHT)
    (output,) = (item for item in bodies[-1]["input"] if item.get("type") == "tool_search_output")
    assert output["tools"][0]["defer_loading"] is True
    (told,) = (block.text for block in requests()[1][0].appended if block.after_call_id == "c1")
    assert bodies[1]["input"][-1]["content"] == told


def test_the_client_of_openai_knows_and_sends_a_search_of_the_host() -> None:
    sdk = pytest.importorskip("openai", reason="openai is not installed")
    types = pytest.importorskip("openai.types.responses", reason="openai is not installed")
    body = openai_bodies(client_tool_search, searching)[-1]
    with loopback() as server, sdk.OpenAI(api_key="k", base_url=f"{server.url}/v1", max_retries=0) as client:
        client.responses.create(**body)
        sent = json.loads(server.bodies[-1])

    assert sent == body
    (output,) = (item for item in sent["input"] if item.get("type") == "tool_search_output")
    read = types.response_tool_search_output_item_param.ResponseToolSearchOutputItemParam.model_validate(output)
    assert [tool.name for tool in read.tools] == [SEARCHED]
    asked = next(tool for tool in sent["tools"] if tool["type"] == "tool_search")
    assert asked.keys() <= types.ToolSearchToolParam.__annotations__.keys()
    call = next(item for item in sent["input"] if item.get("type") == "tool_search_call")
    assert call.keys() <= types.response_input_item_param.ToolSearchCall.__annotations__.keys()


def test_a_search_whose_output_the_host_has_dropped_defines_its_tools_in_front() -> None:
    step, said = requests()[-1]
    front, placed = client_tool_search(FUNCTIONS, searching(said[-4:]), step)

    assert SEARCHED in {tool.get("name") for tool in front}
    assert {tool["name"] for item in placed if "tools" in item for tool in item["tools"]} == {*BROUGHT}


def test_a_search_of_the_host_needs_the_search_tool() -> None:
    step, said = requests()[0]
    with pytest.raises(InputError, match=r"the search tool `tool_search` is not among the tools"):
        client_tool_search([OWN], searching(said), step)


def test_what_messages_brought_is_kept_with_the_step() -> None:
    step = requests()[-1][0]

    assert type(step).from_json(step.to_json()) == step
    assert sorted(step.brought) == [AHEAD, NAMED, LATER, PLAIN]
