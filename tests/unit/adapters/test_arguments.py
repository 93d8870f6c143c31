"""Every adapter tells the engine what tools returned, and what the model asked for."""

from __future__ import annotations

from copy import copy
from dataclasses import astuple
from typing import Any

import pytest
from google.adk.events.event import Event
from google.genai import types
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from pydantic_ai.messages import (
    BinaryContent,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    RetryPromptPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)

from cuecard.adapters.adk import contents as adk
from cuecard.adapters.langgraph.messages import tool_results as langgraph_results
from cuecard.adapters.litellm.replays import _ReplayReader
from cuecard.adapters.openai_agents.items import tool_results as openai_results
from cuecard.adapters.pydantic_ai.messages import tool_results as pydantic_results


@pytest.mark.filterwarnings("ignore:`RetryPromptPart` is deprecated")
def test_pydantic_ai() -> None:
    def asks(*calls: tuple[str, str]) -> ModelResponse:
        return ModelResponse([ToolCallPart(tool, {"of": call}, call) for tool, call in calls])

    picture = BinaryContent(b"x", media_type="image/png")
    told: list[ModelMessage] = [
        ModelRequest([UserPromptPart("go")]),
        asks(("one", "a"), ("two", "b"), ("two", "c")),
        ModelRequest(
            [
                ToolReturnPart("one", {"n": 1}, "a"),
                RetryPromptPart("again", tool_name="two", tool_call_id="b"),
                ToolReturnPart("two", "no", "c", outcome="failed"),
                RetryPromptPart("an answer that is no call"),
            ]
        ),
        asks(("one", "d")),
        ModelRequest([ToolReturnPart("one", ["4", picture], "d"), UserPromptPart("and?")]),
        ModelRequest([ToolReturnPart("own", "5", "gone"), ToolReturnPart("own", "6", "a")]),
    ]
    again = "again\n\nFix the errors and try again."

    assert [*map(astuple, pydantic_results(told))] == [
        ("one", {"n": 1}, "a", False, False, "a", {"of": "a"}),
        ("two", again, "b", True, False, "a", {"of": "b"}),
        ("two", "no", "c", True, False, "a", {"of": "c"}),
        ("one", "4", "d", False, False, None, {"of": "d"}),
        ("own", "5", "gone", False, False, "gone", None),
        ("own", "6", "a", False, False, "gone", {"of": "a"}),
    ]


def test_langgraph_and_langchain() -> None:
    def asks(*calls: tuple[str, str]) -> AIMessage:
        return AIMessage("", tool_calls=[{"name": tool, "args": {"of": call}, "id": call} for tool, call in calls])

    parts: list[Any] = [{"type": "text", "text": "two"}]
    told = [
        ToolMessage("early", tool_call_id="gone", name="own"),
        asks(("one", "a"), ("two", "b"), ("three", "")),
        ToolMessage("", tool_call_id="a", name="renamed", artifact={"structured_content": {"n": 1}}),
        ToolMessage("lost", tool_call_id="nobody's"),
        ToolMessage(parts, tool_call_id="b", status="error", artifact={"other": 1}),
        asks(("one", "c")),
        ToolMessage("3", tool_call_id="c", artifact="an artifact"),
        ToolMessage("4", tool_call_id="", id="m", name="own"),
        HumanMessage("and?"),
        ToolMessage("5", tool_call_id="", name="own"),
    ]
    first = [
        ("own", "early", "gone", False, False, None, None),
        ("one", {"n": 1}, "a", False, False, "a", {"of": "a"}),
        ("two", parts, "b", True, False, "a", {"of": "b"}),
    ]
    last = [
        ("one", "3", "c", False, False, None, {"of": "c"}),
        ("own", "4", "m", False, False, None, None),
        ("own", "5", "result-9", False, False, None, None),
    ]

    assert [*map(astuple, langgraph_results(told))] == [*first, *last]
    known = ["gone", "a", "c", "m", "result-9"]
    assert [*map(astuple, langgraph_results(told, known))] == [first[2], *last]
    assert [*map(astuple, langgraph_results(told[:6], known))] == [first[2]]
    assert [*map(astuple, langgraph_results(told[:5], known))] == first[1:]
    assert langgraph_results([]) == ()


def test_openai_agents() -> None:
    def asks(tool: str, call: str) -> Any:
        return {"type": "function_call", "name": tool, "call_id": call, "arguments": f'{{"of": "{call}"}}'}

    def gave(call: str, output: Any, kind: str = "function_call_output") -> Any:
        return {"type": kind, "call_id": call, "output": output}

    def text(said: str) -> Any:
        return {"type": "input_text", "text": said}

    picture = {"type": "input_image", "image_url": "u", "text": "no text"}
    told = [
        gave("old", "early"),
        {"role": "user", "content": "go"},
        *(asks("one", "a"), asks("two", "b")),
        gave("a", "A"),
        gave("b", [text("B")], "custom_tool_call_output"),
        gave("screen", {}, "computer_call_output"),
        gave("old", [text("C"), text("D")]),
        {"type": "message", "role": "assistant", "content": "so"},
        asks("one", "c"),
        gave("c", [picture]),
    ]
    results = [
        ("dropped", "early", "old", False, False, None, None),
        ("one", "A", "a", False, False, "a", '{"of": "a"}'),
        ("two", "B", "b", False, False, "a", '{"of": "b"}'),
        ("dropped", [text("C"), text("D")], "old", False, False, "a", None),
        ("one", None, "c", False, False, None, '{"of": "c"}'),
    ]
    known = {"old": "dropped", "a": "renamed"}

    assert [*map(astuple, openai_results(told, known))] == results
    assert [*map(astuple, openai_results(told, known, {"a": "one", "c": "two"}))] == [results[0], *results[2:]]
    assert [*map(astuple, openai_results(told[-1:], {"c": "one"}))] == [(*results[4][:6], None)]
    window = openai_results(told[4:6], {"a": "one", "b": "two"})
    assert [*map(astuple, window)] == [(*each[:6], None) for each in results[1:3]]
    assert openai_results([], {}) == ()


