"""Results in every shape that providers, frameworks and MCP servers put around them: found tools, and entities."""

from __future__ import annotations

import json
from typing import Any

import pytest

from cms_agent import cms
from cuecard import ToolResult, Turn

SHAPES: dict[str, Any] = {
    "an object": lambda value: value,
    "JSON text": json.dumps,
    "MCP content": lambda value: {"content": [{"type": "text", "text": json.dumps(value)}], "isError": False},
    "MCP structured": lambda value: {"structuredContent": value, "content": []},
    "a content list": lambda value: [{"type": "text", "text": json.dumps(value)}],
    "an Anthropic block": lambda value: {
        "type": "tool_result",
        "tool_use_id": "c",
        "content": [{"type": "text", "text": json.dumps(value)}],
    },
    "an Anthropic block of text": lambda value: {
        "type": "tool_result",
        "tool_use_id": "c",
        "content": json.dumps(value),
    },
    "Bedrock text": lambda value: {"toolResult": {"toolUseId": "c", "content": [{"text": json.dumps(value)}]}},
    "Bedrock JSON": lambda value: {"toolResult": {"toolUseId": "c", "content": [{"json": value}], "status": "success"}},
    "Bedrock content": lambda value: [{"json": value}],
    "Gemini output": lambda value: {"functionResponse": {"id": "c", "name": "t", "response": {"output": value}}},
    "Gemini response": lambda value: {"function_response": {"name": "t", "response": value}},
}
FAILED: dict[str, Any] = {
    "Anthropic": {"type": "tool_result", "tool_use_id": "c", "is_error": True},
    "Bedrock": {"toolResult": {"toolUseId": "c", "status": "error"}},
    "Gemini": {"functionResponse": {"name": "t", "response": {"error": "no"}}},
}
PAGE = {"success": True, "page": {"id": "p-1", "title": "About us"}}


def told(*results: ToolResult) -> tuple[list[str], tuple[str, ...]]:
    """The names of the entities, and the active tools that are no core tools."""
    chat = cms().conversation()
    chat.user(Turn())
    step = chat.step(results)
    return [entity.name for entity in chat.memory.entities], step.active_tools[len(cms().core_tools) :]


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_entities_are_found_in_every_shape(shape: Any) -> None:
    assert told(ToolResult("cms_createPage", shape(PAGE), "c"))[0] == ["About us"]


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_tools_are_found_in_every_shape(shape: Any) -> None:
    assert told(ToolResult("tool_search", shape({"tools": ["cms_createPage"]}), "c"))[1] == ("cms_createPage",)


@pytest.mark.parametrize("wrap", FAILED.values(), ids=FAILED)
def test_what_failed_teaches_nothing(wrap: Any) -> None:
    block: dict[str, Any] = next(iter(wrap.values())) if len(wrap) == 1 else wrap
    with_page = {**block, "content": [{"text": json.dumps(PAGE)}]} if "response" not in block else block
    whole = {next(iter(wrap)): with_page} if len(wrap) == 1 else with_page

    assert told(ToolResult("cms_createPage", whole, "c"))[0] == []


@pytest.mark.parametrize("name", ["content", "json", "text", "output", "response", "toolResult", "status"])
def test_a_result_with_such_a_key_is_still_its_own(name: str) -> None:
    assert told(ToolResult("cms_createPage", {**PAGE, name: {"id": "x", "title": "Other"}}, "c"))[0] == ["About us"]
