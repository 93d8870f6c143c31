"""A tool server that speaks MCP over standard input and output: started, listed, called, and stopped again."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final

from cuecard.errors import Problem, ToolServerError, visible
from cuecard.model import Json, ToolCard, ToolResult

if TYPE_CHECKING:
    from mcp.client.client import Client
    from mcp.shared.exceptions import MCPError
    from mcp.types import CallToolResult, ContentBlock

CONNECTION_CLOSED: Final = -32000
REQUEST_TIMEOUT: Final = -32001
"""The two JSON-RPC codes by which the MCP client says that the server is gone, or silent."""

TAIL_LINES = 8
"""How many of the last lines on the server's standard error an error shows."""


@dataclass(frozen=True, slots=True)
class ServerCommand:
    """How to start a server.

    Attributes:
        command: the program and its arguments.
        env: environment variables on top of a few harmless ones (PATH, HOME and the like).
        folder: where it runs.
        timeout: seconds that starting it, or one tool call, may take.
        name: how errors call it, such as the file it is configured in.
    """

    command: Sequence[str]
    env: Mapping[str, str]
    folder: Path
    timeout: float = 60.0
    name: str = "tool server"


@dataclass(frozen=True, slots=True)
class ToolServer:
    """An open connection to a tool server."""

    client: Client
    start: ServerCommand
    stderr: IO[str]

    async def tools(self) -> tuple[ToolCard, ...]:
        """Every tool of the server, page by page, in its order.

        Raises:
            ToolServerError: when the server dies, keeps silent, or goes round in circles.
        """
        cards: list[ToolCard] = []
        seen: set[str | None] = set()
        cursor: str | None = None
        while cursor not in seen:
            seen.add(cursor)
            page = await self.client.list_tools(cursor=cursor)
            cards += (ToolCard(t.name, t.description or "", t.input_schema, source=self.start.name) for t in page.tools)
            cursor = page.next_cursor
            if cursor is None:
                return tuple(cards)
        hint = "tell its makers: a cursor must lead to another page"
        raise ToolServerError(Problem("server-pages", "the server lists its tools in a circle", hint, self.start.name))

    async def call(self, tool: str, arguments: Mapping[str, Json]) -> ToolResult:
        """Call a tool. What the tool refuses is a result with `is_error`, for the model to read.

        Raises:
            ToolServerError: when the server dies or keeps silent.
        """
        from mcp.shared.exceptions import MCPError  # noqa: PLC0415 - `cuecard --help` needs no mcp

        try:
            answer = await self.client.call_tool(tool, dict(arguments))
        except MCPError as error:
            if error.code in {CONNECTION_CLOSED, REQUEST_TIMEOUT}:
                raise _server_error(error, self.start, self.stderr) from None
            return ToolResult(tool, error.message, is_error=True)
        return ToolResult(tool, _value(answer), is_error=answer.is_error)


@asynccontextmanager
async def open_server(start: ServerCommand) -> AsyncIterator[ToolServer]:
    """A running server; it is stopped when the block ends, whatever happens in it.

    Raises:
        ToolServerError: when the command does not start, ends early, or does not answer in time.
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
            raise _cannot_start(error, start) from None
        except MCPError as error:
            raise _server_error(error, start, stderr) from None
        except BaseExceptionGroup as group:
            # The client wraps whatever ends its block, also what the caller raised in it.
            cause = _cause(group)
            raise (_server_error(cause, start, stderr) if isinstance(cause, MCPError) else cause) from None


def _cause(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    return error


def _value(answer: CallToolResult) -> Json:
    """What a tool says: its structured content, else its text; other blocks by their kind."""
    if answer.structured_content is not None:
        return answer.structured_content
    return "\n".join(_text(block) for block in answer.content)


def _text(block: ContentBlock) -> str:
    return block.text if block.type == "text" else f"[{block.type}]"


def _cannot_start(error: OSError, start: ServerCommand) -> ToolServerError:
    message = f"the tool server does not start: `{start.command[0]}`: {(error.strerror or str(error)).lower()}"
    hint = "install the command, or change `server.command`"
    return ToolServerError(Problem("server-start", message, hint, start.name))


def _server_error(error: MCPError, start: ServerCommand, stderr: IO[str]) -> ToolServerError:
    if error.code == REQUEST_TIMEOUT:
        code, message = "server-timeout", f"the tool server did not answer within {start.timeout:g} s"
        hint = "see what it waits for, or raise `server.timeout`"
    elif error.code == CONNECTION_CLOSED:
        code, message = "server-died", "the tool server ended, or closed its output"
        hint = "start it by hand to see more"
    else:
        code, message = "server-error", f"the tool server refused: {error.message}"
        hint = "start it by hand to see more"
    lines = [f"it runs: {' '.join(start.command)}", *_tail(stderr), hint]
    return ToolServerError(Problem(code, message, "\n".join(lines), start.name))


def _tail(stderr: IO[str]) -> list[str]:
    stderr.seek(0)
    lines = [visible(line) for line in stderr.read().splitlines() if line.strip()]
    return [f"it said: {line}" for line in lines[-TAIL_LINES:]]
