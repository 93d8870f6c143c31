"""What a record costs, side by side in one run: a step alone, with its manifest, and recorded."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from statistics import median

import pytest

from cuecard import Engine, Recorder, Step, ToolResult, Turn

pytestmark = pytest.mark.bench

CMS = Path(__file__).parents[2] / "prompts" / "cms"
NOW = datetime(2026, 11, 22, tzinfo=UTC)
ROUNDS, STEPS = 60, 20


def test_a_record_against_a_step_without(tmp_path: Path) -> None:
    plain = Engine.open(CMS)
    found = [ToolResult("tool_search", {"tools": ["cms_createPage"]}, "call-1")]

    with Recorder(tmp_path / "records.jsonl") as recorder:
        engine = recorder.instrument(plain)

        def step(engine: Engine, results: list[ToolResult], look: Callable[[Step], object]) -> Callable[[], object]:
            """Each in a conversation of its own: a request has one record."""
            number, call = count(), engine.prepare_call(Turn(now=NOW))

            def prepared() -> object:
                return look(engine.prepare_step(replace(call, conversation=f"c-{next(number)}"), results))

            return prepared

        taken = side_by_side(
            {
                "prepare_step": step(plain, [], lambda step: step),
                "prepare_step and its manifest": step(plain, [], lambda step: step.manifest),
                "prepare_step, recorded": step(engine, [], lambda step: step),
                "after a call: prepare_step": step(plain, found, lambda step: step),
                "after a call: and its manifest": step(plain, found, lambda step: step.manifest),
                "after a call: recorded with the call": step(engine, found, lambda step: step),
            }
        )
    print()
    for name, rounds in taken.items():
        print(f"  {name:40s} {median(rounds):8.0f} us, the least {min(rounds):6.0f}")
    alone, manifest, recorded, after, after_manifest, with_call = taken.values()
    for what, without, held in (("a record", alone, recorded), ("two (a request and its call)", after, with_call)):
        costs = [more - less for less, more in zip(without, held, strict=True)]
        print(f"  {what:40s} {median(costs):8.0f} us, the least {min(costs):6.0f}   wanted 200 for one")

    assert median(recorded) < 3 * median(manifest)
    assert median(with_call) < 3 * median(after_manifest)


def side_by_side(works: dict[str, Callable[[], object]]) -> dict[str, list[float]]:
    """Microseconds of processor time of this thread for each, in rounds in which all have a turn."""
    taken = {name: list[float]() for name in works}
    for _ in range(ROUNDS):
        for name, work in works.items():
            start = time.thread_time()
            for _ in range(STEPS):
                work()
            taken[name].append((time.thread_time() - start) / STEPS * 1e6)
    return taken
