"""Clients that mean harm to a service on loopback, each as a process: `python attacks.py NAME PORT SECONDS TOKEN`.

A process opens connections, sends what its attack says as fast as one core can, and opens anew what the service closes.
"""

from __future__ import annotations

import selectors
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

_POST = b"POST /v1/prepare-call HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
_CHUNKED = _POST + b"Transfer-Encoding: chunked\r\n"
_TOKEN = b"Authorization: Bearer TOKEN\r\n"
_MISTAKES = b'{"results":[' + b"0," * 500_000 + b"0]}"


@dataclass(frozen=True)
class Attack:
    """What each connection sends: something first, then something again and again, with a pause between."""

    told: str
    connections: int
    first: bytes = b""
    again: bytes = b""
    pause: float = 0.0
    reads: bool = True


ATTACKS = {
    "half": Attack("200 clients without a token promise a body", 200, _POST + b"Content-Length: 10\r\n\r\n"),
    "silent": Attack("1,500 silent connections", 1500),
    "drip": Attack("300 connections send a header byte by byte", 300, b"GET /healthz HTTP/1.1\r\nX: ", b"x", 0.05),
    "chunks": Attack("10 clients without a token send one-byte chunks", 10, _CHUNKED + b"\r\n", b"1\r\nx\r\n" * 20_000),
    "token-chunks": Attack(
        "50 clients with the token send one-byte chunks", 50, _CHUNKED + _TOKEN + b"\r\n", b"1\r\nx\r\n" * 20_000
    ),
    "small-chunks": Attack(
        "50 clients with the token send chunks as small as they may be",
        50,
        _CHUNKED + _TOKEN + b"\r\n",
        (b"100\r\n" + b" " * 256 + b"\r\n") * 200,
    ),
    "headers": Attack(
        "50 clients send requests of thousands of headers",
        50,
        b"",
        b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n" + b"a:\r\n" * 3900 + b"\r\n",
    ),
    "pipeline": Attack(
        "50 clients without a token send requests without waiting",
        50,
        b"",
        b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n" * 500,
    ),
    "description": Attack(
        "50 clients with the token ask for /openapi.json without waiting",
        50,
        b"",
        (b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n" + _TOKEN + b"\r\n") * 50,
    ),
    "deaf": Attack(
        "200 clients with the token read no answer",
        200,
        b"",
        (b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n" + _TOKEN + b"\r\n") * 100,
        reads=False,
    ),
    "garbage": Attack("50 clients send what is no HTTP", 50, b"", b"\x16\x03\x01\x02\r\n\r\n" * 100),
    "storm": Attack("500 connections that are closed and opened again at once", 500, b"GET / HTTP/1.1\r\n\r\n"),
    "mistakes": Attack(
        "50 clients with the token send bodies with half a million mistakes",
        50,
        b"",
        _POST + _TOKEN + b"Content-Length: %d\r\n\r\n" % len(_MISTAKES) + _MISTAKES,
    ),
}


@contextmanager
def attacked(name: str, address: str, seconds: float, token: str, processes: int = 1) -> Iterator[None]:
    """A service under attack; the attackers end by themselves, at the latest after so many seconds."""
    port = address.rpartition(":")[2]
    command = [sys.executable, __file__, name, port, str(seconds), token]
    attackers = [subprocess.Popen(command) for _ in range(processes)]
    try:
        yield
    finally:
        for each in attackers:
            each.kill()
            each.wait()


class _Attacker:
    def __init__(self, attack: Attack, port: int) -> None:
        self._attack, self._port = attack, port
        self._ready = selectors.DefaultSelector()
        self._due: dict[socket.socket, tuple[float, memoryview]] = {}
        self._opened = 0

    def run(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if len(self._due) < self._attack.connections:
                self._open()
            for key, events in self._ready.select(0 if len(self._due) < self._attack.connections else 0.01):
                if isinstance(key.fileobj, socket.socket):
                    self._go_on(key.fileobj, events)
            now = time.monotonic()
            for each in [each for each, (due, rest) in self._due.items() if rest and due <= now]:
                self._ready.modify(each, selectors.EVENT_READ | selectors.EVENT_WRITE)

    def _open(self) -> None:
        opened = socket.socket()
        opened.setblocking(False)  # noqa: FBT003 - its only argument
        self._opened += 1
        with suppress(OSError):  # many addresses where the system has them
            opened.bind((f"127.0.0.{2 + self._opened % 40}", 0))
        opened.connect_ex(("127.0.0.1", self._port))
        self._due[opened] = (0.0, memoryview(self._attack.first or self._attack.again))
        self._ready.register(opened, selectors.EVENT_READ | selectors.EVENT_WRITE)

    def _go_on(self, opened: socket.socket, events: int) -> None:
        try:
            if events & selectors.EVENT_READ and self._attack.reads and not opened.recv(65536):
                raise ConnectionError
            if events & selectors.EVENT_WRITE:
                self._send(opened)
        except BlockingIOError:
            pass
        except OSError:
            self._ready.unregister(opened)
            del self._due[opened]
            opened.close()

    def _send(self, opened: socket.socket) -> None:
        due, rest = self._due[opened]
        if time.monotonic() < due:
            self._ready.modify(opened, selectors.EVENT_READ)
            return
        rest = rest[opened.send(rest) :] if rest else rest
        if not rest:
            rest = memoryview(self._attack.again)
            due = time.monotonic() + self._attack.pause
        self._due[opened] = (due, rest)
        if not rest or due > time.monotonic():
            self._ready.modify(opened, selectors.EVENT_READ)


if __name__ == "__main__":
    chosen, token = ATTACKS[sys.argv[1]], sys.argv[4].encode()
    first, again = (text.replace(b"TOKEN", token) for text in (chosen.first, chosen.again))
    made = Attack(chosen.told, chosen.connections, first, again, chosen.pause, chosen.reads)
    _Attacker(made, int(sys.argv[2])).run(float(sys.argv[3]))
