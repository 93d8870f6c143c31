"""Reads the answers of a tool server defensively: tool definitions and results, within limits."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from cuecard.errors import Problem, visible
from cuecard.model import Json, ToolCard, ToolResult
from cuecard.model.json_values import MAX_DEPTH, exact_json
from cuecard.sources.result_values import without_media
from cuecard.template import without_controls

if TYPE_CHECKING:
    from mcp.types import CallToolResult, ContentBlock, Tool

MAX_PAGES: Final = 200
"""The maximum number of pages of tools."""
MAX_CURSOR: Final = 4_096
"""The maximum length of what leads to the next page, since those of all pages are kept; a longer one leads nowhere."""
MAX_TOOLS: Final = 10_000
"""The maximum number of tools of a server."""
MAX_SAID: Final = 64 * 1024
"""How many characters of a server's own instructions are kept."""
MAX_DEFINITION: Final = 64 * 1024
"""The maximum length of a tool definition with its name and metadata, in characters; a larger one is dropped."""
MAX_BLOCKS: Final = 1_000
"""The maximum number of content blocks in a result; more is an error for the model to read."""
MAX_RESULT: Final = 1024 * 1024
"""The maximum length of a result in characters, without pictures and files; more is an error for the model to read."""


def read_tool(tool: Tool, known: Mapping[str, ToolCard], source: str) -> ToolCard | Problem:
    """The card of a tool, or the reason to drop it."""
    name, schema = visible(tool.name)[:64], tool.input_schema
    if tool.name in known:
        hint = "the first is used; report to the server's authors that names must be unique"
        return Problem("server-tool", f"`{name}` is listed twice", hint, source, severity="warning")
    if exact_json(schema)[1]:
        message = f"`{name}` has an input schema that is nested more than {MAX_DEPTH} levels deep, or is not JSON"
        return Problem("server-tool", message, "the tool is dropped", source, severity="warning")
    size = len(tool.name) + len(tool.description or "") + len(json.dumps([schema, tool.meta], default=str))
    if size > MAX_DEFINITION:
        message = f"`{name}` has a definition of {size:,} characters; at most {MAX_DEFINITION:,}"
        return Problem("server-tool", message, "the tool is dropped", source, severity="warning")
    return ToolCard(tool.name, tool.description or "", schema, source=source)


def read_result(tool: str, answer: CallToolResult) -> ToolResult:
    """The content of a result: structured content, otherwise text; with pictures or files, all of it as MCP has it."""
    value, told = _content(answer), answer.structured_content
    if not without_media(value, str)[1]:
        value = "\n".join(map(_text, answer.content)) if told is None else told
    if exact_json(value)[1]:
        return failed(tool, f"the tool's answer is nested more than {MAX_DEPTH} levels deep, or is not JSON")
    said = without_media(value, str)[0]
    size = len(said) if isinstance(said, str) else len(json.dumps(said, default=str))
    if size > MAX_RESULT:
        return failed(tool, f"the tool answered with {size:,} characters; at most {MAX_RESULT:,} are supported")
    return ToolResult(tool, _clean(value), is_error=answer.is_error)


def failed(tool: str, message: str) -> ToolResult:
    """An error result for the model to read."""
    return ToolResult(tool, without_controls(message)[:MAX_RESULT], is_error=True)


def _content(answer: CallToolResult) -> Json:
    """The whole result as JSON."""
    told = {} if answer.structured_content is None else {"structuredContent": answer.structured_content}
    blocks = [block.model_dump(mode="json", by_alias=True, exclude_none=True) for block in answer.content]
    return {"content": blocks, **told}


def _text(block: ContentBlock) -> str:
    """The text of a block, or what it names."""
    if block.type == "resource" and (text := getattr(block.resource, "text", None)) is not None:
        return str(text)
    if block.type == "resource_link":
        return f"{block.title or block.name}: {block.uri}"
    return block.text if block.type == "text" else f"[{block.type}]"


def _clean(value: Json) -> Json:
    """The value without control characters, which prompts must not contain."""
    if isinstance(value, str):
        return without_controls(value)
    if isinstance(value, dict):
        return {without_controls(key): _clean(item) for key, item in value.items()}
    return [_clean(item) for item in value] if isinstance(value, list) else value
