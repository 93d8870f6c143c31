"""Problems as HTTP responses: problem details (RFC 9457) with our codes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

from starlette.responses import Response

from cuecard.errors import MAX_PROBLEMS, Problem, most_telling
from cuecard.model import Json
from cuecard.server.strict_json import json_bytes

STATUS: Mapping[str, int] = MappingProxyType(
    {
        "json-syntax": 400,
        "bad-http": 400,
        "no-token": 401,
        "bad-signature": 403,
        "foreign-site": 403,
        "unknown-agent": 404,
        "unknown-label": 404,
        "unknown-version": 404,
        "unknown-path": 404,
        "wrong-method": 405,
        "slow-body": 408,
        "foreign-call": 409,
        "stale-call": 409,
        "turn-ended": 409,
        "old-conversation": 410,
        "large-body": 413,
        "wrong-media-type": 415,
        "library-away": 503,
        "no-library": 503,
        "too-busy": 503,
        "too-slow": 503,
    }
)
"""The HTTP status of codes with a specific one."""

WRONG = 422
"""The status of all other codes: the request was read, but something in it is wrong."""

FAULT = 500

API = 2
"""The number of what clients may ask and are answered; a client of another number says so instead of guessing."""

ALL_STATUSES = tuple(sorted({*STATUS.values(), WRONG, FAULT}))

_HEADERS: Mapping[int, Mapping[str, str]] = {
    401: {"www-authenticate": "Bearer"},
    503: {"retry-after": "1"},
}


def status_of(problems: Sequence[Problem]) -> int:
    """The HTTP status for these problems; the first one decides."""
    return STATUS.get(problems[0].code, WRONG)


def details(problems: Iterable[Problem]) -> dict[str, Json]:
    """The body of a problem response."""
    told, more = most_telling(problems)
    first = told[0]
    body: dict[str, Json] = {
        "api": API,
        "type": f"urn:cuecard:problem:{first.code}",
        "title": first.code.replace("-", " ").capitalize(),
        "status": status_of(told),
        "detail": f"{first.message}; {first.hint}" if first.hint else first.message,
        "code": first.code,
        "problems": [problem.to_json() for problem in told],
    }
    return {**body, "more": more} if more else body


class ProblemResponse(Response):
    """A problem response."""

    media_type = "application/problem+json"

    def __init__(self, problems: Iterable[Problem], headers: Mapping[str, str] | None = None) -> None:
        found = tuple(problems)
        status = status_of(found)
        self.codes: tuple[str, ...] = tuple(dict.fromkeys(problem.code for problem in found[:MAX_PROBLEMS]))
        super().__init__(json_bytes(details(found)), status, {**_HEADERS.get(status, {}), **(headers or {})})


def fault_response() -> Response:
    """The response when the service itself has failed: the log contains the place, but the client gets no details."""
    title = "Internal error"
    body = {
        "api": API,
        "type": "about:blank",
        "title": title,
        "status": FAULT,
        "detail": "see the service's log",
        "code": "",
        "problems": [],
    }
    return Response(json_bytes(body), FAULT, media_type=ProblemResponse.media_type)


def problem_response(problem: Problem, *, close: bool = False) -> ProblemResponse:
    """The response; `close` also ends the connection, because the rest of the request is not read."""
    return ProblemResponse([problem], {"connection": "close"} if close else None)
