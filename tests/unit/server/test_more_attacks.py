"""Attacks on the service by somebody who did not build its defences: other ways to the same places."""

from __future__ import annotations

import gc
import json
import os
import signal
import socket
import struct
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import h11
import pytest

from cuecard.server.service import Service
from unit.server.served import PATIENCE, Replica, replica, serving
from unit.server.test_attacks import AGENTS, CHUNKED, HEALTH, LET_IN, POST, TOKEN, connected, status
from unit.server.test_endpoints import ask

AGENT = "agent: demo\nsections: [{id: role, text: You help.}]\n"
CALL = b'{"agent":"demo"}'
FRESH = b"Connection: close\r\n"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Replica]:
    folder = tmp_path_factory.mktemp("attacked")
    (folder / "agent.yaml").write_text(AGENT, encoding="utf-8")
    with replica(str(folder), states=folder / "states", CUECARD_TOKEN=TOKEN) as started:
        yield started


def whole(opened: socket.socket) -> bytes:
    """Everything that a server sends before it closes the connection."""
    pieces = []
    with suppress(ConnectionError):
        while piece := opened.recv(65536):
            pieces.append(piece)
    return b"".join(pieces)


def said(address: str, sent: bytes) -> bytes:
    try:
        with connected(address, sent) as opened:
            return whole(opened)
    except ConnectionError:
        return b""


def with_head(request: bytes, *lines: bytes) -> bytes:
    """The request with more headers, on a connection of its own."""
    first, rest = request.split(b"\r\n", 1)
    return b"\r\n".join([first, *lines, FRESH + rest])


LOUD = {
    "a wrong method for health": b"POST /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "a wrong method for readiness": b"DELETE /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "an upgrade to a socket": HEALTH.replace(
        b"\r\n\r\n",
        b"\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: a\r\nSec-WebSocket-Version: 13\r\n\r\n",
    ),
    "an upgrade to HTTP/2": HEALTH.replace(b"\r\n\r\n", b"\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n"),
    "an unknown path": b"GET /no/such HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "another method": b"BREW / HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "no HTTP": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
    "HTTP/2 at once": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "HTTP/3": b"GET / HTTP/3.0\r\nHost: localhost\r\n\r\n",
    "a target of another host": b"GET http://example.com/healthz HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "a promise": POST + b"Content-Length: 10\r\nExpect: 100-continue\r\n\r\n",
}


@pytest.mark.parametrize("what", LOUD)
def test_who_has_no_token_fills_no_log(served: Replica, what: str) -> None:
    before = len(served.lines)
    for _ in range(40):
        status(served.address, LOUD[what])
    assert status(served.address, AGENTS) == "200"
    served.until("request")

    assert len(served.lines) - before < 10, served.lines[-3:]
    assert served.events("fault") == []


HIDDEN = AGENTS.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")
CHUNK = b"10\r\n" + CALL + b"\r\n0\r\n\r\n"
SMUGGLED = {
    "chunked twice": b"Transfer-Encoding: chunked, chunked\r\n\r\n",
    "chunked in two headers": b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n",
    "a length and chunks": b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
    "no length and chunks": b"Content-Length: 0\r\nTransfer-Encoding: chunked\r\n\r\n",
    "chunked after identity": b"Transfer-Encoding: identity, chunked\r\n\r\n",
    "chunked before identity": b"Transfer-Encoding: chunked, identity\r\n\r\n",
    "chunked with a tab in front": b"Transfer-Encoding:\tchunked\r\nContent-Length: 5\r\n\r\n",
    "chunked behind a space": b"Transfer-Encoding : chunked\r\nContent-Length: 5\r\n\r\n",
    "chunked in quotes": b'Transfer-Encoding: "chunked"\r\nContent-Length: 5\r\n\r\n',
    "chunked with an x": b"Transfer-Encoding: xchunked\r\nContent-Length: 5\r\n\r\n",
    "chunked behind a vertical tab": b"Transfer-Encoding: \x0bchunked\r\nContent-Length: 5\r\n\r\n",
    "chunked in capitals, with a length": b"TRANSFER-ENCODING: CHUNKED\r\nContent-Length: 5\r\n\r\n",
    "chunked in a folded header": b"Transfer-Encoding:\r\n chunked\r\nContent-Length: 5\r\n\r\n",
    "chunked in a bare line": b"X: a\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n",
    "chunked behind a bare return": b"X: a\rTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n",
    "a length with a plus": b"Content-Length: +5\r\n\r\n",
    "a length in hexadecimal": b"Content-Length: 0x5\r\n\r\n",
    "a length in two values": b"Content-Length: 5, 6\r\n\r\n",
    "a length with an underscore": b"Content-Length: 1_0\r\n\r\n",
    "a length in other digits": b"Content-Length: \xb2\r\n\r\n",
    "an empty length": b"Content-Length: \r\n\r\n",
    "a length of more digits than anybody counts": b"Content-Length: " + b"9" * 5_000 + b"\r\n\r\n",
    "nothing said of a length": b"\r\n",
}


