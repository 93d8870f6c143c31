"""What a record costs, side by side in one run: a step alone, with its manifest, and recorded."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from itertools import count
from pathlib import Path

import pytest

from bench.test_step import microseconds
from cuecard import Engine, Recorder, Step, ToolResult, Turn

pytestmark = pytest.mark.bench

CMS = Path(__file__).parents[2] / "prompts" / "cms"
NOW = datetime(2026, 11, 22, tzinfo=UTC)


def test_a_record_against_a_step_without(tmp_path: Path) -> None:
    plain = Engine.open(CMS)
    found = [ToolResult("tool_search", {"tools": ["cms_createPage"]}, "call-1")]

    with Recorder(tmp_path / "records.jsonl") as recorder:
        engine = recorder.instrument(plain)

        def step(engine: Engine, look: Callable[[Step], object]) -> float:
            """Each in a conversation of its own: a request has one record."""
            number, call = count(), engine.prepare_call(Turn(now=NOW))

            def prepared() -> object:
                return look(engine.prepare_step(replace(call, conversation=f"c-{next(number)}"), found))

            return microseconds(prepared)

        rows = {
            "prepare_step": step(plain, lambda step: step),
            "prepare_step and its manifest": step(plain, lambda step: step.manifest),
            "prepare_step, recorded with its call": step(engine, lambda step: step),
        }
    print()
    for name, value in rows.items():
        print(f"  {name:40s} {value:8.0f} us")

    assert rows["prepare_step, recorded with its call"] < 3 * rows["prepare_step and its manifest"]
