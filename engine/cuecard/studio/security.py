"""What stands around every request: who may ask, from which page, and what a page may do.

The token comes once in the address that the command prints, and from then on in a cookie that no script can read: the
first answer leads to the same address without it, so it is in no page, history, log or `Referer`.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import replace
from typing import Any, TypeAlias
from urllib.parse import parse_qsl, quote, urlencode

from cuecard.errors import Problem
from cuecard.server.door import refused_site

Message: TypeAlias = MutableMapping[str, Any]
Scope: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
App: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]
Refuse: TypeAlias = Callable[[Problem, int], App]
"""Makes the page that says why a request is refused."""

MAX_BODY = 1024 * 1024
"""Bytes of the body of a request."""

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)
_HEADERS = (
    (b"content-security-policy", _POLICY.encode()),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-content-type-options", b"nosniff"),
)
_PRIVATE = (b"cache-control", b"no-store")
_READS = frozenset({"GET", "HEAD"})


class Keys:
    """The secrets of one studio; `port` keeps the cookies of two studios on one machine apart."""

    def __init__(self, token: str, port: int) -> None:
        self.token: str = token
        self.port: int = port
        self._tickets: set[str] = set()

    @property
    def cookie(self) -> str:
        """The name of the cookie."""
        return f"cuecard-studio-{self.port}"

    @property
    def write(self) -> str:
        """What a request that writes must bring in the header `x-cuecard`: only our own pages know it."""
        return hmac.new(self.token.encode(), b"write", "sha256").hexdigest()

    def opens(self, token: str) -> bool:
        """Whether this is the token."""
        return hmac.compare_digest(token.encode("utf-8", "surrogatepass"), self.token.encode())

    def ticket(self) -> str:
        """What lets one browser in, once: it stands in the list of processes when the command opens a browser."""
        made = secrets.token_urlsafe(24)
        self._tickets.add(made)
        return made

    def admits(self, told: str) -> bool:
        """Whether an address brings the token, or a ticket that nobody has used."""
        if told in self._tickets:
            self._tickets.remove(told)
            return True
        return self.opens(told)


class Guard:
    """An ASGI application around the studio's routes."""

    def __init__(self, app: App, keys: Keys, refuse: Refuse, *, local: bool) -> None:
        self._app, self._keys, self._refuse, self._local = app, keys, refuse, local

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        answer = self._answer(scope) or self._app
        await answer(scope, _bounded(receive), _marked(send, public=scope["path"].startswith("/static/")))

    def _answer(self, scope: Scope) -> App | None:
        """The application that answers instead of the studio's; None to let the request in."""
        if foreign := refused_site(scope["headers"], local=self._local):
            hint = "open the studio in a tab of its own, at the address that `cuecard studio` has printed"
            return self._refuse(replace(foreign, advice=hint), 403)
        if scope["path"].startswith("/static/"):
            return None
        headers = dict(scope["headers"])
        if not self._keys.opens(_cookie(headers, self._keys.cookie)):
            return self._enter(scope)
        asked = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        if any(name == "token" for name, _ in asked):
            return _lead(scope["path"], [each for each in asked if each[0] != "token"], None)
        if scope["method"] in _READS:
            return None
        return self._refused_write(headers)

    def _enter(self, scope: Scope) -> App:
        """Whoever brings the token gets the cookie, and the same address without it."""
        asked = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        told = [value for name, value in asked if name == "token"]
        if scope["method"] in _READS and len(told) == 1 and self._keys.admits(told[0]):
            return _lead(scope["path"], [each for each in asked if each[0] != "token"], self._keys)
        hint = "open the address that `cuecard studio` has printed"
        return self._refuse(Problem("no-token", "this browser has not been let in yet", hint, "studio"), 401)

    def _refused_write(self, headers: dict[bytes, bytes]) -> App | None:
        told = headers.get(b"x-cuecard", b"").decode("latin-1")
        if hmac.compare_digest(told.encode(), self._keys.write.encode()):
            length = headers.get(b"content-length", b"0")
            if length.isdigit() and int(length) <= MAX_BODY:
                return None
            problem = Problem("large-body", f"the form has more than {MAX_BODY:,} bytes", "shorten it", "body")
            return self._refuse(problem, 413)
        hint = "reload the page, and try again"
        return self._refuse(
            Problem("foreign-site", "this form was not sent by a page of the studio", hint, "form"), 403
        )


def _cookie(headers: dict[bytes, bytes], name: str) -> str:
    pairs = (pair.strip().partition("=") for pair in headers.get(b"cookie", b"").decode("latin-1").split(";"))
    return next((value for key, _, value in pairs if key == name), "")


def _lead(path: str, asked: list[tuple[str, str]], keys: Keys | None) -> App:
    """The way to an address of the studio, with the cookie for those who have just been let in."""
    place = "/" + quote(path.lstrip("/\\"), safe="/") + (f"?{urlencode(asked)}" if asked else "")
    headers = [(b"location", place.encode("ascii")), (b"content-length", b"0")]
    if keys:
        headers.append((b"set-cookie", f"{keys.cookie}={keys.token}; Path=/; HttpOnly; SameSite=Strict".encode()))

    async def lead(_scope: Scope, _receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 303, "headers": headers})
        await send({"type": "http.response.body", "body": b""})

    return lead


def _marked(send: Send, *, public: bool) -> Send:
    async def marked(message: Message) -> None:
        if message["type"] == "http.response.start":
            more = _HEADERS if public else (*_HEADERS, _PRIVATE)
            message["headers"] = [*message.get("headers", ()), *more]
        await send(message)

    return marked


def _bounded(receive: Receive) -> Receive:
    """What is received, up to a limit: a body without a length is cut off there."""
    left = MAX_BODY

    async def bounded() -> Message:
        nonlocal left
        message = await receive()
        left -= len(message.get("body", b""))
        return message if left >= 0 else {"type": "http.disconnect"}

    return bounded
