"""The connection to a tool server over its pipes: bounded, always closed, and with a gate in it, which lets nothing but
the usable parts of answers to the client's requests through.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Final

import anyio
from anyio.abc import ByteReceiveStream, Process
from anyio.lowlevel import checkpoint
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp.types import (
    CONNECTION_CLOSED,
    INTERNAL_ERROR,
    METHOD_NOT_FOUND,
    REQUEST_TIMEOUT,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    RequestId,
    Tool,
)
from mcp.types.methods import validate_server_result
from mcp.types.version import HANDSHAKE_PROTOCOL_VERSIONS, LATEST_HANDSHAKE_VERSION, LATEST_MODERN_VERSION
from pydantic import ValidationError

from cuecard.adapters.mcp_client.answers import MAX_BLOCKS, MAX_RESULT, MAX_TOOLS
from cuecard.adapters.mcp_client.errors import UNREADABLE, first_mistake
from cuecard.adapters.mcp_lines import LastWords, Lines, TooLong, UnreadableError, read_message
from cuecard.errors import Problem, visible
from cuecard.files.server_process import ServerCommand, running

_ENDS = (OSError, anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError)
"""The errors with which a pipe reports its end."""

_LAST_WORDS: Final = 0.5
"""Seconds to read the last output of an ended server; only needed if a child holds its pipes."""

_Streams = tuple[MemoryObjectReceiveStream[SessionMessage | Exception], MemoryObjectSendStream[SessionMessage]]
_Incoming = MemoryObjectSendStream[SessionMessage | Exception]
_Outgoing = MemoryObjectReceiveStream[SessionMessage]

_OURS: Final = frozenset({CONNECTION_CLOSED, REQUEST_TIMEOUT, UNREADABLE})
"""Codes that describe the connection; from a server, they mean something else."""

_USED = ("name", "description", "inputSchema", "_meta")
"""The keys of a tool that are read. The rest is dropped unseen, such as output schemas that take minutes to
validate against.
"""

_OF_EXTENSIONS = frozenset({"skills/list", "skills/get"})
"""Methods that MCP itself does not define; the caller validates the answers."""

_ID_LENGTH = 200


@dataclass(frozen=True, slots=True)
class Pipes:
    """A server's pipes, and the messages that go through them."""

    process: Process
    gate: Gate
    said: LastWords
    heard: anyio.Event = field(default_factory=anyio.Event)
    _turn: anyio.Lock = field(default_factory=anyio.Lock)

    async def read(self, incoming: _Incoming) -> None:
        """Pass on answers line by line until the server closes its output."""
        lines = Lines()
        with suppress(*_ENDS):
            async with incoming:
                async for data in _pieces(self.process.stdout):
                    for line in lines.feed(data):
                        await self._pass(line, incoming)
        # A server whose output nobody reads could not exit by itself.
        with suppress(*_ENDS):
            async for _ in _pieces(self.process.stdout):
                pass

    async def write(self, outgoing: _Outgoing, incoming: _Incoming) -> None:
        """Pass on the client's messages; if the server no longer reads them, the connection is over."""
        async with outgoing:
            async for each in outgoing:
                self.gate.sent(each.message)
                try:
                    await self._write(each.message)
                except _ENDS:
                    await incoming.aclose()
                    return

    async def listen(self) -> None:
        """Keep the last output of the server on its standard error."""
        with suppress(*_ENDS):
            async for data in _pieces(self.process.stderr):
                self.said.add(data)
        self.heard.set()

    async def _pass(self, line: bytes | TooLong, incoming: _Incoming) -> None:
        passed = self.gate.received(line)
        if passed.reply is not None:
            await self._write(passed.reply)
        for answer in passed.answers:
            await incoming.send(SessionMessage(answer))

    async def _write(self, message: JSONRPCMessage) -> None:
        """Write one line. A server that does not read delays only its own answers, and no buffer grows."""
        text = message.model_dump_json(by_alias=True, exclude_unset=True)
        async with self._turn:
            if self.process.stdin is not None:
                await self.process.stdin.send(f"{text}\n".encode())


async def _pieces(pipe: ByteReceiveStream | None) -> AsyncIterator[bytes]:
    """The pieces that a pipe yields; other tasks get their turn between pieces, even if there is always a next one."""
    if pipe is not None:
        async for piece in pipe:
            yield piece
            await checkpoint()


@asynccontextmanager
async def connected(start: ServerCommand, gate: Gate, said: LastWords) -> AsyncIterator[_Streams]:
    """The streams of the client; the server is stopped when the block ends.

    Raises:
        ToolServerError: when the command does not start.
    """
    async with running(start) as server, anyio.create_task_group() as tasks:
        incoming, reads = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        writes, outgoing = anyio.create_memory_object_stream[SessionMessage](0)
        pipes = Pipes(server.process, gate, said)
        tasks.start_soon(pipes.read, incoming)
        tasks.start_soon(pipes.write, outgoing, incoming)
        tasks.start_soon(pipes.listen)
        try:
            yield reads, writes
        finally:
            with anyio.CancelScope(shield=True):
                reads.close()
                writes.close()
                await server.stop()
                with anyio.move_on_after(_LAST_WORDS):
                    await pipes.heard.wait()
            tasks.cancel_scope.cancel()
            for stream in (incoming, outgoing):
                stream.close()


@dataclass(frozen=True, slots=True)
class GateOutcome:
    """The outcome of a line: answers for the client, and replies to the server."""

    answers: tuple[JSONRPCMessage, ...] = ()
    reply: JSONRPCMessage | None = None


