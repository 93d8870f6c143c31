"""The service as a process: what it listens on, how it reads requests, how it drains and ends."""

from __future__ import annotations

import asyncio
import re
import socket
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, suppress
from functools import partial
from types import FrameType
from typing import Any, NoReturn
from weakref import WeakMethod

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from cuecard.errors import InputError, Problem
from cuecard.server.connections import ROOM, Connections, address_of
from cuecard.server.door import ended_by_signals
from cuecard.server.guard import App
from cuecard.server.monitoring import log_event
from cuecard.server.options import ServiceOptions
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
_HEALTH = (b"GET /healthz ", b"GET /readyz ", b"HEAD /healthz ", b"HEAD /readyz ")
_HEAD_END = re.compile(rb"\n\r?\n")
_CLOSE = (b"connection", b"close")
_READ = {h11.DONE, h11.MUST_CLOSE}
"""A client's states in which its request has been read as a whole."""


class _Parser(h11.Connection):
    """h11 for one connection, within limits; it waits before chunks, and shows each answer before it is sent."""

    def __init__(self, answer: Callable[[h11.Response], h11.Response]) -> None:
        super().__init__(h11.SERVER, MAX_HEAD)
        self._answer = WeakMethod(answer)  # so that what a lost connection has sent is freed at once
        self._left = 0
        self._head = b""
        self.waits: bool = False
        self.refusal: Problem = Problem("bad-http", "the request is not valid HTTP/1.1", "", "request")

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
            self._check_framing({name for name, _ in event.headers})
        return event

    def _check_head(self, data: bytes) -> None:
        if data.count(b"\n") <= MAX_HEADERS:
            return
        end = _HEAD_END.search(data)
        if data.count(b"\n", 0, end.start() if end else len(data)) > MAX_HEADERS:
            self._refuse(f"the request has more than {MAX_HEADERS} headers", "send fewer")

    def _check_framing(self, names: set[bytes]) -> None:
        chunked = b"transfer-encoding" in names
        if chunked and b"content-length" in names:  # whoever stands in front may see another end of the body
            self._refuse("the request has both a `Content-Length` and a `Transfer-Encoding`", "send one of them")
        self.waits = chunked

    def _refuse(self, told: str, hint: str) -> NoReturn:
        self.refusal = Problem("bad-http", told, hint, "request")
        raise h11.RemoteProtocolError(told)

    def send(self, event: h11.Event) -> bytes | None:  # type: ignore[override]  # h11 has an overload for each event
        """The bytes of an event; those of an answer's headers come with what follows, so that both are sent at once."""
        if type(event) is h11.Response:
            answer = self._answer()
            self._head = super().send(answer(event) if answer else event) or b""
            return b""
        head, self._head = self._head, b""
        sent = super().send(event)
        return head + sent if head and sent is not None else sent


class PatientProtocol(H11Protocol, asyncio.BufferedProtocol):
    """Closes connections that send too slowly, in too many pieces, that do not read, or for which there is no room.

    It is a `BufferedProtocol` because asyncio would otherwise take 256 KiB from a connection at once.
    """

    seconds = HEADERS
    _late: asyncio.TimerHandle | None = None
    _stuck: asyncio.TimerHandle | None = None
    _in_line = False
    _said_all = False

    conn: _Parser

    def __init__(self, *args: Any, connections: Connections, **options: Any) -> None:
        super().__init__(*args, **options)
        self.access_log = False  # it would log the query string, which may contain anything
        self.conn = _Parser(self._answering)
        self.address: str = ""
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

    def eof_received(self) -> bool:  # type: ignore[override]  # uvicorn's always ends the connection
        """The client sends nothing more; a request that came whole still has its answer."""
        self._said_all = True
        return self._in_line or self.conn.their_state in _READ

    def handle_events(self) -> None:
        """Something has arrived, or the next request may be read: health checks at once, all others in turn."""
        if self._in_line:
            self.flow.pause_reading()
        elif self._takes_no_time():
            self._read()
        else:
            self._in_line = True
            self._connections.turns.take(self)

    def _takes_no_time(self) -> bool:
        if self.conn.their_state is not h11.IDLE:
            return False
        begun = self.conn.trailing_data[0]
        return not begun or begun.startswith(_HEALTH)

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
        if self._said_all and not self._in_line and self.conn.their_state not in _READ:
            self.transport.close()
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


