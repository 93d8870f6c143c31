"""Who may come in, and where one listens: what the service and the studio share.

A browser lets any page send requests to this machine, and a page whose host name is rebound to this machine (DNS
rebinding) can read the answers. Headers that no page can change identify such requests.
"""

from __future__ import annotations

import ipaddress
import os
import signal
import socket
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any
from urllib.parse import urlsplit

from cuecard.errors import InputError, Problem, visible

_SHOWN = 100
_HINT = "send requests from a program instead of a web page, or set CUECARD_TOKEN and send the token"
_OTHER_SITES = frozenset({b"cross-site", b"same-site"})

Headers = Iterable[tuple[bytes, bytes]]


def refused_site(headers: Headers, *, local: bool) -> Problem | None:
    """Why a request is refused as coming from another site's page; None if it is accepted.

    Args:
        headers: the request's headers, with names in lower case.
        local: whether the service listens on loopback, so that `Host` must be a name of this machine.
    """
    told = [(name, value) for name, value in headers if name in {b"host", b"origin", b"sec-fetch-site"}]
    hosts = [value for name, value in told if name == b"host"]
    if local and not (len(hosts) == 1 and _is_here(hosts[0])):
        return Problem("foreign-site", _wrong_host(hosts), _HINT, "host")
    for name, value in told:
        if name == b"origin" and not any(_is_same(value, host) for host in hosts):
            return Problem("foreign-site", f"the request comes from a page of `{_shown(value)}`", _HINT, "origin")
        if name == b"sec-fetch-site" and value.strip().lower() in _OTHER_SITES:
            return Problem("foreign-site", "the request comes from a page of another site", _HINT, "sec-fetch-site")
    return None


def _wrong_host(hosts: list[bytes]) -> str:
    if len(hosts) != 1:
        return "the request has several `Host` headers" if hosts else "the request has no `Host` header"
    return f"the request's host is `{_shown(hosts[0])}`, which is not this machine"


def _shown(header: bytes) -> str:
    return visible(header.decode("latin-1"))[:_SHOWN]


def is_loopback(host: str) -> bool:
    """Whether a host name or address means this machine."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def _is_here(host: bytes) -> bool:
    try:
        named = urlsplit(f"//{host.decode('ascii')}")
        whole = named.netloc == host.decode("ascii") and named.username is None and named.port != 0
        return whole and is_loopback(named.hostname or "")
    except ValueError:  # non-ASCII bytes, or an invalid port
        return False


def _is_same(origin: bytes, host: bytes) -> bool:
    return origin.lower() in {b"http://" + host.lower(), b"https://" + host.lower()}


_WAITING = 2048
"""The maximum number of connections waiting to be accepted."""
_AT_ONCE = 32
"""Connections that are accepted before others have their turn."""


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


@contextmanager
def ended_by_signals(end: Callable[[int, FrameType | None], object]) -> Iterator[None]:
    """SIGINT and SIGTERM call `end` meanwhile; uvicorn's own way raises them again, which kills the process."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {each: signal.signal(each, end) for each in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
