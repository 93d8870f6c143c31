"""The body of a request, read as a whole within limits of size and time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, TypeAlias

from cuecard.errors import Problem

Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]

_PATIENCE = 8
"""Of a body that is too large, so many times the limit is read and thrown away: most clients listen only when they have
sent everything, and would see a broken connection in place of the answer."""


class ClientGone(Exception):  # noqa: N818 - it went away; nothing is wrong
    """The client has closed the connection before the request was whole."""


async def read_body(receive: Receive, limit: int, seconds: float, *, keep: bool = True) -> bytes | Problem:
    """The whole body, or why it is not taken.

    Args:
        receive: as ASGI has it.
        limit: bytes, at most.
        seconds: how long it may take to arrive.
        keep: False reads the body and throws it away.

    Raises:
        ClientGone: when the client has closed the connection.
    """
    pieces: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(seconds):
            more = True
            while more and size <= limit * _PATIENCE:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise ClientGone
                piece, more = message.get("body", b""), message.get("more_body", False)
                size += len(piece)
                if keep and size <= limit:
                    pieces.append(piece)
    except TimeoutError:
        if size <= limit:
            told = f"the request did not arrive within {seconds:g} seconds"
            return Problem(
                "slow-body", told, "send it without delay, or start the service with a larger `--timeout`", "body"
            )
    if size > limit:
        told = f"the body has more than {limit:,} bytes"
        hint = (
            "send only the results since the last step; where the conversation has outgrown the limit, start the "
            "service with a larger `--max-body`, or begin a conversation with a summary of this one"
        )
        return Problem("large-body", told, hint, "body")
    return b"".join(pieces)


def replayed(body: bytes, receive: Receive) -> Receive:
    """A `receive` that gives the body, and then whatever comes."""
    pending = [body]

    async def again() -> Message:
        return {"type": "http.request", "body": pending.pop(), "more_body": False} if pending else await receive()

    return again
