"""Clients that mean harm, against a real service on loopback; `make soak` tries them for longer."""

from __future__ import annotations

import json
import os
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from cuecard import InputError
from cuecard.server.process import MAX_HEADERS, MAX_PIECES
from cuecard.server.service import Service
from forked import start
from soak.attacks import ATTACKS, attacked
from unit.server.served import PATIENCE, Replica, options, replica, serving
from unit.server.test_endpoints import ask

TOKEN = "a token of twenty-two letters"  # noqa: S105 - of tests alone
HEALTH = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
AGENTS = f"GET /v1/agents HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {TOKEN}\r\n\r\n".encode()
POST = b"POST /v1/prepare-call HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
LET_IN = POST + f"Authorization: Bearer {TOKEN}\r\n".encode()
CHUNKED = b"Transfer-Encoding: chunked\r\n\r\n"


@contextmanager
def connected(address: str, sent: bytes = b"") -> Iterator[socket.socket]:
    host, _, port = address.removeprefix("http://").partition(":")
    with socket.create_connection((host, int(port)), timeout=PATIENCE) as opened:
        opened.sendall(sent)
        yield opened


def status(address: str, sent: bytes) -> str:
    """The status of the answer, or nothing where the connection ends without one."""
    try:
        with connected(address, sent) as opened:
            return opened.recv(12).decode()[9:]
    except ConnectionError:
        return ""


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Replica]:
    folder = tmp_path_factory.mktemp("attacked")
    (folder / "agent.yaml").write_text("agent: demo\nsections: [{id: role, text: You help.}]\n", encoding="utf-8")
    with replica(str(folder), states=folder / "states", CUECARD_TOKEN=TOKEN) as started:
        yield started


def test_who_has_no_token_is_answered_before_the_body_and_keeps_nobody_out(served: Replica) -> None:
    with ExitStack() as stack:
        for _ in range(150):  # more than may be handled at once
            stack.enter_context(connected(served.address, POST + b"Content-Length: 10\r\n\r\n"))

        assert status(served.address, POST + b"Content-Length: 10\r\n\r\n") == "401"
        assert [status(served.address, AGENTS) for _ in range(20)] == ["200"] * 20


def test_who_has_no_token_is_told_so_before_any_chunk_is_read(served: Replica) -> None:
    assert status(served.address, POST + CHUNKED + b"1\r\nx\r\n" * MAX_PIECES * 4) == "401"


def test_a_body_of_very_many_pieces_is_refused_and_one_of_many_is_not(served: Replica) -> None:
    call = b'{"agent":"demo"}'
    pieces = b"".join(b"1\r\n%c\r\n" % each for each in call) + b"0\r\n\r\n"

    assert status(served.address, LET_IN + CHUNKED + pieces) == "200"
    assert status(served.address, LET_IN + CHUNKED + b"1\r\n \r\n" * (MAX_PIECES - len(call)) + pieces) == "200"
    assert status(served.address, LET_IN + CHUNKED + b"1\r\n \r\n" * (MAX_PIECES * 2)) == "400"
    assert status(served.address, LET_IN + CHUNKED + (b"400\r\n" + b" " * 1024 + b"\r\n") * 600 + pieces) == "200"


def test_a_request_has_as_many_headers_as_it_may(served: Replica) -> None:
    few = HEALTH.replace(b"\r\n\r\n", b"\r\n" + b"X: a\r\n" * (MAX_HEADERS - 1) + b"\r\n")

    assert status(served.address, few) == "200"
    assert status(served.address, few.replace(b"\r\n\r\n", b"\r\nX: a\r\n\r\n")) == "400"

    body = b'{"agent":"demo"' + b"\n" * 2 * MAX_HEADERS + b"}"

    assert status(served.address, LET_IN + b"Content-Length: %d\r\n\r\n" % len(body) + body) == "200"


