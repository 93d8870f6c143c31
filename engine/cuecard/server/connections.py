"""The open connections of a service: how many there may be, and which of them makes room for a new one."""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import time
from collections import Counter
from collections.abc import Hashable
from itertools import islice
from typing import Protocol

from cuecard.server.monitoring import log_event

ROOM = 32
"""Connections that are kept free of requests which wait or are answered: so many more than those may be open."""

READ = 64 * 1024
"""Bytes that are taken from a connection at once, before the next one has its turn."""

_QUIET = 1.0
"""Seconds without a request after which a service that is told to stop takes itself for left alone."""


_AT_ONCE = 16
"""Connections that are read before answers that are ready have their turn."""

_TURN = 0.005
"""Seconds for the same."""
_CALM = 0.05
"""Seconds in which as many are read as soon as they have sent something, since nobody waits for long then."""


class Connection(Hashable, Protocol):
    """What is asked of a connection."""

    address: str

    def go_on(self) -> None:
        """Read what it has sent."""

    def leave(self) -> None:
        """Close it at once."""


class Connections:
    """All open connections; each is silent (it has asked nothing yet), busy with a request, or idle between two."""

    def __init__(self, most: int, most_each: int) -> None:
        self.buffer: memoryview = memoryview(bytearray(READ))
        self.turns: Turns = Turns()
        self.draining = False
        self.most = most
        self._most_each = most_each
        self._all: set[Connection] = set()
        self._each: Counter[str] = Counter()
        self._silent, self._idle = _Line(), _Line()
        self._last = 0.0
        self._watched = self._told = False

    def add(self, new: Connection) -> None:
        """Count a connection that was opened; beyond a limit, the one that has been silent for longest is closed."""
        self._all.add(new)
        self._each[new.address] += 1
        self._silent.add(new)
        if self._each[new.address] > self._most_each:
            self._make_room(new.address)
        elif len(self._all) > self.most:
            self._make_room(None)

    def remove(self, lost: Connection) -> None:
        """Count it no longer; a second time changes nothing."""
        if lost in self._all:
            self._all.remove(lost)
            self._each[lost.address] -= 1
            if not self._each[lost.address]:
                del self._each[lost.address]
            self._leave_lines(lost)
            self.turns.discard(lost)

    def ask(self, asking: Connection, path: str, now: float) -> None:
        """It has sent the headers of a request."""
        self._leave_lines(asking)
        if path == "/readyz":
            self._watched, self._told = True, self._told or self.draining
        elif path != "/healthz":
            self._last = now

    def rest(self, answered: Connection, *, ended: bool = False) -> None:
        """It has its answer; `ended`, its last one, so that it is as good as silent."""
        if answered in self._all:
            self._leave_lines(answered)
            (self._silent if ended else self._idle).add(answered)

    @property
    def busy(self) -> int:
        """How many requests are being read or answered."""
        return len(self._all) - len(self._silent) - len(self._idle) + len(self.turns)

    @property
    def silent(self) -> int:
        """How many connections have asked nothing yet."""
        return len(self._silent)

    def quiet(self, now: float) -> bool:
        """Whether nobody would notice an end: no new request for a while, and who watches `/readyz` has been told."""
        return now - self._last >= _QUIET and self._told >= self._watched

    def _make_room(self, address: str | None) -> None:
        leaving = self._silent.oldest(address) or self._idle.oldest(address)
        if leaving:
            self.remove(leaving)
            leaving.leave()
        where = "from one address" if address else "in all"
        most = self._most_each if address else self.most
        told = (
            f"there are {most:,} connections {where}: the one that has been silent for longest makes room for a new one"
        )
        log_event("connections-full", logging.WARNING, seldom=where, message=told)

    def _leave_lines(self, one: Connection) -> None:
        self._silent.discard(one)
        self._idle.discard(one)


class Turns:
    """Connections that have sent something, read in turn: however many they are, other work is soon done as well."""

    def __init__(self) -> None:
        self._waiting: dict[Connection, None] = {}
        self._since, self._read = 0.0, 0
        self._runs = False

    def __len__(self) -> int:
        return len(self._waiting)

    def take(self, one: Connection) -> None:
        """Read it now if few have sent something, or else in its turn."""
        if not self._waiting and self._is_calm():
            one.go_on()
        else:
            self.add(one)

    def add(self, one: Connection) -> None:
        """Read it in its turn, after other work."""
        self._waiting[one] = None
        self._go_on()

    def discard(self, lost: Connection) -> None:
        """Forget a connection, with what it has sent: it may be lost long before its turn."""
        self._waiting.pop(lost, None)

    def _is_calm(self) -> bool:
        now = time.monotonic()
        if now - self._since > _CALM:
            self._since, self._read = now, 0
        self._read += 1
        return self._read <= _AT_ONCE

    def _go_on(self) -> None:
        if self._waiting and not self._runs:
            self._runs = True
            asyncio.get_running_loop().call_soon(self._run)

    def _run(self) -> None:
        end = time.monotonic() + _TURN
        try:
            for one in [*islice(self._waiting, _AT_ONCE)]:
                self.discard(one)
                one.go_on()
                if time.monotonic() > end:
                    break
        finally:
            self._runs = False
            self._go_on()


class _Line:
    """Connections in the order in which they came, and those of each address."""

    def __init__(self) -> None:
        self._all: dict[Connection, None] = {}
        self._each: dict[str, dict[Connection, None]] = {}

    def __len__(self) -> int:
        return len(self._all)

    def add(self, one: Connection) -> None:
        self._all[one] = self._each.setdefault(one.address, {})[one] = None

    def discard(self, one: Connection) -> None:
        if one in self._all:
            del self._all[one], self._each[one.address][one]
            if not self._each[one.address]:
                del self._each[one.address]

    def oldest(self, address: str | None) -> Connection | None:
        return next(iter(self._all if address is None else self._each.get(address, ())), None)


def address_of(client: tuple[str, int] | None) -> str:
    """What a limit for each address counts: an IPv4 address, or the network of an IPv6 one (its first 64 bits)."""
    host = client[0] if client else ""
    if ":" not in host:
        return host
    address = ipaddress.IPv6Address(host.partition("%")[0])
    mapped = address.ipv4_mapped
    return str(mapped) if mapped else address.packed[:8].hex()
