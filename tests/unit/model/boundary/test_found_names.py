"""The shapes in which hosts send a search result: read whatever they are wrapped in, told of where they are unknown."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from cuecard import Engine, ToolResult, Turn
from cuecard.pipeline.search_results import found_names
from cuecard.types import Diagnostic, Hit, SearchResult
from unit.agent.section_lists.agents import PROTOCOLS, TOOLS, opened

AGENT = f"""\
agent: a
tools: {{instructions: tools.yaml, core: [tool_search]}}
sections: [{{id: p, text: '{PROTOCOLS}'}}]
"""
NAMES = ["get_page", "put_page"]
OBJECTS = [{"name": name} for name in NAMES]


class Model(BaseModel):
    tools: list[str] = NAMES


class Block(BaseModel):
    type: str = "text"
    text: str = json.dumps({"tools": NAMES})


class McpResult(BaseModel):
    content: list[Block] = [Block()]
    structuredContent: dict[str, Any] | None = None  # noqa: N815 - as the protocol writes it


@dataclass
class Plain:
    tools: tuple[str, ...] = tuple(NAMES)


def text(value: Any) -> dict[str, Any]:
    return {"type": "text", "text": json.dumps(value)}


KNOWN: dict[str, Any] = {
    "names": NAMES,
    "a tuple": tuple(NAMES),
    "JSON text of names": json.dumps(NAMES),
    "objects": OBJECTS,
    "objects with `tool_name`": [{"tool_name": name} for name in NAMES],
    "tool references": [{"type": "tool_reference", "tool_name": name} for name in NAMES],
    "function tools": [{"type": "function", "name": name, "parameters": {}} for name in NAMES],
    "functions of Chat Completions": [{"type": "function", "function": {"name": name}} for name in NAMES],
    "tools": {"tools": NAMES, "message": "found"},
    "tools as objects": {"tools": OBJECTS},
    "JSON text": json.dumps({"tools": NAMES}),
    "JSON text twice": json.dumps({"result": json.dumps({"tools": NAMES})}),
    "a result": {"result": {"tools": NAMES}},
    "a result in a result": {"result": {"result": NAMES}},
    "an output": {"output": {"tools": NAMES}},
    "content": [text({"tools": NAMES})],
    "content beside prose": [{"type": "text", "text": "Found two:"}, text({"tools": NAMES})],
    "content beside a picture": [{"type": "image", "data": ""}, text(NAMES)],
    "content without types": [{"text": json.dumps({"tools": NAMES})}],
    "JSON content": [{"json": {"tools": NAMES}}],
    "MCP": {"content": [text({"tools": NAMES})], "structuredContent": {"tools": NAMES}},
    "MCP without text": {"content": [], "structuredContent": {"tools": NAMES}},
    "MCP without structure": {"content": [text({"tools": NAMES})], "structuredContent": None},
    "MCP with `result`": {"content": [{"type": "text", "text": "2 tools"}], "structuredContent": {"result": NAMES}},
    "a search by the provider": {
        "type": "tool_search_tool_search_result",
        "tool_references": [{"type": "tool_reference", "tool_name": name} for name in NAMES],
    },
    "a block of Anthropic's": {"type": "tool_result", "tool_use_id": "c", "content": [text({"tools": NAMES})]},
    "blocks of Anthropic's": [{"type": "tool_result", "tool_use_id": "c", "content": [text({"tools": NAMES})]}],
    "an output of OpenAI's": {"type": "function_call_output", "call_id": "c", "output": json.dumps({"tools": NAMES})},
    "outputs of OpenAI's": [{"type": "function_call_output", "call_id": "c", "output": json.dumps(NAMES)}],
    "a response of Gemini's": {"functionResponse": {"id": "c", "name": "find", "response": {"tools": NAMES}}},
    "a response in Python": [{"function_response": {"name": "find", "response": {"result": json.dumps(NAMES)}}}],
    "a result of Bedrock's": {"toolResult": {"toolUseId": "c", "content": [{"json": {"tools": NAMES}}]}},
    "a value of the AI SDK": {"type": "content", "value": [text({"tools": NAMES})]},
    "a resource": [{"type": "resource", "resource": {"uri": "a:b", "text": json.dumps({"tools": NAMES})}}],
    "a result of JSON-RPC": {"jsonrpc": "2.0", "id": 1, "result": {"content": [text({"tools": NAMES})]}},
    "content as JSON text": json.dumps({"content": [text({"tools": NAMES})]}),
    "the engine's own": SearchResult(tuple(Hit(name, 0.5) for name in NAMES), "found"),
    "a pydantic model": Model(),
    "objects of MCP": McpResult(),
    "a dataclass": Plain(),
}
EMPTY: dict[str, Any] = {
    "no tools": {"tools": []},
    "no tools as text": '{"tools": [], "message": "Nothing was found for xyz."}',
    "no names": [],
    "the engine's own": SearchResult((), "Nothing was found."),
    "what failed": {"content": [{"type": "text", "text": "no such server"}], "isError": True},
}
UNKNOWN: dict[str, tuple[Any, str]] = {
    "free text": ("Use get_page, then put_page.", "a text that is not JSON"),
    "a name alone": ("get_page", "a text that is not JSON"),
    "nothing": ("", "a blank text"),
    "null": (None, "null"),
    "a boolean": ({"tools": True}, "an object whose `tools` is a boolean"),
    "JSON text of a name": ('"get_page"', "JSON text of a text"),
    "a number": (7, "a number"),
    "another key": ({"matches": NAMES}, "an object with 1 key and no `tools` among them"),
    "one tool": ({"name": "get_page"}, "an object with 1 key and no `tools` among them"),
    "tools by name": ({"tools": {"get_page": {}}}, "an object whose `tools` is an object"),
    "prose in content": ([{"type": "text", "text": "get_page"}], "content of a text that is not JSON"),
    "a picture": ([{"type": "image", "data": "get_page"}], "content without a text"),
    "an object": (object(), "a value of type object"),
    "a class": (Model, "a value of type ModelMetaclass"),
}


@pytest.mark.parametrize("shape", KNOWN)
def test_a_shape_that_hosts_send_is_read(shape: str) -> None:
    found = found_names(KNOWN[shape])

    assert list(found.names) == NAMES
    assert found.unread == ""


@pytest.mark.parametrize("shape", EMPTY)
def test_an_empty_search_is_explained(shape: str) -> None:
    found = found_names(EMPTY[shape])

    assert (found.names, found.unread) == ((), "")


@pytest.mark.parametrize("shape", UNKNOWN)
def test_an_unknown_shape_gives_no_names_and_is_reported(shape: str) -> None:
    value, told = UNKNOWN[shape]
    found = found_names(value)

    assert found.names == ()
    assert found.unread == told


def test_invalid_names_are_reported_alongside_valid_ones() -> None:
    found = found_names({"tools": ["get_page", 7, {"title": "x"}, ""]})

    assert found.names == ("get_page",)
    assert found.unread == "a list in which 3 of 4 entries name no tool"


def test_wrapping_has_an_end() -> None:
    loop: dict[str, Any] = {}
    loop["result"] = loop

    assert found_names(loop).unread == "a value with too many wrappers"
    assert "JSON" in found_names("[" * 100_000).unread


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(),
        lambda inner: (
            st.lists(inner)
            | st.dictionaries(
                st.sampled_from(["tools", "result", "content", "type", "text", "name", "json"]) | st.text(), inner
            )
        ),
    )
)
def test_any_input_is_read_or_reported(value: Any) -> None:
    found = found_names(value)

    assert all(type(name) is str and name for name in found.names)
    assert "\n" not in found.unread


def test_the_manifest_tells_of_it_with_the_tool_and_the_call_but_not_the_text(tmp_path: Path) -> None:
    engine = opened(tmp_path, AGENT, tools_yaml=TOOLS)
    secret = ToolResult("tool_search", "secret: use get_page", "call-1")
    others = [
        ToolResult("get_page", "any text", "call-2"),
        ToolResult("tool_search", "failed", "call-3", is_error=True),
    ]
    expected = Diagnostic("unknown_search_result", "tool_search, call call-1: a text that is not JSON")

    before = engine.prepare_call(Turn(), [secret, *others])
    after = engine.prepare_call(Turn())

    assert before.record.diagnostics == (expected,)
    assert engine.prepare_step(before, [secret, *others]).manifest.diagnostics == (expected,)
    assert engine.prepare_step(after, [secret, *others]).manifest.diagnostics == (expected,)
    assert engine.prepare_step(after, [ToolResult("tool_search", {"tools": []})]).manifest.diagnostics == ()


def test_an_engine_finds_what_its_own_search_answers(tmp_path: Path) -> None:
    engine: Engine = opened(tmp_path, AGENT, tools_yaml=TOOLS)
    answer = engine.search_tools("get page")
    call = engine.prepare_call(Turn())

    as_object = engine.prepare_step(call, [ToolResult("tool_search", answer, "c")])

    assert answer.tools
    assert as_object == engine.prepare_step(call, [ToolResult("tool_search", answer.to_json(), "c")])
