"""uvicorn's HTTP protocol, hardened against clients that never finish the headers of a request."""

from __future__ import annotations

import asyncio

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from cuecard.errors import Problem
from cuecard.server.problems import problem_response

HEADERS = 10.0
"""Seconds that a connection may take to send the headers of a request, from its first byte or its opening."""


class PatientProtocol(H11Protocol):
    """Closes connections that stay silent after opening, or within the headers of a request."""

    seconds = HEADERS
    _late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # uvicorn narrows it, too
        """A connection was opened."""
        super().connection_made(transport)
        self.access_log = False  # it would log the query string, which may contain anything
        self._wait()

    def handle_events(self) -> None:
        """Handle incoming data."""
        super().handle_events()
        awaits_headers = self.conn.their_state is h11.IDLE
        if awaits_headers and self._late is None and self.conn.trailing_data[0]:
            self._wait()
        elif not awaits_headers:
            self._unwait()

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection is gone."""
        self._unwait()
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        """Answer invalid HTTP with problem details, as for every other error."""
        answer = problem_response(Problem("bad-http", "the request is not valid HTTP/1.1", msg, "request"), close=True)
        head = h11.Response(status_code=answer.status_code, headers=answer.raw_headers)
        for event in (head, h11.Data(data=bytes(answer.body)), h11.EndOfMessage()):
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()

    def _wait(self) -> None:
        self._late = self.loop.call_later(self.seconds, self.transport.close)

    def _unwait(self) -> None:
        if self._late:
            self._late.cancel()
            self._late = None