@pytest.mark.parametrize("what", SMUGGLED)
def test_no_request_is_read_in_two_ways(served: Replica, what: str) -> None:
    """Behind a body of chunks stands another request, which whoever is in front may have taken for a part of it."""
    answer = said(served.address, LET_IN + SMUGGLED[what] + CHUNK + HIDDEN)

    assert {each[:3] for each in answer.split(b"HTTP/1.1 ")[1:]} <= {b"400", b"422", b"501"}, answer
    assert b'"agents"' not in answer
    assert status(served.address, HEALTH) == "200"


def test_a_request_that_is_refused_is_the_last_one_of_its_connection(served: Replica) -> None:
    body = b"Content-Length: 16\r\n\r\n" + CALL
    for first in (POST + body, HEALTH, POST + CHUNKED + CHUNK, AGENTS.replace(TOKEN.encode(), b"wrong")):
        answer = said(served.address, first + HIDDEN)

        assert answer.count(b"HTTP/1.1 ") == 1
        assert b'"agents"' not in answer


@pytest.mark.parametrize(
    "lines",
    [
        [b"Authorization: Bearer", b"Authorization: Bearer " + TOKEN.encode()[:-1]],
        [b"Authorization: bearer " + TOKEN.encode()],
        [b"Authorization: Bearer  " + TOKEN.encode()],
        [b"Authorization: Bearer " + TOKEN.encode() + b" x"],
        [b"Authorization: Bearer \xff\xfe\xfd"],
        [b"X-Authorization: Bearer " + TOKEN.encode()],
        [b"Cookie: token=" + TOKEN.encode()],
        [b"Proxy-Authorization: Bearer " + TOKEN.encode()],
        [b"Authorization: Bearer "],
    ],
)
def test_what_is_about_the_token_is_not_the_token(served: Replica, lines: list[bytes]) -> None:
    answer = said(served.address, with_head(b"GET /v1/agents HTTP/1.1\r\nHost: localhost\r\n\r\n", *lines))

    assert answer.startswith(b"HTTP/1.1 401")
    assert TOKEN.encode() not in answer


@pytest.mark.parametrize(
    "path", [b"/v1/agents#/healthz", b"/v1/agents?/healthz", b"/healthz/../v1/agents", b"/metrics/"]
)
def test_no_other_path_is_open(served: Replica, path: bytes) -> None:
    answer = said(served.address, b"GET %b HTTP/1.1\r\nHost: localhost\r\n\r\n" % path)

    assert answer[9:12] in {b"401", b"400"}, answer


def test_nobody_is_told_to_go_on_without_a_token(served: Replica) -> None:
    promise = b"Content-Length: 16\r\nExpect: 100-continue\r\n\r\n"

    refused = said(served.address, POST + promise)
    with connected(served.address, with_head(LET_IN + b"\r\n").replace(b"\r\n\r\n", b"\r\n" + promise)) as opened:
        told = opened.recv(99)
        opened.sendall(CALL)
        answer = told + whole(opened)

    assert refused.startswith(b"HTTP/1.1 401")
    assert b" 100 " not in refused
    assert answer.startswith(b"HTTP/1.1 100")
    assert b"HTTP/1.1 200" in answer


