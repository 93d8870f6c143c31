"""What stands around every request: authorization, limits, and the sites that may ask."""

from __future__ import annotations

import hmac
import logging
import re
import secrets
import time
from collections.abc import Awaitable, Callable, Iterator, MutableMapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeAlias

from cuecard.errors import Problem
from cuecard.server.door import refused_site
from cuecard.server.monitoring import Metrics, log_event
from cuecard.server.options import ServiceOptions
from cuecard.server.problems import problem_response
from cuecard.server.strict_json import DisconnectError, Message, Receive, discard_body, read_body, replayed

Scope: TypeAlias = MutableMapping[str, Any]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
App: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]

OPEN = frozenset({"/", "/healthz", "/readyz"})
"""The paths that are always open: monitoring uses them, and `/` says what anybody may know."""

PATHS = frozenset(
    {"/v1/agents", "/v1/prepare-call", "/v1/prepare-step", "/v1/search-tools", "/v1/remember", "/metrics"}
    | {"/openapi.json", *OPEN}
)

_ID = re.compile(r"[A-Za-z0-9._:-]{1,100}")
GONE = 499
"""The status in logs and metrics for a client that did not wait."""


@dataclass(slots=True)
class RequestFacts:
    """The facts about a request for its log line."""

    status: int = 0
    agent: str = ""
    codes: tuple[str, ...] = ()
    sent: int = 0
    size: int = 0
    refused: bool = False


class RequestGuard:
    """An ASGI application around another one."""

    def __init__(self, app: App, options: ServiceOptions, metrics: Metrics) -> None:
        self._app, self._options, self._metrics = app, options, metrics
        self._tokens = [f"Bearer {token}".encode() for token in options.tokens]
        self._running = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started, facts = time.perf_counter(), RequestFacts()
        headers = dict(scope["headers"])
        asked = headers.get(b"x-request-id", b"").decode("latin-1")
        name = asked if _ID.fullmatch(asked) else secrets.token_hex(8)
        scope["cuecard"] = facts
        try:
            await self._answer(scope, receive, _watched(send, facts, name), facts)
        except DisconnectError:
            facts.status = facts.status or GONE
        except Exception as error:  # noqa: BLE001 - logged without its text; the client has its answer already
            log_event("fault", logging.ERROR, fault=error, request=name, path=_path(scope))
        finally:
            self._log(scope, facts, name, time.perf_counter() - started)

    async def _answer(self, scope: Scope, receive: Receive, send: Send, facts: RequestFacts) -> None:
        options = self._options
        if scope["path"] in OPEN:
            await self._app(scope, receive, _closing(send))
            return
        refusal = self._refusal(scope["headers"])
        if not refusal:
            with self._counted():
                body = await read_body(receive, options.max_body, options.timeout)
                if not isinstance(body, Problem):
                    facts.size = len(body)
                    await self._app(scope, replayed(body, receive), send)
                    return
                refusal = body
        await self._refuse(refusal, receive, send, facts)

    def _refusal(self, headers: Sequence[tuple[bytes, bytes]]) -> Problem | None:
        """Why a request is refused before its body is read."""
        if not self._tokens:  # which no page has
            foreign = refused_site(headers, local=self._options.local)
        elif _is_one_of(self._tokens, dict(headers).get(b"authorization", b"")):
            foreign = None
        else:
            hint = "send `Authorization: Bearer ...` with the token that the service was started with"
            foreign = Problem("no-token", "the request has no token, or the wrong one", hint, "authorization")
        if foreign:
            return foreign
        if self._running >= self._options.max_requests:
            told = f"the service is already handling {self._options.max_requests} requests"
            return Problem("too-busy", told, "try again in a moment, or start more replicas", "service")
        return None

    async def _refuse(self, problem: Problem, receive: Receive, send: Send, facts: RequestFacts) -> None:
        """Answer at once; then let the client end what it is sending, since it may not listen before."""
        response = problem_response(problem, close=True)
        facts.codes, facts.refused = response.codes, True
        await send({"type": "http.response.start", "status": response.status_code, "headers": response.raw_headers})
        await send({"type": "http.response.body", "body": response.body, "more_body": True})
        await discard_body(receive, self._options.max_body, self._options.timeout)
        await send({"type": "http.response.body"})

    @contextmanager
    def _counted(self) -> Iterator[None]:
        self._count(1)
        try:
            yield
        finally:
            self._count(-1)

    def _count(self, more: int) -> None:
        self._running += more
        self._metrics.running.set(self._running)

    def _log(self, scope: Scope, facts: RequestFacts, name: str, seconds: float) -> None:
        path = _path(scope)
        by_anyone = facts.refused or path in OPEN
        self._metrics.answered(path, facts.status, seconds, facts.codes)
        log_event(
            "request",
            logging.DEBUG if path in OPEN and facts.status == 200 else logging.INFO,
            seldom=(*facts.codes, str(facts.status))[0] if by_anyone else "",
            request=name,
            path=path,
            status=facts.status,
            ms=round(seconds * 1000, 3),
            agent=facts.agent,
            codes=list(facts.codes),
            received=facts.size,
            sent=facts.sent,
        )


def _is_one_of(tokens: Sequence[bytes], told: bytes) -> bool:
    """Whether it is a valid token; all are compared, so that the time says nothing."""
    return sum([hmac.compare_digest(told, each) for each in tokens]) > 0


def _path(scope: Scope) -> str:
    """The path if it is a known one: any other could contain anything."""
    path: str = scope["path"]
    return path if path in PATHS else "other"


def _watched(send: Send, facts: RequestFacts, name: str) -> Send:
    async def watched(message: Message) -> None:
        if message["type"] == "http.response.start":
            facts.status = message["status"]
            message["headers"] = [*message.get("headers", ()), (b"x-request-id", name.encode("ascii"))]
        facts.sent += len(message.get("body", b""))
        await send(message)

    return watched


def _closing(send: Send) -> Send:
    """For answers to anyone: only a request that was let in keeps its connection."""

    async def closing(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message.get("headers", ()), (b"connection", b"close")]
        await send(message)

    return closing
