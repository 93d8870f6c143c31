"""The service as a process: it listens, answers, and shuts down gracefully."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from types import FrameType
from typing import Any

import uvicorn

from cuecard.errors import InputError, Problem
from cuecard.server.connections import ROOM, Connections
from cuecard.server.guard import App
from cuecard.server.logs import log_event
from cuecard.server.options import ServiceOptions
from cuecard.server.protocol import PatientProtocol

if sys.platform != "win32":
    import resource

_KEEP_ALIVE = 30
"""Seconds that a connection may be idle between two requests, longer than the idle timeout of most load balancers."""
_WAITING = 2048
"""The maximum number of connections waiting to be accepted."""
_AT_ONCE = 32
"""Connections that are accepted before others have their turn."""
_OTHER_FILES = 128
"""Files that a process may open besides its connections: those of its agents, and connections that are closing."""
_LAST = 1.0
"""Seconds for which the last connections may still send what they have begun."""


def listen(host: str, port: int) -> socket.socket:
    """A listening socket; port 0 takes any free port.

    Raises:
        InputError: when the address cannot be bound.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP, flags=socket.AI_PASSIVE
        )[0]
        # Without the protocol, asyncio leaves Nagle's algorithm on.
        return _opened(_Listener(family, kind, protocol), address)
    except (OSError, OverflowError) as error:
        told = f"cannot listen on {host}, port {port}: {getattr(error, 'strerror', None) or error}"
        hint = "choose another `--host` or `--port`, or stop the process that listens there"
        raise InputError(Problem("cannot-listen", told, hint, "--port")) from None


def _opened(made: socket.socket, address: Any) -> socket.socket:
    try:
        if os.name == "posix":  # on Windows, it would share the port with another listener
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind(address)
        made.listen(_WAITING)
    except OSError:
        made.close()
        raise
    return made


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


class _Listener(socket.socket):
    """A listening socket that hands out a few connections at a time: asyncio would take all that wait, before any is
    answered or closed.
    """

    _taken = 0

    def accept(self) -> tuple[socket.socket, Any]:
        """The next connection.

        Raises:
            BlockingIOError: when there is none, or others have their turn first.
        """
        if self._taken >= _AT_ONCE:
            self._taken = 0
            raise BlockingIOError
        self._taken += 1
        return super().accept()


class Server(uvicorn.Server):
    """uvicorn with an end that loses nothing; uvicorn's own drops idle connections at once, and requests with them."""

    def __init__(self, config: uvicorn.Config, connections: Connections, grace: float) -> None:
        super().__init__(config)
        self.connections, self._grace = connections, grace

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

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Shut down on SIGINT and SIGTERM; uvicorn's own raises them again, which kills the process."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {each: signal.signal(each, self.handle_exit) for each in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for each, handler in before.items():
                signal.signal(each, handler)


def _accept_all(listening: socket.socket) -> Iterator[socket.socket]:
    with suppress(OSError):  # there are no more
        while True:
            yield socket.socket.accept(listening)[0]
