"""JSON logs and Prometheus metrics."""

from __future__ import annotations

import collections
import json
import logging
import sys
import time
import traceback
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from cuecard.errors import visible
from cuecard.model import Json
from cuecard.server.agents import Agents

_log = logging.getLogger("cuecard.server")


INTERVAL = 10.0
"""Seconds in which one line of a kind that anybody can cause is written; it tells how many were left out before it."""


def log_event(
    event: str,
    level: int = logging.INFO,
    *,
    fault: BaseException | None = None,
    seldom: str = "",
    **facts: Json,
) -> None:
    """Log an event with its facts.

    Args:
        event: a short, stable name, such as `request`.
        level: a level of `logging`.
        seldom: a kind of which one line is written in each interval; empty, if every line is.
        fault: an error, logged by type and stack; its message may contain user text and is left out.
        facts: plain values; never the text of a prompt, message or result.
    """
    _log.log(level, event, extra={"facts": facts, "seldom": seldom}, exc_info=fault)


class JsonLines(logging.Formatter):
    """One JSON object per line."""

    def format(self, record: logging.LogRecord) -> str:
        """Format the record as JSON."""
        told: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "event": record.getMessage(),
            **getattr(record, "facts", {}),
        }
        error = record.exc_info[1] if record.exc_info else None
        if error:
            frames = traceback.extract_tb(error.__traceback__)
            told["error"] = type(error).__name__
            told["stack"] = [f"{frame.filename}:{frame.lineno} in {frame.name}" for frame in frames]
        return json.dumps(told, default=str)


class PlainLines(logging.Formatter):
    """One line for people at a terminal: when, what, and its facts in words; an error with its stack below."""

    def format(self, record: logging.LogRecord) -> str:
        """Format the record as text."""
        facts: dict[str, Any] = dict(getattr(record, "facts", {}))
        moment = datetime.fromtimestamp(record.created).astimezone()
        if record.msg == "listening":
            host = f"[{facts['host']}]" if ":" in facts["host"] else facts["host"]
            return f"listening at http://{host}:{facts['port']}/, which says what is there; stop with Ctrl-C"
        told = facts.pop("message", "") or " ".join(
            f"{name} {', '.join(map(str, value)) if isinstance(value, list) else value}"
            for name, value in facts.items()
            if value not in ("", [], None)
        )
        level = f"{record.levelname.lower()}: " if record.levelno >= logging.WARNING else ""
        line = f"{moment:%H:%M:%S}  {level}{record.getMessage()}  {told}".rstrip()
        error = record.exc_info[1] if record.exc_info else None
        stack = traceback.extract_tb(error.__traceback__) if error else ()
        frames = [f"  {type(error).__name__} at {each.filename}:{each.lineno} in {each.name}" for each in stack]
        return "\n".join(map(visible, (line, *frames)))


class Seldom(logging.Filter):
    """Lets one line of a kind through in each interval: what strangers cause fills no disk."""

    def __init__(self) -> None:
        super().__init__()
        self._until: dict[tuple[str, str], float] = {}
        self._more: collections.Counter[tuple[str, str]] = collections.Counter()

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether to write the line: always, if it is one of ours that has no kind."""
        kind = getattr(record, "seldom", record.msg)  # the server's own lines have their text as their kind
        key, now = (record.name, str(kind)), time.monotonic()
        if not kind:
            return True
        if now < self._until.get(key, 0):
            self._more[key] += 1
            return False
        self._until[key] = now + INTERVAL
        if more := self._more.pop(key, 0):
            record.facts = {**getattr(record, "facts", {}), "more": more}
        return True


def log_to_stderr() -> None:
    """Send the logs of this process to stderr, in words on a terminal and otherwise as JSON lines; only `cuecard serve`
    does this.
    """
    handler = logging.StreamHandler()
    handler.setFormatter(PlainLines() if sys.stderr.isatty() else JsonLines())
    handler.addFilter(Seldom())
    logging.basicConfig(level=logging.INFO, handlers=[handler], force=True)


_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class Metrics:
    """The metrics of one service, in their own registry."""

    def __init__(self, agents: Agents) -> None:
        self._registry = registry = CollectorRegistry()
        self._requests = Counter("cuecard_requests", "Answered requests.", ["path", "status"], registry=registry)
        self._seconds = Histogram(
            "cuecard_request_seconds", "Response times.", ["path"], buckets=_SECONDS, registry=registry
        )
        self._problems = Counter("cuecard_problems", "Reported problems, by code.", ["code"], registry=registry)
        self.running: Gauge = Gauge("cuecard_requests_running", "Requests in progress.", registry=registry)
        self._agents = agents
        self._stale = Gauge(
            "cuecard_agent_stale",
            "1 while the files differ from the state that is served.",
            ["agent"],
            registry=registry,
        )
        self._states = Gauge(
            "cuecard_agent_state", "Swaps, refusals and recoveries of the files.", ["agent"], registry=registry
        )

    def answered(self, path: str, status: int, seconds: float, codes: Iterable[str]) -> None:
        """Count one response."""
        self._requests.labels(path, str(status)).inc()
        self._seconds.labels(path).observe(seconds)
        for code in codes:
            self._problems.labels(code).inc()

    def text(self) -> bytes:
        """All metrics in the text format of Prometheus."""
        for gauge in (self._stale, self._states):
            gauge.clear()  # the agents of a library come and go
        for agent in self._agents:
            self._stale.labels(agent.name).set(agent.stale)
            self._states.labels(agent.name).set(agent.status.number)
        return generate_latest(self._registry)
