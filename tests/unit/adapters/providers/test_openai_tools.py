"""OpenAI's own answers to tools that come later: `allowed_tools`, `additional_tools`; and what compares responses."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from cuecard import Engine, InputError, Problem, Turn
from cuecard.adapters import anthropic, openai
from cuecard.adapters.lifetimes import check_lifetimes
from cuecard.adapters.openai_tools import additional_tools, allowed_tools
from cuecard.types import Discovery
from shipped import read_models
from unit.adapters.providers.talk import (
    Moment,
    anthropic_messages,
    chat_messages,
    chat_tools,
    functions,
    response_items,
    schemas,
    two_turns,
)
from unit.adapters.providers.test_wire import moments

OWN: dict[str, Any] = {"type": "function", "name": "send_email", "parameters": {"type": "object"}}


def names(tools: Any) -> list[str]:
    return [tool.get("name") or tool["function"]["name"] for tool in tools]


def defined(tools: set[str]) -> set[str]:
    """Those of which the host has a definition."""
    return tools & {*names(functions()), "send_email"}


def test_a_choice_among_the_active_tools_leaves_the_list_unchanged() -> None:
    steps = [moment.step for moment in moments()]
    bodies = [
        openai.responses_request(m.step, response_items(m.events), model="gpt-5", tools=[*functions(), OWN])
        for m in moments()
    ]
    choices = [allowed_tools([*functions(), OWN], step, also=["send_email"]) for step in steps]

    assert len({json.dumps(body["tools"]) for body in bodies}) == 1
    for step, choice in zip(steps, choices, strict=True):
        active = [name for name in [*names(functions()), "send_email"] if name in {*step.active_tools, "send_email"}]
        listed = [{"type": "function", "name": name} for name in active]
        assert choice == {"type": "allowed_tools", "mode": "auto", "tools": listed}
    assert len(choices[-1]["tools"]) > len(choices[0]["tools"])


def test_the_chat_interface_has_its_own_form_of_the_same_choice() -> None:
    step = two_turns().step
    active = names(allowed_tools(functions(), step)["tools"])
    listed = [{"type": "function", "function": {"name": name}} for name in active]
    told = {"mode": "auto", "tools": listed}

    assert allowed_tools(chat_tools(), step, "chat") == {"type": "allowed_tools", "allowed_tools": told}


def test_without_tools_a_body_has_none() -> None:
    moment = two_turns()
    step, key = moment.step, f"cuecard-{moment.step.manifest.configuration.sha256[:32]}"
    chat = openai.chat_request(step, chat_messages(moment.events), model="gpt-5", cache_key="mine")
    responses = openai.responses_request(step, response_items(moment.events), model="gpt-5", tools=[OWN])

    assert ({*chat}, chat["prompt_cache_key"]) == ({"model", "prompt_cache_key", "messages"}, "mine")
    assert (responses["model"], responses["prompt_cache_key"], responses["tools"]) == ("gpt-5", key, [OWN])
    own = openai.responses_request(step, response_items(moment.events), model="gpt-5", cache_key="mine")
    assert own["prompt_cache_key"] == "mine"


def deferred(moment: Any) -> dict[str, Any]:
    front, items = additional_tools(
        [*functions(), OWN], response_items(moment.events), moment.step, also=["send_email"]
    )
    return openai.responses_request(moment.step, items, model="gpt-5", tools=front)


def test_definitions_appear_where_the_tools_were_found_and_the_front_never_changes() -> None:
    bodies = [deferred(moment) for moment in moments()]
    last, step = bodies[-1], moments()[-1].step
    given = [tool["name"] for item in last["input"] if item.get("type") == "additional_tools" for tool in item["tools"]]

    assert len({json.dumps(body["tools"]) for body in bodies}) == 1
    assert sorted(names(last["tools"])) == sorted(
        {*step.initial_tools, "send_email"} & {*names(functions()), "send_email"}
    )
    assert given == [found.tool for found in step.discovered]
    for before, after in pairwise(body["input"] for body in bodies):
        assert after[: len(before)] == before


def test_a_tool_whose_search_result_is_gone_is_defined_in_front() -> None:
    moment = two_turns()
    said = [{"role": "developer", "content": "of the host"}, {"role": "user", "content": "go on"}]
    front, items = additional_tools(functions(), said, moment.step)

    assert {*names(front)} >= {found.tool for found in moment.step.discovered}
    assert items == said


@pytest.mark.parametrize(
    ("said", "since", "place"),
    [("a s1 b", [], 3), ("a s1 b c2", [], 4), ("a s1 b c", ["s1"], 4), ("a s1 b c2 c3 c", ["c3"], 5)],
)
def test_a_search_that_was_told_late_defines_its_tool_behind_the_next_message(
    said: str, since: list[str], place: int
) -> None:
    step = replace(two_turns().step, found=(Discovery("send_email", "s1"),), turns=(None, None, *since), appended=())
    items: list[dict[str, Any]] = [
        {"type": "function_call_output", "call_id": each, "output": "ok"}
        if each[1:]
        else {"role": "user", "content": each}
        for each in said.split()
    ]

    _, placed = additional_tools([OWN], items, step)

    assert [at for at, each in enumerate(placed) if each.get("type") == "additional_tools"] == [place]


def test_both_forms_are_known_to_the_sdk() -> None:
    items = pytest.importorskip("openai.types.responses.response_input_item_param", reason="openai is not installed")
    choice = pytest.importorskip("openai.types.responses.tool_choice_allowed_param", reason="openai is not installed")
    moment = two_turns()
    made = next(item for item in deferred(moment)["input"] if item.get("type") == "additional_tools")

    assert made.keys() <= items.AdditionalTools.__annotations__.keys()
    assert allowed_tools(functions(), moment.step).keys() == choice.ToolChoiceAllowedParam.__annotations__.keys()


def test_a_request_asks_to_be_compared_with_the_one_before() -> None:
    moment = two_turns()
    items, messages = response_items(moment.events), anthropic_messages(moment.events)
    asked = openai.responses_request(moment.step, items, model="gpt-5.6", compare_with="resp_1")
    plain = openai.responses_request(moment.step, items, model="gpt-5.6")
    claude = [
        anthropic.request(moment.step, messages, model="claude-opus-4-8", compare_with=x) for x in (None, "", "msg_1")
    ]

    assert asked.pop("prompt_cache_options") == {"comparison_response_id": "resp_1"}
    assert asked == plain
    assert [body.pop("diagnostics", "none") for body in claude] == [
        "none",
        {"previous_message_id": None},
        {"previous_message_id": "msg_1"},
    ]
    assert claude[0] == claude[1] == claude[2]


def marked(ttl: Any, **more: Any) -> dict[str, Any]:
    return {"cache_control": {"type": "ephemeral", **({} if ttl is None else {"ttl": ttl})}, **more}


def test_lifetimes_may_shrink_from_tools_to_messages() -> None:
    body = {
        "tools": [marked("1h", name="a")],
        "system": [marked("1h"), marked("5m")],
        "messages": [{"role": "user", "content": [marked(None)]}, {"role": "user", "content": "plain"}],
    }

    check_lifetimes(body)
    moment = two_turns()
    check_lifetimes(
        anthropic.request(moment.step, anthropic_messages(moment.events), model="claude-opus-4-8", tools=schemas())
    )


def test_a_lifetime_that_grows_is_refused_with_every_place() -> None:
    body = {
        "tools": [marked(None, name="a")],
        "system": [marked("1h")],
        "messages": [{"content": [{"type": "tool_result", "content": [marked("1h")]}, marked("2d"), marked([])]}],
        "cache_control": {"type": "ephemeral", "ttl": "1h"},
    }
    with pytest.raises(InputError) as caught:
        check_lifetimes(body)

    longer = "a breakpoint of 1h follows one of 5m"
    hint = "give every breakpoint before it the longer lifetime, or this one the shorter: providers reject this order"
    unknown = "write 5m or 1h"
    assert caught.value.problems == tuple(
        Problem("wrong-option", message, way_out, f"body.{place}cache_control")
        for place, message, way_out in [
            ("system[0].", longer, hint),
            ("messages[0].content[0].content[0].", longer, hint),
            ("messages[0].content[1].", "unknown lifetime '2d'", unknown),
            ("messages[0].content[2].", "unknown lifetime []", unknown),
            ("", longer, hint),
        ]
    )


HOSTED: dict[str, Any] = {"type": "web_search"}
SERVERS: list[dict[str, Any]] = [{"type": "mcp", "server_label": "a"}, {"type": "mcp", "server_label": "b"}]


def by_default(moment: Any, model: str = "gpt-5.6", **more: Any) -> dict[str, Any]:
    tools = [HOSTED, *SERVERS, *functions(), OWN]
    return openai.responses_request(moment.step, response_items(moment.events), model=model, tools=tools, **more)


def test_a_default_body_defines_tools_where_they_are_found_if_the_model_takes_that() -> None:
    bodies = [by_default(moment) for moment in moments()]
    last, step = bodies[-1], moments()[-1].step
    given = [tool["name"] for item in last["input"] if item.get("type") == "additional_tools" for tool in item["tools"]]

    assert given == [found.tool for found in step.discovered] != []
    assert len({json.dumps(body["tools"]) for body in bodies}) == 1
    assert [tool for tool in last["tools"] if tool["type"] != "function"] == [*SERVERS, HOSTED]
    assert not {*given} & {tool.get("name") for tool in last["tools"]}
    for before, after in pairwise(body["input"] for body in bodies):
        assert after[: len(before)] == before


def test_a_host_that_keeps_what_it_sent_or_places_definitions_itself_gets_the_same_body() -> None:
    moment = two_turns()
    body, tools = by_default(moment), [HOSTED, *SERVERS, *functions(), OWN]
    again = openai.responses_request(moment.step, body["input"], model="gpt-5.6", tools=tools)
    front, items = additional_tools(functions(), response_items(moment.events), moment.step)
    placed = openai.responses_request(moment.step, items, model="gpt-5.6", tools=[*front, HOSTED, *SERVERS, OWN])

    assert again == placed == body


@pytest.mark.parametrize(
    ("model", "more"),
    [
        ("gpt-5", {}),
        ("openai-chat:gpt-5.6", {}),
        ("gpt-5.6", {"base_url": "https://gate.example/v1"}),
        (read_models().find("gpt-5.6"), {"base_url": "https://gate.example/v1"}),
        ("claude-opus-5", {}),
    ],
)
def test_elsewhere_all_definitions_stand_in_front(model: Any, more: dict[str, Any]) -> None:
    body = by_default(two_turns(), model, **more)

    assert {*names(functions())} <= {tool.get("name") for tool in body["tools"]}
    assert not [item for item in body["input"] if item.get("type") == "additional_tools"]


def test_a_core_tool_that_came_late_and_comes_back_is_defined_in_front_in_its_place(tmp_path: Path) -> None:
    (tmp_path / "tools.yaml").write_text("category: shop\ntools: {}\ndescribed: {sell: {description: Sell it.}}")
    (tmp_path / "agent.yaml").write_text(
        "agent: a\ndelivery: append\ntools: {instructions: tools.yaml, core: [sell]}\n"
        "sections: [{id: role, text: Be brief.}, {id: instructions, text: '{{{activeProtocols}}}'}]"
    )
    chat, both = Engine.open(tmp_path).conversation(), ("look", "sell")
    chat.user(Turn(tools=()))
    *_, step = (chat.step(tools=there) for there in (("look",), both, ("look",), both))
    made = [{"name": name, "input_schema": {"type": "object"}} for name in both]
    hello = [{"role": "user", "content": "hi"}]

    assert (step.base_tools, step.active_tools) == ((), ("sell",))
    told = anthropic.request(step, hello, model="claude-opus-4-8", tools=made, defer=True)["tools"]
    assert [(tool["name"], "defer_loading" in tool) for tool in told] == [("look", True), ("sell", False)]
    late = [{"type": "function", "name": name, "parameters": {"type": "object"}} for name in both]
    for model in ("gpt-5.6", "gpt-5"):
        assert names(openai.responses_request(step, hello, model=model, tools=late)["tools"]) == [*both]


def test_a_tool_that_is_defined_late_can_be_forced() -> None:
    moment = two_turns()
    found = moment.step.discovered[0].tool
    forcing = Moment(replace(moment.step, forced_tool=found), moment.events)

    assert by_default(forcing)["tool_choice"] == {"type": "function", "name": found}
    with pytest.raises(InputError) as caught:
        anthropic.request(forcing.step, anthropic_messages(moment.events), model="claude-opus-5-5", tools=schemas())
    assert [(told.code, told.name) for told in caught.value.problems] == [("forced-tool", "model")]
