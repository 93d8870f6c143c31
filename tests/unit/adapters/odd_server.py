"""A tool server with odd tools, for tests: `python odd_server.py` speaks MCP on stdio."""

from __future__ import annotations

import asyncio
import os
import sys
from typing import Any

from mcp import types
from mcp.server import Server
from mcp.server.stdio import stdio_server

NAMES = ("text", "boom", "die", "refuse")
PAGE = 3


def odd_server(*, circle: bool = False, endless: list[str] | None = None) -> Server[Any]:
    """Lists three tools per page; if asked to, none on pages in a circle, or on ever new ones, which it notes."""
    tools = [types.Tool(name=name, description=f"The tool {name}", input_schema={"type": "object"}) for name in NAMES]

    async def list_tools(_context: object, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        start = int(params.cursor) if params and params.cursor is not None else 0
        more = str(start + PAGE) if start + PAGE < len(tools) else None
        if endless is not None:
            endless.append(str(len(endless)))
        if circle or endless is not None:
            return types.ListToolsResult(tools=[], next_cursor=endless[-1] if endless else "0")
        return types.ListToolsResult(tools=tools[start : start + PAGE], next_cursor=more)

    async def call_tool(_context: object, params: types.CallToolRequestParams) -> types.CallToolResult:
        if params.name == "boom":
            raise RuntimeError("the tool broke")
        if params.name == "die":
            sys.stderr.write("out of memory\n")
            sys.stderr.flush()
            os._exit(9)
        picture = types.ImageContent(type="image", data="iVBORw0KGgo=", mime_type="image/png")
        content = [types.TextContent(type="text", text="two lines\nof text"), picture]
        return types.CallToolResult(content=content, is_error=params.name == "refuse")

    return Server("odd", on_list_tools=list_tools, on_call_tool=call_tool)


async def serve() -> None:
    server = odd_server()
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())


if __name__ == "__main__":
    asyncio.run(serve())