@dataclass(slots=True)
class Gate:
    """The open requests to a server, and the answers it may give.

    Attributes:
        source: the name of the server in problems.
        dropped: tools that it lists and that cannot be used, each with the reason.
        strays: the number of lines that were not messages.
    """

    source: str
    dropped: list[Problem] = field(default_factory=list)
    strays: int = 0
    _asked: dict[RequestId, str] = field(default_factory=dict)
    _version: str = LATEST_HANDSHAKE_VERSION

    def sent(self, message: JSONRPCMessage) -> None:
        """Remember a request until it is answered or cancelled."""
        if isinstance(message, JSONRPCRequest):
            self._asked[message.id] = message.method
        elif isinstance(message, JSONRPCNotification) and message.method == "notifications/cancelled":
            self._asked.pop((message.params or {}).get("requestId", ""), None)

    def received(self, line: bytes | TooLong) -> GateOutcome:
        """Process a line of the server.

        An unreadable line that looks like an answer ends all open requests with an error: it is unclear which one it
        belongs to, and none may wait forever.
        """
        try:
            message = read_message(line)
        except UnreadableError as error:
            waiting, self._asked = self._asked, {}
            return GateOutcome(tuple(_failure(number, UNREADABLE, str(error)) for number in waiting))
        if message is None:
            self.strays += line not in (b"", b"\r")
            return GateOutcome()
        number = message.get("id")
        if isinstance(number, bool) or not isinstance(number, (int, str)):
            return GateOutcome()
        if "method" in message:
            return GateOutcome(reply=_reply(number, message["method"]))
        return GateOutcome((self._answer(number, message),)) if number in self._asked else GateOutcome()

    def _answer(self, number: RequestId, message: Mapping[str, Any]) -> JSONRPCMessage:
        method = self._asked.pop(number)
        if "error" in message:
            return _refusal(number, message["error"])
        try:
            return JSONRPCResponse(jsonrpc="2.0", id=number, result=self._result(method, message.get("result")))
        except UnreadableError as error:
            return _failure(number, UNREADABLE, str(error))
        except ValidationError as error:
            return _failure(number, UNREADABLE, f"a message that is not valid MCP: {first_mistake(error)}")

    def _result(self, method: str, found: Any) -> dict[str, Any]:
        """The usable part of a result.

        Raises:
            UnreadableError: when it cannot.
            ValidationError: when it is not valid MCP.
        """
        if not isinstance(found, dict):
            raise UnreadableError("a result that is not an object")
        result: dict[str, Any] = found
        if method == "initialize":
            if (version := result.get("protocolVersion")) not in HANDSHAKE_PROTOCOL_VERSIONS:
                raise UnreadableError(f"an unsupported MCP version: {visible(str(version))[:40]}")
            self._version = version
        if method == "tools/list":
            result = {**result, "tools": self._tools(result.get("tools"))}
        if method == "tools/call":
            content = result.get("content")
            if isinstance(content, list) and len(content) > MAX_BLOCKS:
                raise UnreadableError(f"{len(content):,} blocks; at most {MAX_BLOCKS:,} are supported")
        if method == "server/discover":
            versions = result.get("supportedVersions")
            if not isinstance(versions, list) or LATEST_MODERN_VERSION not in versions:
                raise UnreadableError("unsupported MCP versions")
            self._version = LATEST_MODERN_VERSION
        if method not in _OF_EXTENSIONS:
            validate_server_result(method, self._version, result)
        return result

    def _tools(self, listed: Any) -> list[dict[str, Any]]:
        """The valid tools. One more than allowed is enough to see that there are too many."""
        if not isinstance(listed, list):
            raise UnreadableError("a list of tools that is not a list")
        usable = []
        for tool in listed[: MAX_TOOLS + 1]:
            bare = {key: tool[key] for key in _USED if key in tool} if isinstance(tool, dict) else tool
            try:
                validate_server_result("tools/list", self._version, {"tools": [bare]})
                Tool.model_validate(bare)
            except ValidationError as error:
                self._drop(bare, first_mistake(error))
            else:
                usable.append(bare)
        return usable

    def _drop(self, tool: Any, mistake: str) -> None:
        name = tool.get("name") if isinstance(tool, dict) else None
        called = f"`{visible(name)[:64]}`" if isinstance(name, str) else "a tool without a name"
        message = f"{called} is not a valid MCP tool: {mistake}"
        self.dropped.append(Problem("server-tool", message, "the tool is dropped", self.source, severity="warning"))


def _refusal(number: RequestId, error: Any) -> JSONRPCMessage:
    """A server's error in place of a result, with a code that belongs to servers."""
    code, message = (error.get("code"), error.get("message")) if isinstance(error, dict) else (None, None)
    if not isinstance(code, int) or not isinstance(message, str):
        return _failure(number, UNREADABLE, "an error that is not valid JSON-RPC")
    return _failure(number, INTERNAL_ERROR if code in _OURS else code, message)


def _failure(number: RequestId, code: int, message: str) -> JSONRPCMessage:
    return JSONRPCError(jsonrpc="2.0", id=number, error=ErrorData(code=code, message=message[:MAX_RESULT]))


def _reply(number: RequestId, method: Any) -> JSONRPCMessage | None:
    """The reply to a server's own request: pings are answered, everything else is not available."""
    if len(str(number)) > _ID_LENGTH:
        return None
    if method == "ping":
        return JSONRPCResponse(jsonrpc="2.0", id=number, result={})
    return _failure(number, METHOD_NOT_FOUND, "this client provides no services to servers")