def test_the_connection_that_was_silent_for_longest_makes_room(tmp_path: Path) -> None:
    (tmp_path / "agent.yaml").write_text("agent: demo\nsections: [{id: role, text: You help.}]\n", encoding="utf-8")
    limits = ("--max-requests", "8", "--max-connections", "60", "--max-per-address", "40")
    with replica(str(tmp_path), *limits, states=tmp_path / "states", CUECARD_TOKEN=TOKEN) as served:
        with ExitStack() as stack:
            kept = stack.enter_context(connected(served.address, AGENTS))
            kept.recv(99)
            silent = [stack.enter_context(connected(served.address)) for _ in range(60)]

            assert status(served.address, HEALTH) == "200"
            assert [each.recv(1) for each in silent[:10]] == [b""] * 10
            while kept.recv(9999)[-1:] != b"}":
                pass
            kept.sendall(AGENTS)
            assert kept.recv(12) == b"HTTP/1.1 200", "a client that was let in keeps its connection"
        assert served.until("connections-full")["message"].startswith("there are 40 connections from one address")
        assert len(served.events("connections-full")) == 1


FEW_FILES = """
import resource
from command_line import main
resource.setrlimit(resource.RLIMIT_NOFILE, (320, 320))
main()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="open files are limited as POSIX does")
def test_more_silent_connections_than_open_files_do_not_stop_the_service(tmp_path: Path) -> None:
    (tmp_path / "agent.yaml").write_text("agent: demo\nsections: [{id: role, text: You help.}]\n", encoding="utf-8")
    words = "serve", tmp_path, "--port", 0, "--states", tmp_path / "s"
    process = start(*words, program=FEW_FILES, pipes="stderr", text=True)
    try:
        lines = iter(process.stderr or ())
        told = next(each for each in map(json.loads, lines) if each["event"] == "listening")
        address = f"http://127.0.0.1:{told['port']}"
        with ExitStack() as stack:
            for _ in range(500):
                stack.enter_context(connected(address))

            assert told["connections"] == 320 - 128
            assert status(address, HEALTH) == "200"
        process.terminate()
        assert len(list(lines)) < 20
    finally:
        process.kill()
        process.wait(PATIENCE)
        if process.stderr:
            process.stderr.close()


@pytest.mark.parametrize("attack", ATTACKS)
def test_health_and_calls_are_answered_during_an_attack(served: Replica, attack: str) -> None:
    with attacked(attack, served.address, 5, TOKEN):
        time.sleep(0.5)

        assert [status(served.address, HEALTH) for _ in range(5)] == ["200"] * 5
        deadline = time.monotonic() + PATIENCE
        while status(served.address, AGENTS) != "200":  # who has the token may keep others waiting
            assert time.monotonic() < deadline
    assert served.events("fault") == []
    assert served.process.poll() is None


def test_who_reads_no_answer_is_closed(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cuecard.server.process.PatientProtocol.seconds", 0.2)
    with serving(service, max_requests=2) as client:
        asked = b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n" * 300
        address = str(client.base_url).rstrip("/")
        with connected(address, asked), connected(address, asked):
            deadline = time.monotonic() + PATIENCE
            while status(address, b"GET /v1/agents HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n") != "200":
                assert time.monotonic() < deadline


def test_the_description_is_the_same_each_time(service: Service) -> None:
    with serving(service) as client:
        first, second = client.get("/openapi.json"), client.get("/openapi.json")

    assert first.content == second.content
    assert first.json()["paths"].keys() >= {"/v1/prepare-call", "/readyz"}


def test_limits_without_room_for_health_checks_are_refused() -> None:
    with pytest.raises(InputError, match="`--max-connections` should be at least 160") as refused:
        options(max_connections=128, max_per_address=128)

    assert [each.name for each in refused.value.problems] == ["--max-connections", "--max-per-address"]


def test_a_service_without_its_own_key_says_why_a_conversation_cannot_be_loaded(tmp_path: Path) -> None:
    (tmp_path / "agent.yaml").write_text("agent: demo\nsections: [{id: role, text: You help.}]\n", encoding="utf-8")
    with replica(str(tmp_path), states=tmp_path / "states", CUECARD_KEY="") as before, before.client() as client:
        told = before.until("no-key")["message"]
        call = ask(client, "prepare-call", agent="demo")
    with replica(str(tmp_path), states=tmp_path / "states", CUECARD_KEY="") as after, after.client() as client:
        refused = client.post("/v1/prepare-step", json={"agent": "demo", "conversation": call["conversation"]})

    assert "none can be loaded after a restart" in told
    assert (refused.status_code, refused.json()["code"]) == (403, "bad-signature")
    assert "set CUECARD_KEY" in refused.json()["problems"][0]["hint"]
    assert os.environ.get("CUECARD_KEY") is None