def test_litellm() -> None:
    def asks(*calls: tuple[str, str]) -> Any:
        made = [{"id": call, "function": {"name": tool, "arguments": f'{{"of": "{call}"}}'}} for tool, call in calls]
        return {"role": "assistant", "tool_calls": made}

    def gave(call: str, content: Any, **more: str) -> Any:
        return {"role": "tool", "tool_call_id": call, "content": content, **more}

    told = [
        gave("early", "E", name="own"),
        asks(("one", "a"), ("two", "b")),
        gave("a", "A", name="renamed"),
        gave("nobody's", "lost"),
        gave("b", [{"type": "text", "text": "B"}]),
        asks(("one", "c")),
        gave("c", "C"),
        {"role": "function", "name": "own", "content": None},
        {"role": "assistant", "tool_calls": [{"id": "d", "function": {"arguments": "{}"}}]},
        gave("d", "D", name="named behind it"),
    ]
    reader = _ReplayReader()
    for place in range(len(told)):
        reader = copy(reader)  # as the next request has it
        reader.read(told, place)

    assert [*map(astuple, reader.taken())] == [
        ("own", "E", "early", False, False, None, None),
        ("one", "A", "a", False, False, "a", '{"of": "a"}'),
        ("two", [{"type": "text", "text": "B"}], "b", False, False, "a", '{"of": "b"}'),
        ("one", "C", "c", False, False, None, '{"of": "c"}'),
        ("own", None, "result-7", False, False, None, None),
        ("named behind it", "D", "d", False, False, None, "{}"),
    ]
    copy(reader).read([asks(("one", "elsewhere"))], 0)
    reader.read([gave("elsewhere", "told nothing, like what was told")], 0)
    assert reader.taken() == ()


def test_adk() -> None:
    def asks(*calls: tuple[str, str | None]) -> types.Content:
        parts = [types.FunctionCall(id=call, name=tool, args={"of": call or tool}) for tool, call in calls]
        return types.Content(role="model", parts=[types.Part(function_call=part) for part in parts])

    def gave(*results: tuple[str, str | None, dict[str, Any] | None]) -> types.Content:
        said = [types.FunctionResponse(id=call, name=tool, response=given) for tool, call, given in results]
        return types.Content(role="user", parts=[types.Part(function_response=each) for each in said])

    told = [
        types.Content(role="user"),
        asks(("one", "a"), ("two", "b"), ("one", None), ("one", None)),
        gave(("two", "b", {"output": [1]}), ("one", "a", {"result": "A"}), ("one", None, {"result": 2, "more": 3})),
        asks(("one", "c")),
        gave(("one", "c", {"error": "no"})),
        gave(("two", "d", {"status": "error", "message": "no"})),
        gave(("one", "e", {"error": ""}), ("one", "f", None)),
        gave(("one", None, {"status": "ok"})),
    ]
    results = adk.tool_results(adk.named(told, adk.CallIds(())), told)

    assert [*map(astuple, results)] == [
        ("two", [1], "b", False, False, "b", {"of": "b"}),
        ("one", "A", "a", False, False, "b", {"of": "a"}),
        ("one", {"result": 2, "more": 3}, "#1", False, False, "b", {"of": "one"}),
        ("one", {"error": "no"}, "c", True, False, None, {"of": "c"}),
        ("two", {"status": "error", "message": "no"}, "d", True, False, None, None),
        ("one", {"error": ""}, "e", False, False, "e", None),
        ("one", {}, "f", False, False, "e", None),
        ("one", {"status": "ok"}, "#2", False, False, None, {"of": "one"}),
    ]


def test_adk_gives_each_result_an_id_of_its_own_also_where_contents_hold_the_last_ones_only() -> None:
    def event(*results: tuple[str | None, str, Any]) -> Event:
        said = [types.FunctionResponse(id=call, name=tool, response={"result": it}) for call, tool, it in results]
        return Event(author="a", content=types.Content(parts=[types.Part(function_response=each) for each in said]))

    events = [event(("a", "one", 1)), event(("b", "one", 2), ("c", "two", 3)), event(("a", "one", 4), (None, "two", 5))]
    responses = [response for each in events for response in each.get_function_responses()]
    bare = [each.model_copy(update={"id": None}) for each in responses]

    for said in (responses, bare):
        assert [*adk.CallIds(events).of(said)] == ["a", "b", "c", "a#2", "#1"]
        assert [*adk.CallIds(events).of(said[3:])] == ["a#2", "#1"]
    assert [*adk.CallIds(events).of([bare[1], bare[0], bare[3]])] == ["b", "a", "a#2"]
    unknown = types.FunctionResponse(name="one", response={"result": 9})
    assert [*adk.CallIds(events).of([unknown, *bare[3:4], unknown, unknown])] == ["a", "a#2", "b", "#1"]
