"""The API's operations as tools of FastMCP, under the names and with the arguments of the import."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import httpx2
from fastmcp import Client, FastMCP
from fastmcp.server.providers.openapi import MCPType
from ruamel.yaml import YAML
from service import app

from cuecard import Engine, Turn

HERE = Path(__file__).parent


def imported(spec: dict[str, Any], lock: Path, client: httpx2.AsyncClient) -> FastMCP[Any]:
    """The operations of an API that an import wrote: what was left out on purpose cannot be called."""
    listed = json.loads(lock.read_text(encoding="utf-8"))["tools"]
    tools = {
        (tool["operation"]["method"], tool["operation"]["path"]): tool for tool in listed if not tool.get("left_out")
    }

    def kind(route: Any, _kind: MCPType) -> MCPType:
        return MCPType.TOOL if (route.method, route.path) in tools else MCPType.EXCLUDE

    def component(route: Any, made: Any) -> None:
        tool = tools[route.method, route.path]
        made.name, made.parameters = tool["name"], tool["inputSchema"]
        places = tool["operation"].get("arguments", {})
        route.parameter_map = {
            argument: {"location": place["in"], "openapi_name": place.get("name", argument)}
            for argument, place in places.items()
        }

    return FastMCP.from_openapi(spec, client=client, route_map_fn=kind, mcp_component_fn=component)


async def main() -> None:
    """Search as the agent does, and call what was found."""
    engine = Engine.open(HERE)
    spec = YAML(typ="safe").load(HERE / "v2.yaml")
    client = httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://newsroom")
    server = imported(spec, HERE / "tools" / "newsroom.lock.json", client)
    async with client, Client(server) as tools:
        names = {tool.name for tool in await tools.list_tools()}
        chat = engine.conversation()
        chat.user(Turn(tools=sorted(names | {"tool_search"})))
        found = chat.search_tools("change the text of an article").hits[0].tool
        print(f"{len(names)} tools can be called; found: {found}")
        print((await tools.call_tool(found, {"id": 2, "title": "Sunshine"})).structured_content)
        print((await tools.call_tool("findArticles", {"pagination_page": 2})).structured_content)


if __name__ == "__main__":
    asyncio.run(main())