def test_trailers_and_extensions_of_chunks_have_bounds(served: Replica) -> None:
    few = b"10;a=b;c=d\r\n" + CALL + b"\r\n0\r\nX: a\r\n\r\n"
    assert status(served.address, LET_IN + CHUNKED + few) == "200"
    for more in (
        b"10;" + b"a" * 1_000_000 + b"\r\n" + CALL + b"\r\n0\r\n\r\n",
        b"10\r\n" + CALL + b"\r\n0\r\n" + b"X: a\r\n" * 200_000 + b"\r\n",
        b"10\r\n" + CALL + b"\r\n0\r\nX: " + b"a" * 1_000_000,
        b"0" * 1_000_000,
        b"\r\n" * 200_000,
    ):
        assert status(served.address, LET_IN + CHUNKED + more) in {"400", ""}
    assert status(served.address, AGENTS) == "200"
    assert served.events("fault") == []


def test_who_says_more_than_was_promised_gets_one_answer(served: Replica) -> None:
    answer = said(served.address, LET_IN + FRESH + b"Content-Length: 16\r\n\r\n" + CALL + b"x" * 300_000)

    assert answer.count(b"HTTP/1.1 ") <= 1
    assert status(served.address, AGENTS) == "200"


def test_connections_that_are_cut_with_a_reset_leave_nothing_behind(served: Replica) -> None:
    """In the middle of a body, behind a request, before the answer is read: the counts of the service stay right."""
    half = LET_IN + b"Content-Length: 16\r\n\r\n" + CALL[:5]
    for sent in (half, AGENTS * 20, LET_IN + CHUNKED + b"1\r\n{\r\n", HEALTH[:30], b""):
        for _ in range(60):
            with connected(served.address, sent) as opened:
                opened.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    deadline = time.monotonic() + PATIENCE
    metrics = AGENTS.replace(b"/v1/agents", b"/metrics").replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")
    while b"cuecard_requests_running 1.0" not in said(served.address, metrics):
        assert time.monotonic() < deadline
    assert served.events("fault") == []


def test_what_a_lost_connection_has_sent_is_freed_at_once(service: Service) -> None:
    """A service collects garbage rarely: what only that could free would be kept."""

    def held() -> int:
        return sum(issubclass(type(each), h11.Connection) for each in gc.get_objects())

    before = held()
    gc.disable()
    try:
        with serving(service) as client:
            address = str(client.base_url).rstrip("/")
            for sent in (b"Content-Length: 90000\r\n\r\n" + b" " * 80_000, CHUNKED + b"1\r\n{\r\n", b"Content-Le"):
                for _ in range(30):
                    with connected(address, POST + sent) as opened:
                        opened.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            deadline = time.monotonic() + PATIENCE
            while held() > before:
                assert time.monotonic() < deadline, held() - before
                time.sleep(0.05)
    finally:
        gc.enable()


def test_a_client_that_closes_its_half_holds_no_place(served: Replica) -> None:
    with ExitStack() as stack:
        for sent in (
            LET_IN + b"Content-Length: 16\r\n\r\n" + CALL[:5],
            POST + b"Content-Length: 9\r\n\r\n",
            HEALTH[:20],
        ):
            for _ in range(60):
                stack.enter_context(connected(served.address, sent)).shutdown(socket.SHUT_WR)

        assert [status(served.address, AGENTS) for _ in range(10)] == ["200"] * 10
        assert status(served.address, HEALTH) == "200"


@pytest.mark.parametrize("count", [1, 3])
def test_a_client_that_closes_its_half_behind_whole_requests_has_its_answers(served: Replica, count: int) -> None:
    request = LET_IN + b"Content-Length: 16\r\n\r\n" + CALL
    with connected(served.address, request * count) as opened:
        opened.shutdown(socket.SHUT_WR)

        assert whole(opened).count(b"HTTP/1.1 200 ") == count


