"""A tool server of which a test says what it lists, and what it says of itself."""

from __future__ import annotations

from typing import Any

from mcp.server import Server
from mcp.types import CallToolResult, ListToolsResult, TextContent, Tool


def listing_server(said: dict[str, Any]) -> Server[Any]:
    """A server that lists `tools`, as MCP writes them, and has `instructions`."""

    async def list_tools(_context: Any, _params: Any) -> ListToolsResult:
        return ListToolsResult(tools=[Tool.model_validate(tool) for tool in said["tools"]])

    async def call_tool(_context: Any, params: Any) -> CallToolResult:
        return CallToolResult(content=[TextContent(type="text", text=f"called {params.name}")])

    return Server(
        said.get("name", "weather"),
        instructions=said.get("instructions"),
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )
