"""Prometheus metrics: requests, problems, and whether the agents are up to date."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from cuecard.server.agents import Agents, ServedAgent

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
        self.running = Gauge("cuecard_requests_running", "Requests in progress.", registry=registry)
        stale = Gauge(
            "cuecard_agent_stale",
            "1 while the files differ from the state that is served.",
            ["agent"],
            registry=registry,
        )
        states = Gauge(
            "cuecard_agent_state", "Swaps, refusals and recoveries of the files.", ["agent"], registry=registry
        )
        for agent in agents:
            stale.labels(agent.name).set_function(partial(_stale, agent))
            states.labels(agent.name).set_function(partial(_number, agent))

    def answered(self, path: str, status: int, seconds: float, codes: Iterable[str]) -> None:
        """Count one response."""
        self._requests.labels(path, str(status)).inc()
        self._seconds.labels(path).observe(seconds)
        for code in codes:
            self._problems.labels(code).inc()

    def text(self) -> bytes:
        """All metrics in the text format of Prometheus."""
        return generate_latest(self._registry)


def _stale(agent: ServedAgent) -> float:
    return float(agent.stale)


def _number(agent: ServedAgent) -> float:
    return float(agent.status.number)