def test_health_checks_that_never_end_keep_nobody_waiting(served: Replica) -> None:
    """What begins like a health check is read at once: that is no way past those that wait for their turn."""
    stop = threading.Event()

    def drip() -> None:
        with ExitStack() as stack:
            begun = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: "
            opened = [stack.enter_context(connected(served.address, begun)) for _ in range(100)]
            for each in opened:
                each.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            while not stop.is_set():
                for each in opened:
                    with suppress(ConnectionError):
                        each.send(b"a")

    thread = threading.Thread(target=drip)
    thread.start()
    try:
        assert [status(served.address, HEALTH) for _ in range(10)] == ["200"] * 10
        assert status(served.address, AGENTS) == "200"
    finally:
        stop.set()
        thread.join(PATIENCE)


@pytest.fixture
def leaving(tmp_path: Path) -> Iterator[Replica]:
    """A service of one test, which does not wait long."""
    (tmp_path / "agent.yaml").write_text(AGENT, encoding="utf-8")
    limits = ("--grace", "1", "--timeout", "1")
    with replica(str(tmp_path), *limits, states=tmp_path / "states", CUECARD_TOKEN=TOKEN) as started:
        yield started


def test_requests_that_were_sent_at_once_are_all_answered_when_the_service_stops(leaving: Replica) -> None:
    many = LET_IN + b"Content-Length: 16\r\n\r\n" + CALL
    with connected(leaving.address, AGENTS) as opened:
        opened.recv(1)
        opened.sendall(many * 20)
        leaving.process.terminate()
        answers = whole(opened)

    assert answers.count(b"HTTP/1.1 200") == 20
    assert leaving.process.wait(PATIENCE) == 0


def test_clients_that_do_not_let_go_do_not_keep_a_service_that_stops(leaving: Replica) -> None:
    stop = threading.Event()
    kinds = [
        b"",
        HEALTH[:20],
        POST + b"Content-Length: 9\r\n\r\n",
        LET_IN + b"Content-Length: 16\r\n\r\n" + CALL[:5],
        LET_IN + CHUNKED + b"1\r\n{\r\n",
        AGENTS * 2_000,
    ]

    def bother() -> None:
        with ExitStack() as stack:
            opened = [stack.enter_context(connected(leaving.address, each)) for each in kinds * 10]
            while not stop.is_set():
                for each in opened:
                    with suppress(OSError):
                        each.send(b"1\r\n \r\n")
                with suppress(OSError):
                    status(leaving.address, AGENTS.replace(TOKEN.encode(), b"wrong"))

    thread = threading.Thread(target=bother)
    thread.start()
    try:
        time.sleep(0.3)
        leaving.process.terminate()
        leaving.process.terminate()  # an impatient supervisor
        assert leaving.process.wait(PATIENCE) == 0
    finally:
        stop.set()
        thread.join(PATIENCE)
    assert leaving.events("fault") == []


@pytest.mark.skipif(os.name != "posix", reason="kills as POSIX does")
def test_a_conversation_goes_on_after_a_kill_beside_what_the_dead_left_behind(tmp_path: Path) -> None:
    (tmp_path / "agent.yaml").write_text(AGENT, encoding="utf-8")
    states = tmp_path / "states"
    with replica(str(tmp_path), states=states) as first, first.client() as client:
        call = ask(client, "prepare-call", agent="demo")
        first.process.send_signal(signal.SIGKILL)
        first.process.wait(PATIENCE)
    files = [each for each in states.rglob("*") if each.is_file()]
    assert files
    for each in files:  # what was being written, and what was half written
        each.with_name(f"{each.name}.new").write_bytes(each.read_bytes()[:7])
        each.with_name(f".{each.name}.tmp").write_bytes(b"")
    with replica(str(tmp_path), states=states) as second, second.client() as client:
        later = ask(client, "prepare-step", agent="demo", conversation=call["conversation"])
        forged = [
            call["conversation"][:-1],
            call["conversation"] + "=",
            call["conversation"].swapcase(),
            "\ud800" + call["conversation"],
        ]
        refused = [
            client.post(
                "/v1/prepare-step",
                content=json.dumps({"agent": "demo", "conversation": each}),
                headers={"Content-Type": "application/json"},
            ).status_code
            for each in forged
        ]

    assert later["step"]["system"] == call["step"]["system"]
    assert {*refused} <= {400, 403, 422}
    assert second.events("fault") == []
