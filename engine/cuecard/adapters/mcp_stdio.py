"""Standard input and output as the transport of an MCP server: every line is answered, and none may be too long."""

from __future__ import annotations

import asyncio
import os
import re
import select
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import CancelledError
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

import anyio
from anyio.lowlevel import checkpoint
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp.types import (
    INVALID_REQUEST,
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    RequestId,
    jsonrpc_message_adapter,
)
from pydantic import ValidationError
from pydantic_core import from_json

from cuecard.adapters.mcp_client.errors import first_mistake
from cuecard.adapters.mcp_lines import Lines, TooLong, TooMuchError, UnreadableError, check_text, id_in, whole

_Incoming: TypeAlias = MemoryObjectSendStream[SessionMessage | Exception]
_Outgoing: TypeAlias = MemoryObjectReceiveStream[SessionMessage]
_Reads: TypeAlias = MemoryObjectReceiveStream[SessionMessage | Exception]
_Writes: TypeAlias = MemoryObjectSendStream[SessionMessage]

MAX_BATCH: Final = 100
"""The maximum number of messages of a batch that are refused one by one; a larger one is refused as a whole."""

_PIECE = 64 * 1024
_BLANK = re.compile(rb"\n[ \t\r\n]*\n")
_LAST = 2.0
"""Seconds without an answer after which those that are still due at the end of the input are given up."""

_NEVER_ENDS = "subscriptions/listen"
_NO_BATCHES = "batches are not supported: write each message into a line of its own"


@asynccontextmanager
async def standard_streams() -> AsyncIterator[tuple[_Reads, _Writes]]:
    """The streams of a server, over this process's standard input and output.

    Meanwhile, code that reads standard input finds it empty, and what is printed goes to standard error. At the end of
    the input, requests that have come are still answered.
    """
    incoming, reads = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    writes, outgoing = anyio.create_memory_object_stream[SessionMessage](0)
    with _claimed() as (source, sink):
        talk = _Talk(source, sink)
        async with anyio.create_task_group() as tasks, incoming, reads, writes, outgoing:
            tasks.start_soon(talk.read, incoming)
            tasks.start_soon(talk.write, outgoing, incoming)
            yield reads, writes
            tasks.cancel_scope.cancel()


def read_line(line: bytes | TooLong) -> JSONRPCMessage | list[JSONRPCError] | None:
    """The message in a line, or the errors that answer it; None for a blank line."""
    if not isinstance(line, TooLong) and not line.strip(b" \t\r"):
        return None
    try:
        value = _value(line)
    except UnreadableError as error:
        code = INVALID_REQUEST if isinstance(error, TooMuchError) else PARSE_ERROR
        return [_error(code, str(error), id_in(line.head if isinstance(line, TooLong) else line))]
    if isinstance(value, list):
        return _refused_batch(value)
    try:
        return _message(value)
    except ValidationError as error:
        return [_error(INVALID_REQUEST, f"not a message of JSON-RPC 2.0: {first_mistake(error)}", _id_of(value))]


def _value(line: bytes | TooLong) -> Any:
    """What the JSON of a line says.

    Raises:
        UnreadableError: when it is too long, has too many values, or is not JSON in UTF-8.
    """
    text = whole(line)
    check_text(text)
    try:
        return from_json(text, allow_inf_nan=False)
    except ValueError as error:
        raise UnreadableError(f"not JSON that can be read: {error}") from None


def _message(value: Any) -> JSONRPCMessage:
    """A message of JSON-RPC. One with an `id` of a wrong type is none, and above all no notification.

    Raises:
        ValidationError: when it is none.
    """
    if isinstance(value, dict) and "method" in value:
        kind = JSONRPCRequest if "id" in value else JSONRPCNotification
        return kind.model_validate(value)
    return jsonrpc_message_adapter.validate_python(value)


def _refused_batch(batch: list[Any]) -> list[JSONRPCError]:
    """An error for each message that waits for an answer, as far as they can be told apart."""
    numbers = [number for each in batch[: MAX_BATCH + 1] if (number := _id_of(each)) is not None]
    if not numbers or len(batch) > MAX_BATCH:
        return [_error(INVALID_REQUEST, _NO_BATCHES, None)]
    return [_error(INVALID_REQUEST, _NO_BATCHES, number) for number in numbers]


