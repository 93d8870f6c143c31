"""`cuecard mcp` while the agent's files change: what clients are told, and what they get then."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Literal

import anyio
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp.shared.memory import create_client_server_memory_streams

from cuecard import watch
from cuecard.workbench.mcp import serve_client
from unit.adapters.mcp_server.alone import run
from unit.workbench.run.talking import write

PATIENCE = 30
AGENT = """\
agent: helper
sections:
  - {id: role, text: "You help."}
  - {id: tools, text: "{{{activeProtocols}}}"}
tools: {instructions: tools.yaml, core: [tool_search]}
"""
TOOLS = """\
category: Weather
described: {tool_search: {description: FINDS}}
tools:
  get-weather: {description: Tells the weather, before: Ask for the city, after: "", next: "", gotcha: ""}
"""


def files(text: str = "You help.", inputs: str = "", finds: str = "Finds tools") -> dict[str, str]:
    return {"agent.yaml": AGENT.replace("You help.", text) + inputs, "tools.yaml": TOOLS.replace("FINDS", finds)}


def command(folder: Path) -> StdioServerParameters:
    states = {"CUECARD_STATES": str(folder / "states")}
    arguments = ["-c", "from cuecard.cli.main import main; main()", "mcp", str(folder / "agent")]
    return StdioServerParameters(command=sys.executable, args=arguments, env=states)


async def prompt(client: Client) -> str:
    content: Any = (await client.get_prompt("helper", {})).messages[0].content
    return str(content.text)


async def until_it_says(client: Client, text: str) -> None:
    async with asyncio.timeout(PATIENCE):
        while text not in await prompt(client):  # noqa: ASYNC110 - see below
            await asyncio.sleep(0.05)  # the protocol tells of new lists, not of new texts


@asynccontextmanager
async def served(folder: Path, mode: Literal["legacy", "auto"] = "auto") -> AsyncIterator[Client]:
    """A client of what the command serves, in this process."""
    agent = folder / "agent"

    @asynccontextmanager
    async def connection() -> AsyncIterator[Any]:
        async with create_client_server_memory_streams() as (ours, theirs), anyio.create_task_group() as group:
            reads, writes = theirs
            group.start_soon(serve_client, watcher, agent, reads, writes)
            yield ours
            group.cancel_scope.cancel()

    with watch(agent, states=folder / "states") as watcher:
        async with Client(connection(), mode=mode) as client:
            yield client


async def broken(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Break the agent's file, and wait until the server has written that it refuses it."""
    capsys.readouterr()
    write(folder, {"agent.yaml": "agent: [\n"})
    async with asyncio.timeout(PATIENCE):
        while "refused " not in capsys.readouterr().err:  # noqa: ASYNC110 - a thread follows the files
            await asyncio.sleep(0.05)


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_the_next_prompt_is_of_the_saved_files_and_broken_ones_change_nothing(
    tmp_path: Path, mode: Literal["legacy", "auto"], capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path / "agent", files())

    async def talk() -> None:
        async with served(tmp_path, mode) as client:
            assert "You help." in await prompt(client)
            await broken(tmp_path / "agent", capsys)
            write(tmp_path / "agent", files("You advise."))
            await until_it_says(client, "You advise.")
            await broken(tmp_path / "agent", capsys)
            assert "You advise." in await prompt(client)

    run(talk())


def test_the_command_serves_a_client_with_a_handshake_and_notifies_it_of_changed_lists(tmp_path: Path) -> None:
    write(tmp_path / "agent", files())
    told: list[str] = []
    arrived = asyncio.Event()

    async def heard(message: Any) -> None:
        told.append(getattr(message, "method", ""))
        arrived.set()

    async def talk() -> None:
        async with Client(command(tmp_path), mode="legacy", message_handler=heard) as client:
            capabilities = client.server_capabilities
            assert capabilities.tools is not None
            assert capabilities.tools.list_changed
            found: Any = (await client.call_tool("tool_search", {"query": "weather"})).content
            assert ["get-weather" in each.text for each in found] == [True, True]
            assert "Ask for the city" in found[1].text
            assert "You help." in await prompt(client)
            await client.list_tools()
            write(tmp_path / "agent", files(finds="Finds what helps"))
            await asyncio.wait_for(arrived.wait(), PATIENCE)
            (tool,) = (await client.list_tools()).tools
            assert tool.description == "Finds what helps"

    run(talk())
    assert told == ["notifications/tools/list_changed"]


def test_a_listening_client_is_notified_of_a_new_argument_of_the_prompt(tmp_path: Path) -> None:
    write(tmp_path / "agent", files())

    async def talk() -> None:
        async with (
            served(tmp_path) as client,
            client.listen(prompts_list_changed=True, tools_list_changed=True) as news,
        ):
            write(tmp_path / "agent", files(inputs="inputs: {name: {type: string, default: Eve}}\n"))
            event = await asyncio.wait_for(anext(aiter(news)), PATIENCE)
            assert type(event).__name__ == "PromptsListChanged"
            (shown,) = (await client.list_prompts()).prompts
            assert "name" in [argument.name for argument in shown.arguments or []]

    run(talk())
