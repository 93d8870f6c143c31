"""Whole bodies as strict JSON, with the place of each mistake."""

from __future__ import annotations

import asyncio
import email.message
import json
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import suppress
from json import JSONDecodeError
from typing import Any, NoReturn, TypeAlias

from pydantic import ValidationError

from cuecard.config.documents.document import Document, json_places, problem_at
from cuecard.config.documents.validation import Model, validate
from cuecard.errors import InputError, Problem, Span
from cuecard.model import Json


def json_bytes(value: Json) -> bytes:
    """The value as ASCII JSON: a text may contain a lone surrogate, which UTF-8 cannot encode."""
    return json.dumps(value, separators=(",", ":"), allow_nan=False).encode("ascii")


def read_json(body: bytes) -> Json:
    """The value of a JSON text in UTF-8.

    Raises:
        JSONDecodeError: when it is not valid JSON, which excludes `NaN`, `Infinity` and numbers that are too large.
    """
    try:
        return json.loads(body.decode("utf-8-sig"), parse_constant=_no_number, parse_float=_finite)
    except JSONDecodeError:
        raise
    except RecursionError:
        raise JSONDecodeError("nested too deeply", "", 0) from None
    except UnicodeDecodeError as error:
        raise JSONDecodeError("not UTF-8", "", error.start) from None
    except ValueError:  # of an integer of more digits than Python reads
        raise JSONDecodeError("a number has too many digits", "", 0) from None


def _finite(text: str) -> float:
    value = float(text)
    return value if abs(value) != float("inf") else _no_number(text)


def _no_number(text: str) -> NoReturn:
    raise JSONDecodeError(f"`{text[:20]}` is not a JSON number", "", 0)


_NAME = "body"


def _syntax(body: bytes, error: json.JSONDecodeError) -> Problem:
    text = body.decode("utf-8", "replace")
    before = text[: error.pos]
    span = Span(before.count("\n") + 1, error.pos - (before.rfind("\n") + 1) + 1)
    return problem_at(_NAME, text, span, "json-syntax", f"the body is not JSON: {error.msg}", "")


_JSON = "application/json"

_MISTAKES = 1000
"""Mistakes of a body that are told one by one: half a million of them would take the processor for many seconds."""


def body_of(data: bytes, content_type: str, model: type[Model]) -> Model:
    """The body of a request.

    Raises:
        InputError: when it is no JSON object in UTF-8, or has very many mistakes.
        SpecError: with each mistake in it and its place.
    """
    if not data:
        raise InputError(Problem("json-syntax", "the body is empty", "send a JSON object", _NAME))
    if not _says_json(content_type):
        raise InputError(_wrong_type(content_type))
    try:
        value = read_json(data)
        return model.model_validate(value)
    except JSONDecodeError as error:
        raise InputError(_syntax(data, error)) from None
    except ValidationError as error:
        mistakes = error.error_count()
    if not isinstance(value, dict):
        raise InputError(Problem("wrong-value", "the body should be a JSON object", "", _NAME))
    if mistakes > _MISTAKES:
        hint = "see /openapi.json for what it may hold"
        raise InputError(Problem("wrong-value", f"the body has {mistakes:,} mistakes", hint, _NAME))
    text = data.decode("utf-8-sig")
    return validate(Document(_NAME, text, value, *json_places(text)), model)  # it finds the places, and raises


def _says_json(content_type: str) -> bool:
    """Whether a body is JSON by its header, as FastAPI reads it."""
    if content_type == _JSON:
        return True
    told = email.message.Message()
    told["content-type"] = content_type
    kind = told.get_content_subtype()
    return told.get_content_maintype() == "application" and (kind == "json" or kind.endswith("+json"))


def _wrong_type(said: str) -> Problem:
    told = f"the `Content-Type` is `{said[:100]}`" if said else "the request has no `Content-Type`"
    return Problem("wrong-media-type", told, f"send `Content-Type: {_JSON}`", "content-type")


Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]

_PATIENCE = 8
"""How many times the limit is read and discarded behind an early answer: most clients only listen after sending
everything, and would see a broken connection instead of the answer.
"""
_WRITING = 1.0
"""Seconds for which they may go on."""


class DisconnectError(Exception):
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
        raise DisconnectError
    return message.get("body", b""), message.get("more_body", False)


def _too_large(limit: int) -> Problem:
    hint = (
        "send only the results since the last model request; where the conversation has outgrown the limit, start "
        "the service with a larger `--max-body`, or begin a conversation with a summary of this one"
    )
    return Problem("large-body", f"the body has more than {limit:,} bytes", hint, "body")


def replayed(body: bytes, receive: Receive) -> Receive:
    """An ASGI `receive` that returns the body first, then passes on later messages."""
    pending = [body]

    async def again() -> Message:
        return {"type": "http.request", "body": pending.pop(), "more_body": False} if pending else await receive()

    return again
