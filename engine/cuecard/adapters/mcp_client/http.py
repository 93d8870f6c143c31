"""A tool server that speaks MCP over HTTP: the same connection as over pipes, with the same limits."""

from __future__ import annotations

import math
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import anyio
import httpx2
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from mcp.shared.message import SessionMessage

from cuecard.adapters.mcp_client.client import ToolServer, offered, too_late
from cuecard.adapters.mcp_client.errors import leaves, server_error
from cuecard.adapters.mcp_client.transport import Gate
from cuecard.adapters.mcp_lines import MAX_LINE, LastWords
from cuecard.errors import InputError, Problem, ToolServerError
from cuecard.files.server_process import ServerCommand

TOKEN: Final = "CUECARD_MCP_TOKEN"  # noqa: S105 - the name of the variable
"""The environment variable with the bearer token of a tool server; an argument would be visible in process lists."""

_Incoming = MemoryObjectSendStream[SessionMessage | Exception]
_Outgoing = MemoryObjectReceiveStream[SessionMessage]


class _TooMuchError(Exception):
    """An answer with more bytes than the limit."""


@asynccontextmanager
async def open_http_server(
    url: str, seconds: float, option: str = "--mcp-url", *, modern: bool = False
) -> AsyncIterator[ToolServer]:
    """A connection to a server by address; closed when the block ends.

    Args:
        url: its address, such as `https://example.com/mcp`.
        seconds: the timeout for connecting and for each answer.
        option: its name in errors.
        modern: whether to ask first for a version of MCP without a handshake, which extensions need.

    Raises:
        InputError: when the address is invalid.
        ToolServerError: when there is no server, or it refuses, does not answer in time, or does not speak MCP.
    """
    start = _address(url, seconds, option)
    gate, said = Gate(option), LastWords()
    token = os.environ.get(TOKEN)
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    failures: list[Exception] = []
    hooks: dict[str, Any] = {"response": [_Watch(failures).look]}
    try:
        async with httpx2.AsyncClient(headers=headers, timeout=seconds, event_hooks=hooks) as http:
            transport = _connected(url, http, gate, failures)
            mode = "auto" if modern else "legacy"
            client = Client(
                transport, mode=mode, read_timeout_seconds=seconds, cache=None, extensions=offered() if modern else None
            )
            with anyio.CancelScope(deadline=anyio.current_time() + seconds) as opening:
                async with client:
                    opening.deadline = math.inf
                    yield ToolServer(client, start, said, gate.dropped)
            if opening.cancelled_caught:
                raise too_late()
    except MCPError as error:
        raise _told([error, *failures], start, said, gate) from None
    except BaseExceptionGroup as group:
        raise _told([*leaves(group), *failures], start, said, gate) from None


def _address(url: str, seconds: float, option: str) -> ServerCommand:
    try:
        parts = urlsplit(url)
        usable = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        hint = "write http:// or https://, a host, and a path"
        raise InputError(Problem("wrong-option", f"`{url[:200]}` is not a server address", hint, option))
    # Possible secrets in an address are not repeated.
    shown = parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="").geturl()
    return ServerCommand([], {}, Path.cwd(), seconds, option, (option, "--timeout"), f"it is at: {shown}")


def _told(found: list[BaseException], start: ServerCommand, said: LastWords, gate: Gate) -> BaseException:
    """The error to raise: what HTTP reports is more useful than the end of the connection."""
    for each in reversed(found):
        if isinstance(each, _TooMuchError):
            return ToolServerError(
                Problem("server-output", str(each), f"{start.where}\nreport it to the server's authors", start.name)
            )
        if isinstance(each, httpx2.HTTPError) and not isinstance(each, httpx2.ReadTimeout):
            hint = f"{start.where}\ncheck the address; a bearer token is read from {TOKEN}"
            message = f"the tool server cannot be reached: {str(each) or type(each).__name__}"
            return ToolServerError(Problem("server-start", message, hint, start.name))
    for each in found:
        if isinstance(each, MCPError):
            return server_error(each, start, said, gate.strays)
    return found[0]


@dataclass(frozen=True, slots=True)
class _Watch:
    """Inspects every answer before it is read."""

    failures: list[Exception]

    async def look(self, response: httpx2.Response) -> None:
        """Limit the size of an answer; for event streams, the client limits each event."""
        if response.status_code >= 400 and response.request.method == "POST":
            told = f"status {response.status_code} {response.reason_phrase}".strip()
            self.failures.append(httpx2.HTTPError(told))
        if not str(response.headers.get("content-type")).lower().startswith("text/event-stream"):
            response.stream = _BoundedAnswer(response.stream, self.failures)


class _BoundedAnswer(httpx2.AsyncByteStream):
    def __init__(self, stream: Any, failures: list[Exception]) -> None:
        self.stream, self.failures = stream, failures

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for piece in self.stream:
            size += len(piece)
            if size > MAX_LINE:
                self.failures.append(_TooMuchError(f"the tool server answered with more than {MAX_LINE:,} bytes"))
                raise self.failures[-1]
            yield piece

    async def aclose(self) -> None:
        await self.stream.aclose()


@asynccontextmanager
async def _connected(
    url: str, http: httpx2.AsyncClient, gate: Gate, failures: list[Exception]
) -> AsyncIterator[tuple[Any, Any]]:
    """The streams of the client, with the gate in between."""
    async with streamable_http_client(url, http_client=http) as (reads, writes), anyio.create_task_group() as tasks:
        incoming, received = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        sent, outgoing = anyio.create_memory_object_stream[SessionMessage](0)

        async def read() -> None:
            async with incoming:
                async for each in reads:
                    if isinstance(each, Exception):
                        failures.append(each)
                    else:
                        await _pass(each, gate, incoming, writes)

        async def write() -> None:
            async with outgoing:
                async for each in outgoing:
                    gate.sent(each.message)
                    await writes.send(each)

        tasks.start_soon(read)
        tasks.start_soon(write)
        try:
            yield received, sent
        finally:
            tasks.cancel_scope.cancel()
            for stream in (incoming, received, sent, outgoing):
                stream.close()


async def _pass(each: SessionMessage, gate: Gate, incoming: _Incoming, writes: Any) -> None:
    """Pass on a message of the server, as far as the gate allows."""
    passed = gate.received(each.message.model_dump_json(by_alias=True, exclude_unset=True).encode())
    if passed.reply is not None:
        await writes.send(SessionMessage(passed.reply))
    for answer in passed.answers:
        await incoming.send(SessionMessage(answer))
