"""Services for tests: real ones on loopback, in a thread or as processes, and requests as they go over the wire."""

from __future__ import annotations

import json
import logging
import re
import signal
import socket
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import httpx2

from cuecard.server import answers
from cuecard.server.app import create_app
from cuecard.server.door import listen
from cuecard.server.guard import App
from cuecard.server.options import ServiceOptions
from cuecard.server.process import server_of
from cuecard.server.serve import ServeLimits
from cuecard.server.service import Service
from cuecard.workbench.init import starter
from forked import Process, start

KEY = "the key of all replicas in tests"
PATIENCE = 30.0
"""Seconds that a test waits for what should happen at once: only a test that fails waits so long."""


LIMITS = ServeLimits(
    max_body=1024 * 1024,
    max_requests=128,
    max_connections=1024,
    max_per_address=512,
    timeout=10.0,
    max_age=30 * 86400.0,
    grace=10.0,
)


def options(**more: Any) -> ServiceOptions:
    return ServiceOptions(**{"key": KEY, "token": "", "local": False, "lasting": True, **asdict(LIMITS), **more})


class Faults(logging.Handler):
    """What went wrong in the service of a thread, which its clients are not told."""

    def __init__(self, thread: threading.Thread) -> None:
        super().__init__(logging.ERROR)
        self.found: list[str] = []
        self._thread = thread

    def emit(self, record: logging.LogRecord) -> None:
        if record.thread == self._thread.ident:
            self.found.append(f"{record.getMessage()}: {record.exc_info}")


@contextmanager
def in_thread(app: App, chosen: ServiceOptions, listening: socket.socket | None = None) -> Iterator[str]:
    """The address of a service that runs in a thread: uvicorn on a real socket. No request may make it fail."""
    server = server_of(app, chosen)
    logs = [logging.getLogger(name) for name in ("cuecard.server", "uvicorn.error")]  # an answer that does not end
    with listening or listen("127.0.0.1", 0) as opened:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [opened]})
        faults = Faults(thread)
        thread.start()
        for log in logs:
            log.addHandler(faults)
        try:
            yield f"http://127.0.0.1:{opened.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join(PATIENCE)
            for log in logs:
                log.removeHandler(faults)
    assert not faults.found, faults.found


ANSWERS: dict[str, type[answers.Shape]] = {
    "/v1/agents": answers.AgentsAnswer,
    "/v1/prepare-call": answers.PreparedCall,
    "/v1/prepare-step": answers.PreparedStep,
    "/v1/search-tools": answers.SearchAnswer,
    "/v1/remember": answers.MemoryAnswer,
    "/healthz": answers.Health,
    "/readyz": answers.Readiness,
}


def is_as_described(answer: httpx2.Response) -> None:
    """Each answer has every field that is described, and no other."""
    is_problem = answer.headers.get("content-type") == "application/problem+json"
    shape = answers.ProblemDetails if is_problem else ANSWERS.get(answer.request.url.path)
    if shape and answer.read():
        shape.model_validate(answer.json(), extra="forbid")


@contextmanager
def serving(service: Service, **more: Any) -> Iterator[httpx2.Client]:
    """A client of a service in a thread."""
    chosen = options(**more)
    hooks = {"response": [is_as_described]}
    with (
        in_thread(create_app(service, chosen), chosen) as address,
        httpx2.Client(base_url=address, timeout=PATIENCE, event_hooks=hooks) as client,
    ):
        yield client


@dataclass
class Replica:
    """`cuecard serve` as a process."""

    process: Process
    address: str
    lines: list[dict[str, Any]] = field(default_factory=list)

    def client(self) -> httpx2.Client:
        return httpx2.Client(base_url=self.address, timeout=PATIENCE)

    def events(self, name: str) -> list[dict[str, Any]]:
        return [line for line in list(self.lines) if line["event"] == name]

    def until(self, event: str) -> dict[str, Any]:
        deadline = time.monotonic() + PATIENCE
        while not self.events(event):
            assert time.monotonic() < deadline, self.lines
            time.sleep(0.01)
        return self.events(event)[-1]

    def kill(self) -> None:
        self.process.kill()
        self.process.wait(PATIENCE)

    def end(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(PATIENCE)


@contextmanager
def replica(*arguments: str, states: Path, **environment: str) -> Iterator[Replica]:
    """A process that serves on loopback; it ends with the test."""
    words = ["serve", "--grace", "1", *arguments, "--port", "0", "--states", states]
    process = start(*words, pipes="stderr", text=True, errors=None, **{"CUECARD_KEY": KEY, **environment})
    made = Replica(process, "")
    reader = threading.Thread(target=_read, args=(made,))
    reader.start()
    try:
        made.address = f"http://127.0.0.1:{made.until('listening')['port']}"
        yield made
    finally:
        with suppress(ProcessLookupError):
            process.kill()
        process.wait(PATIENCE)
        reader.join(PATIENCE)
        if process.stderr:
            process.stderr.close()


def _read(made: Replica) -> None:
    for line in made.process.stderr or ():
        made.lines.append(json.loads(line) if line.startswith("{") else {"event": "text", "text": line})


def notes_agent(folder: Path) -> Path:
    """The agent that `cuecard init notes` writes, in a folder."""
    for file, text in starter("minimal", "notes").items():
        place = folder / "notes" / file
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
    return folder / "notes"


def raw_requests(lines: Sequence[str]) -> list[bytes]:
    """Requests as they are written down: a line of method and path, headers, and a body that begins with a brace."""
    found: list[list[str]] = []
    for line in lines:
        if re.match(r"[A-Z]+( /|$)", line):
            found.append([])
        found[-1].append(line)
    return [_raw(each) for each in found]


def _raw(lines: Sequence[str]) -> bytes:
    head, *rest = lines
    body = "".join(line for line in rest if line.startswith("{")).encode()
    headers: Mapping[str, str] = dict(line.split(": ", 1) for line in rest if not line.startswith("{"))
    told = {"Host": "localhost", "Connection": "close", "Content-Type": "application/json"}
    told = {**told, **({"Content-Length": str(len(body))} if body else {}), **headers}
    return "\r\n".join([f"{head} HTTP/1.1", *(f"{k}: {v}" for k, v in told.items()), "", ""]).encode() + body


def ask_at_once(address: str, requests: Sequence[bytes]) -> list[bytes]:
    """What a server answers to requests that are sent one after the other, none of which waits for the others."""
    host, _, port = address.removeprefix("http://").partition(":")
    opened = [socket.create_connection((host, int(port)), timeout=PATIENCE) for _ in requests]
    try:
        for each, request in zip(opened, requests, strict=True):
            each.sendall(request)
        return [_answer(each) for each in opened]
    finally:
        for each in opened:
            each.close()


def _answer(opened: socket.socket) -> bytes:
    pieces = []
    while piece := opened.recv(65536):
        pieces.append(piece)
    return b"".join(pieces)
