"""The processor time that an adapter takes of a step of its framework, and what of it the engine takes."""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import wraps
from typing import Any

import pytest

from cuecard import Conversation, Engine

Run = Callable[[], Awaitable[object]]
"""One run of an agent, of `STEPS` requests to its model."""

STEPS = 24
RUNS = 24


@dataclass
class Shares:
    """The time of the thread that runs: what adapter and engine take of it, each without the other.

    Attributes:
        spent: seconds by share.
        now: the share that runs; empty for the framework.
    """

    spent: dict[str, float] = field(default_factory=lambda: dict.fromkeys(("", "adapter", "engine"), 0.0))
    now: str = ""
    _since: float = 0.0

    def turn(self, share: str) -> str:
        """From here on this share runs; gives the one that ran."""
        before, at = self.now, time.thread_time()
        if before:
            self.spent[before] += at - self._since
        self.now, self._since = share, at
        return before


def count(patch: pytest.MonkeyPatch, shares: Shares, adapter: Any, *names: str) -> None:
    """Measure these functions of the adapter, and in them those of the engine."""
    for owner, share, each in (
        *((adapter, "adapter", name) for name in names),
        *((Conversation, "engine", name) for name in ("user", "step", "search_tools")),
        (Engine, "engine", "search_tools"),
    ):
        patch.setattr(owner, each, _counted(getattr(owner, each), shares, share))


def _counted(function: Callable[..., Any], shares: Shares, share: str) -> Callable[..., Any]:
    @wraps(function)
    async def awaited(*args: Any, **kwargs: Any) -> Any:
        before = shares.turn(share)
        try:
            return await function(*args, **kwargs)
        finally:
            shares.turn(before)

    @wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        before = shares.turn(share)
        try:
            return function(*args, **kwargs)
        finally:
            shares.turn(before)

    return awaited if inspect.iscoroutinefunction(function) else called


def beside(framework: str, plain: Run, adapted: Run, shares: Shares) -> float:
    """The adapter's own time as a part of what a step takes without it: runs of both, in turns.

    The step is measured by the time of the process, since frameworks use threads.
    """
    taken: dict[str, list[float]] = {"without": [], "with": [], "adapter": [], "engine": []}

    async def measure() -> None:
        for number in range(RUNS + 2):
            for name, run in (("without", plain), ("with", adapted)):
                shares.spent, start = dict.fromkeys(shares.spent, 0.0), time.process_time()
                await run()
                if number > 1:
                    taken[name].append(time.process_time() - start)
            if number > 1:
                taken["adapter"].append(shares.spent["adapter"])
                taken["engine"].append(shares.spent["engine"])

    asyncio.run(measure())
    # Other work on the machine only ever adds to processor time (caches, frequency), so the least is what a step needs.
    step = {name: min(seconds) / STEPS * 1e6 for name, seconds in taken.items()}
    print(f"\n{framework}, {STEPS} steps a run, microseconds of processor time per step")
    for name, value in step.items():
        print(f"  {name:8s} {value:6.0f}  {value / step['without']:6.1%}")
    return step["adapter"] / step["without"]
