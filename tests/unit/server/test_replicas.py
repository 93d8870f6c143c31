"""Processes as they run behind a balancer: any of them answers, they may die, reload, and be told to end."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx2
import pytest

from unit.server.served import PATIENCE, Replica, replica
from unit.server.test_endpoints import ask

pytestmark = pytest.mark.repeats

RESULTS = [
    {"tool": "tool_search", "result": {"tools": [name]}, "call_id": f"call-{number}"}
    for number, name in enumerate(("cms_createPage", "cms_deletePage", "cms_listPosts", "cms_getImage"))
]


@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Replica]]:
    """Three replicas: each with a folder of states of its own, sharing nothing but the key."""
    with ExitStack() as stack:
        folders = [tmp_path_factory.mktemp("states") for _ in range(3)]
        yield [stack.enter_context(replica("cms", states=folder)) for folder in folders]


def test_three_replicas_answer_in_turn_and_one_dies(three: list[Replica]) -> None:
    clients = [each.client() for each in three]
    alone, turns = clients[0], 0

    def ask_next(path: str, **body: Any) -> dict[str, Any]:
        """As a balancer does: in turn, and around who does not answer."""
        nonlocal turns
        for _ in range(3):
            turns += 1
            try:
                return ask(clients[turns % 3], path, **body)
            except httpx2.TransportError:
                continue
        raise AssertionError("no replica answers")

    call: dict[str, Any] = ask_next("prepare-call")
    same: dict[str, Any] = ask(alone, "prepare-call")
    for number, result in enumerate(RESULTS):
        if number == 2:
            three[2].kill()
        call = ask_next("prepare-step", conversation=call["conversation"], results=[result])
        same = ask(alone, "prepare-step", conversation=same["conversation"], results=[result])

        assert call["step"] == same["step"]

    later = ask_next("prepare-call", conversation=call["conversation"])

    assert later["step"] == ask(alone, "prepare-call", conversation=same["conversation"])["step"]
    assert three[2].process.returncode
    for each in clients:
        each.close()


def test_a_change_of_the_files_and_one_that_is_broken(tmp_path: Path) -> None:
    folder = tmp_path / "agent"
    folder.mkdir()
    agent = folder / "agent.yaml"
    agent.write_text("agent: demo\nreload: next-call\nsections: [{id: role, text: You help.}]\n", encoding="utf-8")
    with replica(str(folder), states=tmp_path / "states") as served, served.client() as client:
        first = ask(client, "prepare-call", agent="demo")

        assert "You help." in first["step"]["system"]

        agent.write_text("agent: demo\nreload: next-call\nsections: [{id: role, text: You write.}]\n", encoding="utf-8")
        deadline = time.monotonic() + PATIENCE
        while "You write." not in ask(client, "prepare-call", agent="demo")["step"]["system"]:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        going_on = ask(client, "prepare-step", agent="demo", conversation=first["conversation"])

        assert "You help." in going_on["step"]["system"], "a call keeps the state that it began with"

        agent.write_text("agent: demo\nsections: [{id: role, txet: You fail.}]\n", encoding="utf-8")
        while (ready := client.get("/readyz")).json()["state"] != "stale":
            assert time.monotonic() < deadline
            time.sleep(0.05)

        assert ready.status_code == 200
        assert (
            ready.json()["agents"][0]["codes"] == ["unknown-key", "wrong-value"] or ready.json()["agents"][0]["codes"]
        )
        assert "You fail" not in ready.text
        assert "txet" in str(client.get("/v1/agents").json()["agents"][0]["problems"])
        assert "You write." in ask(client, "prepare-call", agent="demo")["step"]["system"]
        assert 'cuecard_agent_stale{agent="demo"} 1.0' in client.get("/metrics").text


def test_a_replica_with_other_files_refuses_the_step_and_takes_the_next_call(tmp_path: Path) -> None:
    """A rolling deployment without a shared folder of states: the client prepares the call anew."""
    with ExitStack() as stack:
        clients = []
        for text in ("You help.", "You write."):
            folder = tmp_path / text[4:]
            folder.mkdir()
            spec = f"agent: demo\nsections: [{{id: role, text: {text}}}]\n"
            (folder / "agent.yaml").write_text(spec, encoding="utf-8")
            served = stack.enter_context(replica(str(folder), states=folder / "states"))
            clients.append(stack.enter_context(served.client()))
        old, new = clients
        call = ask(old, "prepare-call", agent="demo")
        refused = new.post("/v1/prepare-step", json={"agent": "demo", "conversation": call["conversation"]})

        assert (refused.status_code, refused.json()["code"]) == (409, "stale-call")
        later = ask(new, "prepare-call", agent="demo", conversation=call["conversation"])

        assert "You write." in later["step"]["system"]
        assert "not in the folder of states" in later["served"]


def test_a_request_that_is_under_way_ends_before_the_process_does(tmp_path: Path) -> None:
    with replica("cms", states=tmp_path) as served:
        address = served.address
        body = b'{"agent": "cms"}'
        head = b"POST /v1/prepare-call HTTP/1.1\r\nHost: localhost\r\n"
        head += b"Content-Type: application/json\r\nContent-Length: 16\r\n\r\n"
        with socket.create_connection(("127.0.0.1", int(address.rpartition(":")[2])), timeout=PATIENCE) as begun:
            begun.sendall(head + body[:5])
            with served.client() as client:
                client.get("/healthz")
            served.process.terminate()
            served.until("Shutting down")
            begun.sendall(body[5:])

            assert begun.recv(100).startswith(b"HTTP/1.1 200 ")
        assert served.process.wait(PATIENCE) == 0
        served.until("stopped")


def test_starting_reports_what_is_wrong_and_what_is_missing(tmp_path: Path) -> None:
    with replica("cms", states=tmp_path, CUECARD_KEY="") as served:
        assert "CUECARD_KEY" in served.until("no-key")["message"]
        assert served.events("open-to-all") == []
