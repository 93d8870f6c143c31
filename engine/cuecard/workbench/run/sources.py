"""Where a chat's tools come from: servers, and functions of modules."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from cuecard.adapters.mcp_client.client import ToolServer, open_server
from cuecard.errors import Problem, most_telling
from cuecard.files.server_process import server_command
from cuecard.model import Json, ToolCard, ToolResult
from cuecard.workbench.run.assistant import CallTool
from cuecard.workbench.run.module_tools import module_tools


@dataclass(frozen=True, slots=True)
class Sources:
    """The sources of tools.

    Attributes:
        commands: the commands of tool servers, in shell syntax.
        urls: addresses of tool servers.
        modules: Python modules whose functions are tools.
        timeout: the timeout in seconds for starting a server and for each tool call.
    """

    commands: Sequence[str] = ()
    urls: Sequence[str] = ()
    modules: Sequence[str] = ()
    timeout: float = 60.0

    @property
    def of_servers(self) -> bool:
        """Whether there are tool servers among them."""
        return bool(self.commands or self.urls)


@dataclass(frozen=True, slots=True)
class ChatOptions:
    """The options of a chat.

    Attributes:
        sources: the sources of its tools.
        messages: the user's messages; without any, the user is asked.
        values: inputs, as `name=value`.
        turn: a turn file, for everything else that the host knows.
    """

    sources: Sources = Sources()
    messages: Sequence[str] = ()
    values: Sequence[str] = ()
    turn: Path | None = None

    @property
    def of_agent(self) -> bool:
        """Whether they replace what an assistant file provides, so that only its agent is used."""
        return bool(self.sources.of_servers or self.sources.modules or self.values or self.turn)


@dataclass(frozen=True, slots=True)
class ToolSource:
    """Tools, and how they are called."""

    cards: tuple[ToolCard, ...]
    call: CallTool


@asynccontextmanager
async def opened(wanted: Sources) -> AsyncIterator[ToolSource]:
    """All sources combined, for the duration of the block.

    Raises:
        InputError: when a module, a command or an address is wrong.
        ToolServerError: when a server cannot be started or reached.
    """
    commands = [server_command(text, wanted.timeout) for text in wanted.commands]
    modules = [module_tools(name, "--tools-module") for name in wanted.modules]
    async with AsyncExitStack() as stack:
        servers = [await stack.enter_async_context(open_server(command)) for command in commands]
        servers += [await stack.enter_async_context(_at(url, wanted.timeout)) for url in wanted.urls]
        of_servers = [await of_server(server) for server in servers]
        yield _together([*of_servers, *(ToolSource(module.cards, module.call) for module in modules)])


def _at(url: str, seconds: float) -> AbstractAsyncContextManager[ToolServer]:
    from cuecard.adapters.mcp_client.http import open_http_server

    return open_http_server(url, seconds)


async def of_server(server: ToolServer) -> ToolSource:
    """The tools of an open server; unusable ones are reported on stderr."""
    cards = await server.tools()
    _tell(server.dropped)
    return ToolSource(cards, server.call)


def _together(sources: Sequence[ToolSource]) -> ToolSource:
    owners: dict[str, tuple[ToolCard, CallTool]] = {}
    twice = []
    for source in sources:
        for card in source.cards:
            if card.name in owners:
                twice.append(card)
            else:
                owners[card.name] = (card, source.call)
    hint = "the first source with this name is used"
    _tell(Problem("server-tool", f"`{c.name}` is listed twice", hint, c.source, severity="warning") for c in twice)

    async def call(tool: str, arguments: Mapping[str, Json]) -> ToolResult:
        return await owners[tool][1](tool, arguments)

    return ToolSource(tuple(card for card, _ in owners.values()), call)


def _tell(problems: Iterable[Problem]) -> None:
    sys.stderr.write("".join(f"{problem.picture()}\n" for problem in most_telling(problems)[0]))
