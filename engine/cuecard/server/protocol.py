"""uvicorn's HTTP protocol, within limits: of time, of pieces, and of connections."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from typing import Any, NoReturn

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from cuecard.errors import Problem
from cuecard.server.connections import Connections, address_of
from cuecard.server.problems import problem_response

HEADERS = 10.0
"""Seconds that a connection may take to send the headers of a request, from its first byte or its opening."""

MAX_HEAD = 16 * 1024
"""Bytes of a request's headers."""

MAX_PIECES = 256
"""Pieces of a body, apart from one for each `_PIECE` bytes of it: each costs as much as a hundred bytes do."""

MAX_HEADERS = 100
"""Headers of a request."""

_PIECE = 256
_HEALTH = (b"GET /healthz ", b"GET /readyz ")
_HEAD_END = re.compile(rb"\n\r?\n")
_CLOSE = (b"connection", b"close")


class _Parser(h11.Connection):
    """h11 for one connection, within limits; it waits before chunks, and shows each answer before it is sent."""

    def __init__(self, answer: Callable[[h11.Response], h11.Response]) -> None:
        super().__init__(h11.SERVER, MAX_HEAD)
        self._answer = answer
        self._left = 0
        self.waits = False
        self.refusal = Problem("bad-http", "the request is not valid HTTP/1.1", "", "request")

    def next_event(self) -> Any:
        """h11's next event.

        Raises:
            RemoteProtocolError: when the request is not HTTP, has too many headers, or a body of too many pieces.
        """
        if self.waits:
            return h11.NEED_DATA
        if self.their_state is h11.IDLE:
            self._check_head(self.trailing_data[0])
        event = super().next_event()
        if type(event) is h11.Data:
            self._left += len(event.data) - _PIECE
            if self._left < 0:
                self._refuse("the body came in too many small pieces", "send it in pieces of some kilobytes")
        elif type(event) is h11.Request:
            self._left = MAX_PIECES * _PIECE
            self.waits = any(name == b"transfer-encoding" for name, _ in event.headers)
        return event

    def _check_head(self, data: bytes) -> None:
        end = _HEAD_END.search(data)
        if data.count(b"\n", 0, end.start() if end else len(data)) > MAX_HEADERS:
            self._refuse(f"the request has more than {MAX_HEADERS} headers", "send fewer")

    def _refuse(self, told: str, hint: str) -> NoReturn:
        self.refusal = Problem("bad-http", told, hint, "request")
        raise h11.RemoteProtocolError(told)

    def send(self, event: h11.Event) -> bytes | None:  # type: ignore[override]  # h11 has an overload for each event
        """The bytes of an event."""
        return super().send(self._answer(event) if type(event) is h11.Response else event)


class PatientProtocol(H11Protocol, asyncio.BufferedProtocol):
    """Closes connections that send too slowly, in too many pieces, that do not read, or for which there is no room.

    It is a `BufferedProtocol` because asyncio would otherwise take 256 KiB from a connection at once.
    """

    seconds = HEADERS
    _late: asyncio.TimerHandle | None = None
    _stuck: asyncio.TimerHandle | None = None
    _in_line = False

    conn: _Parser

    def __init__(self, *args: Any, connections: Connections, **options: Any) -> None:
        super().__init__(*args, **options)
        self.access_log = False  # it would log the query string, which may contain anything
        self.conn = _Parser(self._answering)
        self.address = ""
        self._connections = connections

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # uvicorn narrows it, too
        """A connection was opened."""
        super().connection_made(transport)
        self.address = address_of(self.client)
        self._wait()
        self._connections.add(self)

    def get_buffer(self, sizehint: int) -> memoryview:  # noqa: ARG002 - asyncio's
        """Where asyncio writes what has arrived: one place for all, since it is read at once."""
        return self._connections.buffer

    def buffer_updated(self, nbytes: int) -> None:
        """So many bytes have arrived."""
        self.data_received(bytes(self._connections.buffer[:nbytes]))

    def handle_events(self) -> None:
        """Something has arrived, or the next request may be read: health checks at once, all others in turn."""
        if self._in_line:
            self.flow.pause_reading()
        elif self.conn.their_state is h11.IDLE and self.conn.trailing_data[0].startswith(_HEALTH):
            self._read()
        else:
            self._in_line = True
            self._connections.turns.take(self)

    def go_on(self) -> None:
        """Read what has arrived."""
        self._in_line = self.conn.waits = False
        if not self.transport.is_closing():
            self.flow.resume_reading()
            self._read()

    def _read(self) -> None:
        before = self.cycle
        super().handle_events()
        if self.cycle is not before:
            self._connections.ask(self, self.scope["path"], self.loop.time())
        if self.conn.waits:  # the service looks at the headers before any piece is read
            self._in_line = True
            self._connections.turns.add(self)
        awaits_headers = self.conn.their_state is h11.IDLE
        if awaits_headers and self._late is None and self.conn.trailing_data[0]:
            self._wait()
        elif not awaits_headers:
            self._unwait()

    def on_response_complete(self) -> None:
        """A request has its answer."""
        answered = self.cycle
        super().on_response_complete()
        if self.cycle is answered:
            self._connections.rest(self, ended=self.transport.is_closing())

    def pause_writing(self) -> None:
        """The client does not read its answer."""
        super().pause_writing()
        self._stuck = self.loop.call_later(self.seconds, self.transport.abort)

    def resume_writing(self) -> None:
        """It does again."""
        super().resume_writing()
        if self._stuck:
            self._stuck.cancel()
            self._stuck = None

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection is gone."""
        self._connections.remove(self)
        self._unwait()
        super().connection_lost(exc)

    def leave(self) -> None:
        """Close the connection, since another one needs its place."""
        self.transport.abort()

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002 - uvicorn's, the same for all
        """Answer invalid HTTP with problem details, as for every other error."""
        if self.conn.our_state in {h11.IDLE, h11.SEND_RESPONSE}:
            answer = problem_response(self.conn.refusal, close=True)
            head = h11.Response(status_code=answer.status_code, headers=answer.raw_headers)
            for event in (head, h11.Data(data=bytes(answer.body)), h11.EndOfMessage()):
                self.transport.write(self.conn.send(event) or b"")
        if self.cycle is not None:  # whoever reads the body waits for nothing more, and has nothing more to say
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        self.transport.close()

    def _answering(self, answer: h11.Response) -> h11.Response:
        """The answer as it is sent: an early one ends the request, and the last one of a service says so."""
        if self.conn.their_state is h11.SEND_BODY:
            self._connections.rest(self, ended=True)
        if self._connections.draining and not self.conn.trailing_data[0] and _CLOSE not in answer.headers:
            return h11.Response(status_code=answer.status_code, headers=[*answer.headers, _CLOSE], reason=answer.reason)
        return answer

    def _wait(self) -> None:
        self._late = self.loop.call_later(self.seconds, self.transport.close)

    def _unwait(self) -> None:
        if self._late:
            self._late.cancel()
            self._late = None
