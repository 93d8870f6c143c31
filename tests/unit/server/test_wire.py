"""Requests that lie on the wire: about their length, their path, or with very many headers."""

from __future__ import annotations

import json
from contextlib import suppress

import httpx2
import pytest

from cuecard.server.process import MAX_HEADERS, MAX_PIECES
from unit.server.served import ask_at_once
from unit.server.test_endpoints import ask

BODY = b'{"agent": "cms", "query": "create a page"}'
JSON = b"Content-Type: application/json\r\n"
HEAD = b"POST /v1/search-tools HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" + JSON
GET = b"GET %b HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
CHUNKED = b"Transfer-Encoding: chunked\r\n\r\n"

LIES: dict[str, tuple[bytes, tuple[bytes, ...]]] = {
    "a length that is none": (HEAD + b"Content-Length: many\r\n\r\n", (b"400",)),
    "a negative length": (HEAD + b"Content-Length: -1\r\n\r\n", (b"400",)),
    "two lengths": (HEAD + b"Content-Length: 1\r\nContent-Length: 42\r\n\r\n" + BODY, (b"400",)),
    "a chunk that is none": (HEAD + CHUNKED + b"zz\r\n", (b"400",)),
    "a chunk of endless size": (HEAD + CHUNKED + b"f" * 5_000 + b"\r\n", (b"400",)),
    "an unknown coding": (HEAD + b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", (b"400", b"501")),
    "a header without end": (HEAD + b"X: " + b"a" * 200_000 + b"\r\n\r\n", (b"400", b"431")),
    "thousands of headers": (HEAD + b"X: a\r\n" * 20_000 + b"\r\n", (b"400", b"431")),
    "a header with NUL": (HEAD + b"X: a\0b\r\n\r\n", (b"400",)),
    "a folded header": (HEAD + b"X: a\r\n b\r\n\r\n", (b"400", b"422")),
    "a path that goes up": (GET % b"/v1/../v1/agents", (b"404",)),
    "a path with escapes that go up": (GET % b"/v1/%2e%2e/metrics", (b"404",)),
    "a path with NUL": (GET % b"/v1/agents%00", (b"404",)),
    "two slashes": (GET % b"//v1/agents", (b"404",)),
    "a path of 20 kB": (GET % (b"/" + b"a" * 20_000), (b"400", b"404", b"414")),
    "a path that is no text": (GET % b"/%ff%fe", (b"404",)),
    "a file": (GET % b"/..%2f..%2fetc%2fpasswd", (b"404",)),
}


@pytest.mark.parametrize("lie", LIES)
def test_a_malformed_request_is_refused_and_the_next_one_is_answered(client: httpx2.Client, lie: str) -> None:
    sent, statuses = LIES[lie]
    answer = b"HTTP/1.1 400 "
    with suppress(ConnectionResetError, BrokenPipeError):  # the answer may be lost where much of a request is not read
        (answer,) = ask_at_once(str(client.base_url).rstrip("/"), [sent])

    assert answer.split(b" ")[1] in statuses, answer[:200]
    assert b"root:" not in answer
    assert b"Traceback" not in answer
    assert ask(client, "search-tools", query="create a page")


def test_a_request_in_the_body_of_another_is_never_answered(client: httpx2.Client) -> None:
    """Length and chunks at once: whoever stands in front may read it otherwise, so that it is refused or read once."""
    hidden = GET % b"/v1/agents"
    sent = HEAD + b"Content-Length: 4\r\n" + CHUNKED + b"0\r\n\r\n" + hidden
    (answer,) = ask_at_once(str(client.base_url).rstrip("/"), [sent])

    assert answer.count(b"HTTP/1.1 ") == 1
    assert b'"agents"' not in answer


def with_headers(count: int) -> bytes:
    """A request with so many headers."""
    return (GET % b"/v1/agents").replace(b"\r\n\r\n", b"\r\n" + b"X: a\r\n" * (count - 2) + b"\r\n")


@pytest.mark.parametrize(
    ("sent", "message", "hint"),
    [
        (b"HELLO\r\n\r\n", "the request is not valid HTTP/1.1", ""),
        (with_headers(MAX_HEADERS + 1), f"the request has more than {MAX_HEADERS} headers", "send fewer"),
        (
            HEAD + b"Content-Length: 4\r\n" + CHUNKED + b"0\r\n\r\n",
            "the request has both a `Content-Length` and a `Transfer-Encoding`",
            "send one of them",
        ),
        (
            HEAD + CHUNKED + b"1\r\n \r\n" * (MAX_PIECES + 20),
            "the body came in too many small pieces",
            "send it in pieces of some kilobytes",
        ),
    ],
)
def test_what_is_not_read_is_told_as_a_problem(client: httpx2.Client, sent: bytes, message: str, hint: str) -> None:
    (answer,) = ask_at_once(str(client.base_url).rstrip("/"), [sent])
    head, _, body = answer.partition(b"\r\n\r\n")
    (problem,) = json.loads(body)["problems"]

    assert head.startswith(b"HTTP/1.1 400 ")
    assert b"connection: close" in head.lower()
    told = {"code": "bad-http", "message": message, "hint": hint, "name": "request"}
    assert problem == {**problem, **told}


def test_as_many_headers_as_allowed_are_read(client: httpx2.Client) -> None:
    (answer,) = ask_at_once(str(client.base_url).rstrip("/"), [with_headers(MAX_HEADERS)])

    assert answer.startswith(b"HTTP/1.1 200 ")
