"""What the checks at the door cost: the same call with them and without, side by side in one run."""

from __future__ import annotations

import statistics
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from cuecard import Engine, Entity, Memory, Message, ToolResult, Turn
from cuecard.pipeline.inputs import problems_of

pytestmark = pytest.mark.bench

ROOT = Path(__file__).parents[2] / "prompts"
NOW = datetime(2026, 11, 20, tzinfo=UTC)
MEMORY = Memory(tuple(Entity("page" if n % 2 else "post", f"id-{n}", f"Thing {n}") for n in range(10)))
MESSAGES = tuple(Message("user" if n % 2 else "assistant", f"message {n}", id=f"m{n}") for n in range(100))
RESULTS = tuple(ToolResult(f"tool_{n % 7}", {"ok": True, "rows": [n]}, f"call-{n}") for n in range(400))
CALLS: dict[str, tuple[str, Turn, tuple[ToolResult, ...]]] = {
    "cms": ("cms", Turn(memory=MEMORY, now=NOW), ()),
    "mushroom": ("mushroom", Turn(messages=MESSAGES, now=NOW), ()),
    "400 results": ("cms", Turn(memory=MEMORY, now=NOW), RESULTS),
}


@pytest.mark.parametrize("name", CALLS)
def test_argument_checks_cost_little(name: str) -> None:
    """Inputs and control characters are looked at in both: that has always been done."""
    agent, turn, results = CALLS[name]
    engine = Engine.open(ROOT / agent)
    unchecked: Any = Engine.prepare_call.__wrapped__  # type: ignore[attr-defined] # what `checked` decorates
    times: dict[str, list[float]] = {"with": [], "without": []}

    def bare() -> None:
        assert not list(problems_of(engine.agent, {"turn": turn, "history": results}))
        unchecked(engine, turn, results)

    doors = {"with": lambda: engine.prepare_call(turn, results), "without": bare}
    engine.prepare_call(turn, results)
    for _ in range(300):
        for which, door in doors.items():
            start = time.perf_counter()
            door()
            times[which].append(time.perf_counter() - start)

    ratio = statistics.median(times["with"]) / statistics.median(times["without"])
    print(f"\n{name}: prepare_call with its door takes {ratio:.2f}x of the time without")
    assert ratio < 1.2
