"""A tool server that speaks MCP over standard input and output: started, listed, called, and stopped again."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING

from pydantic import ValidationError

from cuecard.errors import Problem, ToolServerError
from cuecard.model import Json, ToolCard, ToolResult
from cuecard.outside.mcp_answers import MAX_PAGES, MAX_TOOLS, failed, read_result, read_tool
from cuecard.outside.mcp_errors import (
    CONNECTION_CLOSED,
    REQUEST_TIMEOUT,
    cannot_start,
    is_of_transport,
    leaves,
    not_mcp,
    not_text,
    server_error,
)

if TYPE_CHECKING:
    from mcp.client.client import Client


@dataclass(frozen=True, slots=True)
class ServerCommand:
    """How to start a server.

    Attributes:
        command: the program and its arguments.
        env: environment variables on top of a few harmless ones (PATH, HOME and the like).
        folder: where it runs.
        timeout: seconds that starting it, or one tool call, may take.
        name: how errors call it, such as the file it is configured in.
        settings: where its command and its timeout are set, for errors.
    """

    command: Sequence[str]
    env: Mapping[str, str]
    folder: Path
    timeout: float = 60.0
    name: str = "tool server"
    settings: tuple[str, str] = ("server.command", "server.timeout")


@dataclass(frozen=True, slots=True)
class ToolServer:
    """An open connection to a tool server.

    Attributes:
        client: the MCP client.
        start: how it was started.
        stderr: what it says on its standard error.
        dropped: tools that it lists and that cannot be used, each with the reason.
    """

    client: Client
    start: ServerCommand
    stderr: IO[str]
    dropped: list[Problem] = field(default_factory=list)

    async def tools(self) -> tuple[ToolCard, ...]:
        """Every tool of the server that can be used, page by page, in its order; the others are `dropped`.

        Raises:
            ToolServerError: when the server dies, keeps silent, lists its tools without end, or does not speak MCP.
        """
        cards: dict[str, ToolCard] = {}
        seen: set[str | None] = set()
        cursor: str | None = None
        while cursor not in seen and len(seen) < MAX_PAGES and len(cards) <= MAX_TOOLS:
            seen.add(cursor)
            try:
                page = await self.client.list_tools(cursor=cursor)
            except ValidationError as error:
                raise not_mcp(error, self.start, self.stderr) from None
            for tool in page.tools:
                card = read_tool(tool, cards, self.start.name)
                if isinstance(card, Problem):
                    self.dropped.append(card)
                else:
                    cards[card.name] = card
            cursor = page.next_cursor
            if cursor is None and len(cards) <= MAX_TOOLS:
                return tuple(cards.values())
        message = "the server lists its tools in a circle, or without end"
        hint = f"tell its makers: a cursor must lead to another page; at most {MAX_PAGES} of them, {MAX_TOOLS:,} tools"
        raise ToolServerError(Problem("server-pages", message, hint, self.start.name))

    async def call(self, tool: str, arguments: Mapping[str, Json]) -> ToolResult:
        """Call a tool. What the tool refuses, or says wrongly, is a result with `is_error`, for the model to read.

        Raises:
            ToolServerError: when the server dies or keeps silent.
        """
        from mcp.shared.exceptions import MCPError  # noqa: PLC0415 - `cuecard --help` needs no mcp

        try:
            answer = await self.client.call_tool(tool, dict(arguments))
        except MCPError as error:
            if error.code in {CONNECTION_CLOSED, REQUEST_TIMEOUT}:
                raise server_error(error, self.start, self.stderr) from None
            return failed(tool, error.message)
        except ValidationError:
            return failed(tool, "the tool answered with something that is no result of MCP")
        return read_result(tool, answer)


@asynccontextmanager
async def open_server(start: ServerCommand) -> AsyncIterator[ToolServer]:
    """A running server; it is stopped when the block ends, whatever happens in it.

    Raises:
        ToolServerError: when the command does not start, ends early, does not answer in time, or writes what is no MCP.
    """
    from mcp.client.client import Client  # noqa: PLC0415 - `cuecard --help` needs no mcp
    from mcp.client.stdio import StdioServerParameters, stdio_client  # noqa: PLC0415 - the same
    from mcp.shared.exceptions import MCPError  # noqa: PLC0415 - the same

    program, *arguments = start.command
    parameters = StdioServerParameters(command=program, args=arguments, env=dict(start.env), cwd=start.folder)
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as stderr:
        transport = stdio_client(parameters, errlog=stderr)
        # The plain handshake: asking first which protocol a server speaks would double the wait for a silent one.
        client = Client(transport, mode="legacy", read_timeout_seconds=start.timeout, cache=None)
        try:
            async with client:
                yield ToolServer(client, start, stderr)
        except OSError as error:
            raise cannot_start(error, start) from None
        except MCPError as error:
            raise server_error(error, start, stderr) from None
        except BaseExceptionGroup as group:
            # The client wraps whatever ends its block, also what the caller raised in it.
            found = list(leaves(group))
            if any(isinstance(each, UnicodeDecodeError) and is_of_transport(each) for each in found):
                raise not_text(start, stderr) from None
            cause = next((each for each in found if isinstance(each, MCPError)), found[0])
            if isinstance(cause, MCPError):
                raise server_error(cause, start, stderr) from None
            if isinstance(cause, ValidationError) and is_of_transport(cause):
                raise not_mcp(cause, start, stderr) from None
            raise (cause if len(found) == 1 else group) from None
