"""What deciding costs where most of what was found does not fit: 800 tools against 100, side by side in one run."""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from cuecard import Engine, ToolResult, Turn

pytestmark = pytest.mark.bench

NOW = datetime(2026, 11, 20, tzinfo=UTC)
REPEATS, SEARCHES, MOST = 9, 10, 10
AGENT = """\
agent: many
tools: {instructions: t.yaml, core: [tool_search]}
budget: {total: 3000}
delivery: append
sections:
- {id: rules, text: "Be kind."}
- {id: howto, text: "<howto>\\n{{{activeProtocols}}}\\n</howto>"}
"""


def opened(folder: Path, number: int) -> Engine:
    cues = {cue: f"what to do {cue} it: look at what came, and ask the user" for cue in ("before", "after", "next")}
    names = ["tool_search", *(f"tool_{at}_of_many" for at in range(number))]
    entries = "".join(f"  {name}: {json.dumps({**cues, 'gotcha': f'{name} is slow'})}\n" for name in names)
    (folder / "agent.yaml").write_text(AGENT, encoding="utf-8")
    (folder / "t.yaml").write_text(f"category: many\ntools:\n{entries}", encoding="utf-8")
    return Engine.open(folder / "agent.yaml", cache=False)


def works(engine: Engine) -> dict[str, Callable[[], object]]:
    """A call, a stateless step and a whole conversation, in which the same number of searches finds every tool."""
    found = [name for name in engine.tools if name != "tool_search"]
    portion = len(found) // SEARCHES
    portions = [found[at * portion : (at + 1) * portion] for at in range(SEARCHES)]
    history = [ToolResult("tool_search", {"tools": names}, f"call-{at}") for at, names in enumerate(portions)]
    first = engine.prepare_call(Turn(now=NOW))

    def conversation() -> None:
        chat = engine.conversation()
        chat.user(Turn(now=NOW))
        for result in history:
            chat.step([result])

    return {
        "a call": lambda: engine.prepare_call(Turn(now=NOW, discovered=tuple(found)), previous=first),
        "a call after a compaction": lambda: engine.prepare_call(
            Turn(now=NOW), history, previous=first, compacted=True
        ),
        "a stateless step": lambda: engine.prepare_step(first, history),
        "all steps of a conversation": conversation,
    }


def test_what_deciding_costs_grows_with_the_tools_and_no_faster(tmp_path: Path) -> None:
    few, many = (tmp_path / str(number) for number in (100, 800))
    few.mkdir()
    many.mkdir()
    small, large = works(opened(few, 100)), works(opened(many, 800))
    print("\n                                 100 tools   800 tools")
    for name in small:
        less, more = milliseconds(small[name], large[name])
        print(f"  {name:30s} {less:8.2f} ms {more:8.2f} ms  {more / less:5.1f}x")
        assert more <= MOST * less


def milliseconds(*works: Callable[[], object]) -> list[float]:
    """The median of each work's times, measured in turn."""
    times: list[list[float]] = [[] for _ in works]
    for _ in range(REPEATS + 1):
        for work, taken in zip(works, times, strict=True):
            start = time.perf_counter()
            work()
            taken.append((time.perf_counter() - start) * 1e3)
    return [statistics.median(taken[1:]) for taken in times]  # the first counts texts that are known afterwards
