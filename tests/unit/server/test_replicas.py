"""Processes as they run behind a balancer: any of them answers, they may die, reload, and be told to end."""

from __future__ import annotations

import asyncio
import os
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx2
import pytest

from soak import service
from unit.server.served import PATIENCE, Replica, replica
from unit.server.test_endpoints import ask

pytestmark = pytest.mark.repeats

NAMES = ("create-page", "delete-page", "list-posts", "get-image")
RESULTS = [
    {"tool": "tool_search", "result": {"tools": [name]}, "call_id": f"call-{number}"}
    for number, name in enumerate(NAMES)
]
PAGES = """\
agent: pages
sections: [{id: tools, text: "{{{activeProtocols}}}"}]
tools: {instructions: tools.yaml, core: [tool_search]}
"""


def write_agent(folder: Path, name: str, *, settings: str = "", role: str) -> Path:
    folder.mkdir(exist_ok=True)
    text = f"agent: {name}\n{settings}sections: [{{id: role, text: {role}}}]\n"
    (folder / "agent.yaml").write_text(text, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An agent with tools; all three replicas have it."""
    folder = tmp_path_factory.mktemp("pages")
    lines = [
        f"  {name}: {{before: none, after: say it, next: none, gotcha: none}}\n" for name in ("tool_search", *NAMES)
    ]
    (folder / "agent.yaml").write_text(PAGES, encoding="utf-8")
    (folder / "tools.yaml").write_text("tools:\n" + "".join(lines), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def changing(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An agent of the first replica; one test changes it."""
    folder = tmp_path_factory.mktemp("agents") / "changing"
    return write_agent(folder, "changing", settings="reload: next-call\n", role="You help.")


@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory, pages: Path, changing: Path) -> Iterator[list[Replica]]:
    """Three replicas: each with a folder of states of its own, sharing nothing but the key.

    The third one dies in a test; another uses the first.
    """
    with ExitStack() as stack:
        made = []
        for agents in ([str(changing)], [], []):
            states = tmp_path_factory.mktemp("states")
            made.append(stack.enter_context(replica(str(pages), *agents, states=states)))
        yield made


@pytest.fixture(scope="module")
def keyless(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Replica]:
    """A process without a key; one test ends it, and what it has reported stays."""
    folder = tmp_path_factory.mktemp("keyless")
    agent = write_agent(folder / "agent", "demo", role="You help.")
    with replica(str(agent), states=folder / "states", CUECARD_KEY="") as served:
        yield served


@pytest.fixture
def watched(tmp_path: Path) -> Iterator[Replica]:
    """A process of one test."""
    agent = write_agent(tmp_path / "agent", "demo", role="You help.")
    with replica(str(agent), "--grace", "60", states=tmp_path / "states") as served:
        yield served


def test_three_replicas_answer_in_turn_and_one_dies(three: list[Replica]) -> None:
    clients = [each.client() for each in three]
    alone, turns = clients[0], 0

    def ask_next(path: str, **body: Any) -> dict[str, Any]:
        """As a balancer does: in turn, and around who does not answer."""
        nonlocal turns
        for _ in range(3):
            turns += 1
            try:
                return ask(clients[turns % 3], path, agent="pages", **body)
            except httpx2.TransportError:
                continue
        raise AssertionError("no replica answers")

    call: dict[str, Any] = ask_next("prepare-call")
    same: dict[str, Any] = ask(alone, "prepare-call", agent="pages")
    for number, result in enumerate(RESULTS):
        if number == 2:
            three[2].kill()
        call = ask_next("prepare-step", conversation=call["conversation"], results=[result])
        same = ask(alone, "prepare-step", agent="pages", conversation=same["conversation"], results=[result])

        assert call["step"] == same["step"]
    assert all(name in call["step"]["active_tools"] for name in NAMES)

    later = ask_next("prepare-call", conversation=call["conversation"])

    assert later["step"] == ask(alone, "prepare-call", agent="pages", conversation=same["conversation"])["step"]
    assert three[2].process.returncode
    for each in clients:
        each.close()


