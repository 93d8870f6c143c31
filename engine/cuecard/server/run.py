"""The service as a process: it listens, answers, and shuts down gracefully."""

from __future__ import annotations

import os
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn

from cuecard.errors import InputError, Problem
from cuecard.server.guard import App
from cuecard.server.logs import log_event
from cuecard.server.options import ServiceOptions
from cuecard.server.protocol import PatientProtocol

_KEEP_ALIVE = 30
"""Seconds that a connection may be idle between two requests, longer than the idle timeout of most load balancers."""
_WAITING = 2048
"""The maximum number of connections waiting to be accepted."""


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
        return _opened(socket.socket(family, kind, protocol), address)
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
    """Serve until SIGINT or SIGTERM; then accept nothing more, and let running requests finish."""
    host, port = listening.getsockname()[:2]
    log_event("listening", host=host, port=port)
    with listening:
        server_of(app, options).run(sockets=[listening])
    log_event("stopped")


def server_of(app: App, options: ServiceOptions) -> uvicorn.Server:
    """The HTTP server for the application."""
    config = uvicorn.Config(
        app,
        http=PatientProtocol,
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_keep_alive=_KEEP_ALIVE,
        timeout_graceful_shutdown=max(1, round(options.grace)),
    )
    return _Server(config)


class _Server(uvicorn.Server):
    """A server that exits normally on a signal: uvicorn's own raises it again, which kills the process."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Shut down on SIGINT and SIGTERM."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {each: signal.signal(each, self.handle_exit) for each in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for each, handler in before.items():
                signal.signal(each, handler)