def _id_of(value: Any) -> RequestId | None:
    number = value.get("id") if isinstance(value, dict) else None
    return number if isinstance(number, (int, str)) and not isinstance(number, bool) else None


def _error(code: int, message: str, number: RequestId | None) -> JSONRPCError:
    return JSONRPCError(jsonrpc="2.0", id=number, error=ErrorData(code=code, message=message))


@dataclass(slots=True)
class _Talk:
    """The lines of both directions, and the requests that still wait for an answer."""

    source: int
    sink: int
    _due: set[RequestId] = field(default_factory=set)
    _turn: anyio.Lock = field(default_factory=anyio.Lock)

    async def read(self, incoming: _Incoming) -> None:
        """Pass on messages until the input ends and what is due has been answered."""
        lines = Lines()
        async with incoming:
            async for data in _pieces(self.source):
                for line in lines.feed(_BLANK.sub(b"\n", data)):
                    await self._take(line, incoming)
            for line in lines.end():
                await self._take(line, incoming)
            left = None
            while self._due and left != len(self._due):
                left = len(self._due)
                with anyio.move_on_after(_LAST):
                    while len(self._due) == left:  # noqa: ASYNC110 - at the end only
                        await anyio.sleep(0.01)

    async def write(self, outgoing: _Outgoing, incoming: _Incoming) -> None:
        """Write the server's messages; if nobody reads them any more, the input is over as well."""
        async for each in outgoing:
            try:
                await self._put(each.message)
            except OSError:
                await incoming.aclose()
                return
            if isinstance(each.message, (JSONRPCResponse, JSONRPCError)) and each.message.id is not None:
                self._due.discard(each.message.id)

    async def _take(self, line: bytes | TooLong, incoming: _Incoming) -> None:
        found = read_line(line)
        if isinstance(found, list):
            for error in found:
                with suppress(OSError):
                    await self._put(error)
        elif found is not None:
            if isinstance(found, JSONRPCRequest) and found.method != _NEVER_ENDS:
                self._due.add(found.id)
            with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
                await incoming.send(SessionMessage(found))

    async def _put(self, message: JSONRPCMessage) -> None:
        text = message.model_dump_json(by_alias=True, exclude_unset=True)
        async with self._turn:
            await anyio.to_thread.run_sync(_write, self.sink, f"{text}\n".encode())


async def _pieces(source: int) -> AsyncIterator[bytes]:
    """What a thread reads, which ends with the process: no other one could be left alone while it waits for input."""
    loop = asyncio.get_running_loop()
    sends, receives = anyio.create_memory_object_stream[bytes](0)

    def read() -> None:
        with suppress(RuntimeError, CancelledError, anyio.BrokenResourceError, anyio.ClosedResourceError):
            while True:
                data = _read(source)
                asyncio.run_coroutine_threadsafe(sends.send(data), loop).result()
                if not data:
                    return

    threading.Thread(target=read, name="cuecard-mcp", daemon=True).start()
    async with sends, receives:
        while data := await receives.receive():
            yield data
            await checkpoint()


def _read(source: int) -> bytes:
    while True:
        try:
            return os.read(source, _PIECE)
        except BlockingIOError:  # who started us uses this pipe without waiting
            select.select([source], [], [])
        except OSError:
            return b""


def _write(sink: int, data: bytes) -> None:
    left = memoryview(data)
    while left:
        try:
            left = left[os.write(sink, left) :]
        except BlockingIOError:
            select.select([], [sink], [])


@contextmanager
def _claimed() -> Iterator[tuple[int, int]]:
    """Descriptors of standard input and output; the usual ones lead elsewhere meanwhile."""
    sys.stdout.flush()
    source, sink = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    try:
        os.dup2(nothing, 0)
        os.dup2(2, 1)
        yield source, sink
    finally:
        sys.stdout.flush()
        os.dup2(source, 0)
        os.dup2(sink, 1)
        for descriptor in (nothing, sink):
            os.close(descriptor)  # not the source: the thread may still read from it
