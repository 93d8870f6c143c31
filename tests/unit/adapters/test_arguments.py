"""Every adapter tells the engine what tools returned, and what the model asked for."""

from __future__ import annotations

import json
from dataclasses import astuple
from typing import Any

from google.genai import types
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from pydantic_ai.messages import ModelRequest, ModelResponse, ToolCallPart, ToolReturnPart

from cms_agent import cms
from cuecard import Turn
from cuecard.adapters.adk import contents as adk
from cuecard.adapters.functions import Functions
from cuecard.adapters.langgraph.messages import tool_results as langgraph_results
from cuecard.adapters.litellm.replays import _ReplayReader
from cuecard.adapters.openai_agents.items import tool_results as openai_results
from cuecard.adapters.pydantic_ai.messages import tool_results as pydantic_results

ASKED = {"pageId": "page-4"}
TOOL, CALL = "cms_deletePage", "c1"


def test_pydantic_ai() -> None:
    (result,) = pydantic_results(
        [ModelResponse([ToolCallPart(TOOL, ASKED, CALL)]), ModelRequest([ToolReturnPart(TOOL, "done", CALL)])]
    )
    assert result.arguments == ASKED


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
    call: Any = {"type": "function_call", "name": TOOL, "call_id": CALL, "arguments": json.dumps(ASKED)}
    said: Any = {"type": "function_call_output", "call_id": CALL, "output": "done"}
    (result,) = openai_results([call, said], {})
    assert json.loads(result.arguments) == ASKED


def test_litellm() -> None:
    function = {"name": TOOL, "arguments": json.dumps(ASKED)}
    messages: Any = [{"role": "assistant", "tool_calls": [{"id": CALL, "function": function}]}]
    messages.append({"role": "tool", "tool_call_id": CALL, "content": "done"})
    reader = _ReplayReader()
    for place in range(2):
        reader.read(messages, place)
    assert json.loads(reader.taken()[0].arguments) == ASKED


def test_adk_with_and_without_ids() -> None:
    for ids in (("c1", "c2"), (None, None)):
        asked = [types.FunctionCall(id=each, name=TOOL, args={"n": n}) for n, each in enumerate(ids)]
        said = [types.FunctionResponse(id=each, name=TOOL, response={"result": "done"}) for each in ids]
        held = [
            types.Content(role="model", parts=[types.Part(function_call=each) for each in asked]),
            types.Content(role="user", parts=[types.Part(function_response=each) for each in said]),
        ]
        results = adk.tool_results(adk.named(held, adk.CallIds(())), held)
        assert [result.arguments for result in results] == [{"n": 0}, {"n": 1}]


def test_a_loop_of_your_own() -> None:
    tools = Functions(cms(), {TOOL: lambda pageId: {"success": True}})  # noqa: ARG005, N803 - as the tool has it
    chat = tools.engine.conversation()
    chat.user(Turn(tools=tools.names, discovered=(TOOL,)))
    assert tools.answer(chat, chat.step(), TOOL, ASKED, CALL).arguments == ASKED
