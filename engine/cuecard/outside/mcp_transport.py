"""The connection to a tool server over its pipes, as a transport for the MCP client: bounded, and always closed."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Final

import anyio
from anyio.abc import ByteReceiveStream, Process
from anyio.lowlevel import checkpoint
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp.types import JSONRPCMessage

from cuecard.outside.mcp_gate import Gate
from cuecard.outside.mcp_lines import LastWords, Lines, TooLong
from cuecard.outside.mcp_process import ServerCommand, running, stop

_ENDS = (OSError, anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError)
"""The errors with which a pipe reports its end."""

_LAST_WORDS: Final = 0.5
"""Seconds to read the last output of an ended server; only needed if a child holds its pipes."""

_Streams = tuple[MemoryObjectReceiveStream[SessionMessage | Exception], MemoryObjectSendStream[SessionMessage]]
_Incoming = MemoryObjectSendStream[SessionMessage | Exception]
_Outgoing = MemoryObjectReceiveStream[SessionMessage]


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
    async with running(start) as process, anyio.create_task_group() as tasks:
        incoming, reads = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        writes, outgoing = anyio.create_memory_object_stream[SessionMessage](0)
        pipes = Pipes(process, gate, said)
        tasks.start_soon(pipes.read, incoming)
        tasks.start_soon(pipes.write, outgoing, incoming)
        tasks.start_soon(pipes.listen)
        try:
            yield reads, writes
        finally:
            with anyio.CancelScope(shield=True):
                reads.close()
                writes.close()
                await stop(process)
                with anyio.move_on_after(_LAST_WORDS):
                    await pipes.heard.wait()
            tasks.cancel_scope.cancel()
            for stream in (incoming, outgoing):
                stream.close()
