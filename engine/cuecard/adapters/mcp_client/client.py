"""A tool server that speaks MCP over standard input and output: started, listed, called, and stopped again."""

from __future__ import annotations

import math
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import field
from typing import TYPE_CHECKING

from pydantic import ValidationError

from cuecard.adapters.mcp_client.answers import (
    MAX_CURSOR,
    MAX_PAGES,
    MAX_SAID,
    MAX_TOOLS,
    failed,
    read_result,
    read_tool,
)
from cuecard.adapters.mcp_client.errors import (
    CONNECTION_CLOSED,
    REQUEST_TIMEOUT,
    UNREADABLE,
    leaves,
    not_mcp,
    server_error,
)
from cuecard.adapters.mcp_lines import LastWords
from cuecard.config.tool_listing import Listing, usable
from cuecard.errors import Problem, ToolServerError
from cuecard.files.server_process import ServerCommand
from cuecard.model import Json, ToolCard, ToolResult
from cuecard.records import dataclass
from cuecard.template import clean, without_controls

if TYPE_CHECKING:
    from mcp.client.client import Client
    from mcp.client.extension import ClientExtension
    from mcp.shared.exceptions import MCPError


@dataclass(frozen=True, slots=True)
class ToolServer:
    """An open connection to a tool server.

    Attributes:
        client: the MCP client.
        start: how it was started.
        said: its output on standard error.
        dropped: tools that it lists but that cannot be used, each with the reason.
        meta: by tool, what the server says beyond its definition (`_meta`); always treated as data.
    """

    client: Client
    start: ServerCommand
    said: LastWords
    dropped: list[Problem] = field(default_factory=list)
    meta: dict[str, dict[str, Json]] = field(default_factory=dict)

    async def tools(self) -> tuple[ToolCard, ...]:
        """Every usable tool of the server, page by page, in the server's order; the others are `dropped`.

        Raises:
            ToolServerError: when the server dies, does not answer, lists tools endlessly, or does not speak MCP.
        """
        with in_time(self.start.timeout):
            return await self._tools()

    async def listing(self) -> Listing:
        """What the server lists and says of itself, for `cuecard tools import`; errors are those of `tools`."""
        cards, info = await self.tools(), self.client.server_info
        said = clean(without_controls(self.client.instructions or ""))[0][:MAX_SAID]
        found = usable(info.name if info else "", cards)
        return Listing(found.name, found.cards, (*self.dropped, *found.dropped), said, dict(self.meta))

    async def _tools(self) -> tuple[ToolCard, ...]:
        self.dropped.clear()
        cards: dict[str, ToolCard] = {}
        seen: set[str | None] = set()
        cursor: str | None = None
        while cursor not in seen and len(seen) < MAX_PAGES and len(cards) + len(self.dropped) <= MAX_TOOLS:
            seen.add(cursor)
            try:
                page = await self.client.list_tools(cursor=cursor)
            except ValidationError as error:
                raise not_mcp(error, self.start, self.said) from None
            for tool in page.tools:
                card = read_tool(tool, cards, self.start.name)
                if isinstance(card, Problem):
                    self.dropped.append(card)
                    continue
                cards[card.name] = card
                if tool.meta:
                    self.meta[card.name] = dict(tool.meta)
            cursor = page.next_cursor
            if cursor is None and len(cards) + len(self.dropped) <= MAX_TOOLS:
                return tuple(cards.values())
            if len(cursor or "") > MAX_CURSOR:
                break
        message = "the server's list of tools is circular or endless"
        hint = f"each cursor must lead to a new page; at most {MAX_PAGES} pages and {MAX_TOOLS:,} tools are read"
        raise ToolServerError(Problem("server-pages", message, hint, self.start.name))

    async def call(self, tool: str, arguments: Mapping[str, Json]) -> ToolResult:
        """Call a tool. If the tool refuses, answers incorrectly or too late, the result has `is_error`, for the model
        to read.

        Raises:
            ToolServerError: when the server dies.
        """
        from mcp.shared.exceptions import MCPError  # noqa: PLC0415 - `cuecard --help` needs no mcp
        from mcp.types import CallToolRequest, CallToolRequestParams, CallToolResult  # noqa: PLC0415 - the same

        try:
            # Not `call_tool`, which lists all tools again for an unknown one and validates results against schemas.
            question = CallToolRequest(params=CallToolRequestParams(name=tool, arguments=dict(arguments)))
            answer = await self.client.session.send_request(question, CallToolResult)
        except MCPError as error:
            if error.code == CONNECTION_CLOSED:
                raise server_error(error, self.start, self.said) from None
            if error.code == REQUEST_TIMEOUT:
                return failed(tool, f"the tool did not answer within {self.start.timeout:g} s")
            told = f"the tool server answered with {error.message}" if error.code == UNREADABLE else error.message
            return failed(tool, told)
        except ValidationError:
            return failed(tool, "the tool's answer is not a valid MCP result")
        return read_result(tool, answer)


@asynccontextmanager
async def open_server(start: ServerCommand, *, modern: bool = False) -> AsyncIterator[ToolServer]:
    """A running server; it is stopped when the block ends, even after an error.

    Args:
        start: how to start it.
        modern: whether to ask first for a version of MCP without a handshake, as extensions require.

    Raises:
        ToolServerError: when the command does not start, exits early, does not answer in time, or does not speak MCP.
    """
    import anyio  # noqa: PLC0415 - `cuecard --help` needs no mcp
    from mcp.client.client import Client  # noqa: PLC0415 - the same
    from mcp.shared.exceptions import MCPError  # noqa: PLC0415 - the same

    from cuecard.adapters.mcp_client.transport import Gate, connected  # noqa: PLC0415 - the same

    gate, said = Gate(start.name), LastWords()
    # The plain handshake: asking first for the protocol version would double the wait for a silent server.
    transport = connected(start, gate, said)
    mode = "auto" if modern else "legacy"
    client = Client(
        transport, mode=mode, read_timeout_seconds=start.timeout, cache=None, extensions=offered() if modern else None
    )
    try:
        with anyio.CancelScope(deadline=anyio.current_time() + start.timeout) as opening:
            async with client:
                opening.deadline = math.inf
                yield ToolServer(client, start, said, gate.dropped)
        if opening.cancelled_caught:
            raise too_late()
    except MCPError as error:
        raise server_error(error, start, said, gate.strays) from None
    except BaseExceptionGroup as group:
        # The client wraps every exception that ends its block, including the caller's own.
        found = list(leaves(group))
        cause = next((each for each in found if isinstance(each, MCPError)), found[0])
        if isinstance(cause, MCPError):
            raise server_error(cause, start, said, gate.strays) from None
        raise (cause if len(found) == 1 else group) from None


@contextmanager
def in_time(seconds: float) -> Iterator[None]:
    """A limit for a whole operation, however many requests it takes; each of them has the same limit.

    Raises:
        MCPError: when it is over, as for a single request.
    """
    import anyio  # noqa: PLC0415 - as above

    try:
        with anyio.fail_after(seconds):
            yield
    except TimeoutError:
        raise too_late() from None


def too_late() -> MCPError:
    """What the client raises for a request that was not answered in time."""
    from mcp.shared.exceptions import MCPError  # noqa: PLC0415 - as above

    return MCPError(REQUEST_TIMEOUT, "timed out")


def offered() -> list[ClientExtension]:
    """The supported extensions of MCP."""
    from mcp.client.extension import advertise  # noqa: PLC0415 - `cuecard --help` needs no mcp

    return [advertise("io.modelcontextprotocol/skills")]