if sys.platform != "win32":
    import resource

_KEEP_ALIVE = 30
"""Seconds that a connection may be idle between two requests, longer than the idle timeout of most load balancers."""
_OTHER_FILES = 128
"""Files that a process may open besides its connections: those of its agents, and connections that are closing."""
_LAST = 1.0
"""Seconds for which the last connections may still send what they have begun."""


def run_app(app: App, listening: socket.socket, options: ServiceOptions) -> None:
    """Serve until SIGINT or SIGTERM; then say so, answer until nobody asks, and stop."""
    host, port = listening.getsockname()[:2]
    server = server_of(app, options)
    log_event("listening", host=host, port=port, connections=server.connections.most)
    with listening:
        server.run(sockets=[listening])
    log_event("stopped")


def server_of(app: App, options: ServiceOptions) -> Server:
    """The HTTP server for the application.

    Raises:
        InputError: when the system allows too few connections.
    """
    connections = Connections(_most_connections(options), options.max_per_address)
    config = uvicorn.Config(
        app,
        http=partial(PatientProtocol, connections=connections),  # type: ignore[arg-type]  # it makes protocols as a class
        loop="asyncio",  # others do not ask the listener for each connection
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,  # nobody asks what they say
        timeout_keep_alive=_KEEP_ALIVE,
        timeout_graceful_shutdown=max(1, round(options.timeout)),
    )
    return Server(config, connections, options.grace)


def _most_connections(options: ServiceOptions) -> int:
    """As many as the options say, unless the system allows the process fewer open files."""
    if sys.platform == "win32":
        return options.max_connections
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = options.max_connections + _OTHER_FILES
    if soft != resource.RLIM_INFINITY and soft < wanted:
        soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        wanted = soft
    most = wanted - _OTHER_FILES
    if most < options.max_requests + ROOM:
        told = f"the process may open {soft} files, which is too few for {options.max_requests} requests at once"
        hint = f"raise the limit (`ulimit -n {options.max_connections + _OTHER_FILES}`), or lower `--max-requests`"
        raise InputError(Problem("wrong-option", told, hint, "--max-requests"))
    return most


class Server(uvicorn.Server):
    """uvicorn with an end that loses nothing; uvicorn's own drops idle connections at once, and requests with them."""

    def __init__(self, config: uvicorn.Config, connections: Connections, grace: float) -> None:
        super().__init__(config)
        self.connections: Connections = connections
        self._grace = grace

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """SIGINT or SIGTERM: from here on, `/readyz` and every answer say that the service stops."""
        self.connections.draining = True
        super().handle_exit(sig, frame)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to listen; each request can see whether the service is told to stop."""
        await super().startup(sockets)
        self.lifespan.state["connections"] = self.connections

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Go on until nobody would notice, or until the time is over; then stop."""
        if self.connections.draining:
            log_event("draining", seconds=self._grace)
            await self._until(lambda: self.connections.quiet(time.monotonic()), self._grace)
            await self._accept_last(sockets or [])
            await self._until(lambda: not self.connections.silent, _LAST)
            await self._until(lambda: not self.connections.turns, self._grace)
        await super().shutdown(sockets)

    async def _accept_last(self, sockets: list[socket.socket]) -> None:
        """Close the listeners; who is already connected would be cut off, and is accepted."""
        opened = [each for listening in sockets for each in _accept_all(listening)]
        for server in self.servers:
            server.close()
        made: Callable[..., asyncio.Protocol] = self.config.http_protocol_class
        make = partial(made, config=self.config, server_state=self.server_state, app_state=self.lifespan.state)
        for each in opened:
            await asyncio.get_running_loop().connect_accepted_socket(make, each)

    async def _until(self, done: Callable[[], bool], seconds: float) -> None:
        end = time.monotonic() + seconds
        while not (self.force_exit or done() or time.monotonic() > end):  # noqa: ASYNC110 - as uvicorn itself waits
            await asyncio.sleep(0.01)

    def capture_signals(self) -> AbstractContextManager[None]:  # type: ignore[override]  # uvicorn's is one, too
        """Shut down on SIGINT and SIGTERM."""
        return ended_by_signals(self.handle_exit)


def _accept_all(listening: socket.socket) -> Iterator[socket.socket]:
    with suppress(OSError):  # there are no more
        while True:
            yield socket.socket.accept(listening)[0]
