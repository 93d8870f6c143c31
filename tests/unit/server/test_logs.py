"""What a service writes to stderr: JSON for programs, words for people, and little of what strangers cause."""

from __future__ import annotations

import io
import json
import logging
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

import pytest

from cuecard.server import monitoring
from cuecard.server.monitoring import INTERVAL, log_event, log_to_stderr

Open: TypeAlias = Callable[[str], io.StringIO]


@dataclass
class Clock:
    now: float = 7.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(monitoring, "time", made)
    return made


@pytest.fixture
def stderr(monkeypatch: pytest.MonkeyPatch) -> Iterator[Open]:
    """Logs to a stream of this test, which is a terminal or none."""
    level = logging.root.level
    monkeypatch.setattr(logging.root, "handlers", [])

    def opened(kind: str) -> io.StringIO:
        stream = io.StringIO()
        monkeypatch.setattr(stream, "isatty", lambda: kind == "terminal")
        monkeypatch.setattr(sys, "stderr", stream)
        log_to_stderr()
        return stream

    yield opened
    logging.root.setLevel(level)


def fail() -> None:
    try:
        int("Rosebud")
    except ValueError as error:
        log_event("fault", logging.ERROR, fault=error, path="/v1/agents")


def test_programs_read_a_line_of_json_for_each_event(stderr: Open) -> None:
    stream = stderr("pipe")
    log_event("request", path="/v1/agents", status=200)
    log_event("request", logging.DEBUG, path="/healthz")
    fail()
    request, fault = map(json.loads, stream.getvalue().splitlines())

    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00", request.pop("time"))
    told = {"level": "info", "logger": "cuecard.server", "event": "request", "path": "/v1/agents", "status": 200}
    assert request == told
    assert (fault["level"], fault["event"], fault["error"]) == ("error", "fault", "ValueError")
    (frame,) = fault["stack"]
    assert re.fullmatch(rf"{re.escape(__file__)}:\d+ in fail", frame)
    assert "Rosebud" not in stream.getvalue()


def test_people_read_when_what_and_its_facts(stderr: Open) -> None:
    stream = stderr("terminal")
    log_event("listening", host="127.0.0.1", port=8765, connections=3)
    log_event("listening", host="::1", port=8765)
    log_event("request", path="/v1/agents", agent="", codes=["a", "b"], sent=0, more=[], size=None)
    log_event("stopped")
    log_event("no-key", logging.WARNING, message="set one\x1b[2J")
    fail()
    lines = stream.getvalue().splitlines()

    ends = "which says what is there; stop with Ctrl-C"
    assert lines[:2] == [f"listening at http://{host}:8765/, {ends}" for host in ("127.0.0.1", "[::1]")]
    times, words = zip(*(line.split("  ", 1) for line in lines[2:6]), strict=True)
    assert all(re.fullmatch(r"\d\d:\d\d:\d\d", time) for time in times)
    assert words == (
        "request  path /v1/agents codes a, b sent 0",
        "stopped",
        "warning: no-key  set one‹U+001B›[2J",
        "error: fault  path /v1/agents",
    )
    assert re.fullmatch(rf"  ValueError at {re.escape(__file__)}:\d+ in fail", lines[6])
    assert len(lines) == 7


def test_what_strangers_cause_is_one_line_in_each_interval(clock: Clock, stderr: Open) -> None:
    stream, foreign = stderr("pipe"), logging.getLogger("uvicorn.error")
    for now in (0.0, 1.0, INTERVAL - 1, INTERVAL, INTERVAL + 1, 3 * INTERVAL, 5 * INTERVAL):
        clock.now = now
        log_event("request", seldom="no-token", at=now)
        log_event("request", at=now)
        foreign.warning("Invalid HTTP request received.")
    log_event("request", seldom="unknown-path", at=0)
    lines = [json.loads(line) for line in stream.getvalue().splitlines()]

    assert [(each["at"], each.get("more")) for each in lines if each["event"] == "request"] == [
        *((0.0, None), (0.0, None), (1.0, None), (INTERVAL - 1, None)),
        *((INTERVAL, 2), (INTERVAL, None), (INTERVAL + 1, None)),
        *((3 * INTERVAL, 1), (3 * INTERVAL, None), (5 * INTERVAL, None), (5 * INTERVAL, None)),
        (0, None),
    ]
    assert [each.get("more") for each in lines if each["logger"] == "uvicorn.error"] == [None, 2, 1, None]