def test_a_change_of_the_files_and_one_that_is_broken(three: list[Replica], changing: Path) -> None:
    agent = changing / "agent.yaml"
    with three[0].client() as client:
        first = ask(client, "prepare-call", agent="changing")

        assert "You help." in first["step"]["system"]

        write_agent(changing, "changing", settings="reload: next-call\n", role="You write.")
        deadline = time.monotonic() + PATIENCE
        while "You write." not in ask(client, "prepare-call", agent="changing")["step"]["system"]:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        going_on = ask(client, "prepare-step", agent="changing", conversation=first["conversation"])

        assert "You help." in going_on["step"]["system"], "a call keeps the state that it began with"

        agent.write_text("agent: changing\nsections: [{id: role, txet: You fail.}]\n", encoding="utf-8")
        while (ready := client.get("/readyz")).json()["state"] != "stale":
            assert time.monotonic() < deadline
            time.sleep(0.05)

        assert ready.status_code == 200
        (codes,) = [each["codes"] for each in ready.json()["agents"] if each["name"] == "changing"]
        assert codes
        assert "You fail" not in ready.text
        (problems,) = [
            each["problems"] for each in client.get("/v1/agents").json()["agents"] if each["name"] == "changing"
        ]
        assert "txet" in str(problems)
        assert "You write." in ask(client, "prepare-call", agent="changing")["step"]["system"]
        metrics = client.get("/metrics").text
        assert 'cuecard_agent_stale{agent="changing"} 1.0' in metrics
        assert 'cuecard_agent_stale{agent="pages"} 0.0' in metrics


def test_a_request_that_is_under_way_ends_before_the_process_does(keyless: Replica) -> None:
    address = keyless.address
    body = b'{"agent":"demo"}'
    head = b"POST /v1/prepare-call HTTP/1.1\r\nHost: localhost\r\n"
    head += b"Content-Type: application/json\r\nContent-Length: 16\r\n\r\n"
    with socket.create_connection(("127.0.0.1", int(address.rpartition(":")[2])), timeout=PATIENCE) as begun:
        begun.sendall(head + body[:5])
        with keyless.client() as client:
            client.get("/healthz")
        keyless.process.terminate()
        keyless.until("Shutting down")
        begun.sendall(body[5:])

        assert begun.recv(100).startswith(b"HTTP/1.1 200 ")
    assert keyless.process.wait(PATIENCE) == 0
    keyless.until("stopped")


def test_starting_reports_what_is_wrong_and_what_is_missing(keyless: Replica) -> None:
    assert "CUECARD_KEY" in keyless.until("no-key")["message"]
    assert keyless.events("open-to-all") == []


def test_no_request_that_was_sent_whole_is_lost_when_the_process_is_told_to_stop(tmp_path: Path) -> None:
    files = service.agent(tmp_path / "agent")
    secrets = {"CUECARD_KEY": service.KEY, "CUECARD_TOKEN": service.TOKEN}
    with replica(str(files), "--grace", "1", states=tmp_path / "states", **secrets) as served:
        seen = asyncio.run(service.drain(served, 20, 0.5))

        assert served.process.wait(PATIENCE) == 0
        served.until("stopped")
    assert seen.keys() == {"200", "readyz 503"}


def test_a_service_that_nobody_uses_stops_without_waiting(watched: Replica) -> None:
    assert watched.client().get("/readyz").json()["state"] == "ready"
    watched.process.terminate()
    watched.until("draining")
    told = watched.client().get("/readyz")

    assert (told.status_code, told.json()["state"]) == (503, "draining")
    assert watched.process.wait(PATIENCE) == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="kills as POSIX does")
def test_every_acknowledged_conversation_outlives_kill_9(tmp_path: Path) -> None:
    seen = service.killed(tmp_path, kills=1, seconds=1, clients=3)

    assert seen["same"] >= 3
    assert not seen["lost"]
