"""What the checks at the door cost: `prepare_call` with them and without, side by side in one run."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from cuecard.boundary.calls import admit_call
from cuecard.boundary.turns import contents

import cuecard.engine
from cuecard import Engine, Entity, Memory, Message, Turn

pytestmark = pytest.mark.bench

ROOT = Path(__file__).parents[2] / "prompts"
NOW = datetime(2026, 11, 20, tzinfo=UTC)
MEMORY = Memory(tuple(Entity("page" if n % 2 else "post", f"id-{n}", f"Thing {n}") for n in range(10)))
MESSAGES = tuple(Message("user" if n % 2 else "assistant", f"message {n}", id=f"m{n}") for n in range(100))
TURNS = {"cms": Turn(memory=MEMORY, now=NOW), "mushroom": Turn(messages=MESSAGES, now=NOW)}


@pytest.mark.parametrize("name", TURNS)
def test_argument_checks_cost_little(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Inputs and control characters are looked at in both: that has always been done."""
    engine, turn = Engine.open(ROOT / name), TURNS[name]
    times: dict[str, list[float]] = {"with": [], "without": []}

    def bare(agent: object, given: Turn, history: object, *_: object) -> object:
        assert not list(contents(engine.agent, given))
        return given, history

    doors: dict[str, Callable[..., object]] = {"with": admit_call, "without": bare}
    engine.prepare_call(turn)
    for _ in range(300):
        for which, door in doors.items():
            monkeypatch.setattr(cuecard.engine, "admit_call", door)
            start = time.perf_counter()
            engine.prepare_call(turn)
            times[which].append(time.perf_counter() - start)

    ratio = statistics.median(times["with"]) / statistics.median(times["without"])
    print(f"\n{name}: prepare_call with its door takes {ratio:.2f}x of the time without")
    assert ratio < 1.2
