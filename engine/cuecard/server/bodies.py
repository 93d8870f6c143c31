"""The complete body of a request, read within limits of size and time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import suppress
from typing import Any, TypeAlias

from cuecard.errors import Problem

Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]

_PATIENCE = 8
"""How many times the limit is read and discarded behind an early answer: most clients only listen after sending
everything, and would see a broken connection instead of the answer.
"""
_WRITING = 1.0
"""Seconds for which they may go on."""


class ClientGone(Exception):  # noqa: N818 - a disconnect, not an error
    """The client closed the connection before the request was complete."""


async def read_body(receive: Receive, limit: int, seconds: float) -> bytes | Problem:
    """The complete body, or the reason to reject it.

    Args:
        receive: ASGI's `receive`.
        limit: the maximum size, in bytes.
        seconds: the time limit for its arrival.

    Raises:
        ClientGone: when the client has closed the connection.
    """
    pieces: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(seconds):
            more = True
            while more:
                piece, more = await _piece(receive)
                size += len(piece)
                if size > limit:
                    return _too_large(limit)
                pieces.append(piece)
    except TimeoutError:
        told = f"the request did not arrive within {seconds:g} seconds"
        return Problem(
            "slow-body", told, "send it without delay, or start the service with a larger `--timeout`", "body"
        )
    return b"".join(pieces)


async def discard_body(receive: Receive, limit: int, seconds: float) -> None:
    """Let the client end its request, which has its answer already: not for long, and not without end.

    Raises:
        ClientGone: when the client has closed the connection.
    """
    size, more = 0, True
    with suppress(TimeoutError):
        async with asyncio.timeout(min(seconds, _WRITING)):
            while more and size <= limit * _PATIENCE:
                piece, more = await _piece(receive)
                size += len(piece)


async def _piece(receive: Receive) -> tuple[bytes, bool]:
    """What has arrived, and whether there is more."""
    message = await receive()
    if message["type"] == "http.disconnect":
        raise ClientGone
    return message.get("body", b""), message.get("more_body", False)


def _too_large(limit: int) -> Problem:
    hint = (
        "send only the results since the last step; where the conversation has outgrown the limit, start the "
        "service with a larger `--max-body`, or begin a conversation with a summary of this one"
    )
    return Problem("large-body", f"the body has more than {limit:,} bytes", hint, "body")


def replayed(body: bytes, receive: Receive) -> Receive:
    """An ASGI `receive` that returns the body first, then passes on later messages."""
    pending = [body]

    async def again() -> Message:
        return {"type": "http.request", "body": pending.pop(), "more_body": False} if pending else await receive()

    return again
