"""The output of `cuecard watch`: a line or a JSON object per change, with the tokens it added or saved."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Literal, TypeAlias

from cuecard.cli.counting import counted
from cuecard.cli.json_text import json_text
from cuecard.cli.step import step_from
from cuecard.engine import Engine
from cuecard.errors import CuecardError, visible
from cuecard.model import Json
from cuecard.reload.status import Status

News: TypeAlias = Literal["serving", "swapped", "refused", "recovered"]

SHOWN = 3
"""The maximum number of files and of tools in a line."""


@dataclass(frozen=True, slots=True)
class Example:
    """The step whose tokens are shown, given by the options of `cuecard render`."""

    discovered: str = ""
    values: Sequence[str] = ()
    turn: Path | None = None


@dataclass(frozen=True, slots=True)
class Costs:
    """The tokens of the example step by section, and of the instructions of tools not in it; or the reason why
    unknown.
    """

    sections: Mapping[str, int] = field(default_factory=dict)
    tools: Mapping[str, int] = field(default_factory=dict)
    problem: str = ""

    @property
    def total(self) -> int:
        """Tokens of the example step."""
        return sum(self.sections.values())


def measure(engine: Engine, example: Example) -> Costs:
    """The current cost of the example; an engine caches counts, so only changes are counted."""
    try:
        step = step_from(engine, discovered=example.discovered, values=example.values, turn=example.turn)
    except CuecardError as error:  # an input without a default: the change itself still deserves a line
        return Costs(problem=error.problems[0].message)
    sections = {record.id: record.tokens for record in step.manifest.sections}
    outside = {name: text for name, text in engine.instructions.items() if name not in step.active_tools}
    return Costs(sections, {name: engine.count(text) for name, text in outside.items()})


def differences(before: Mapping[str, int], after: Mapping[str, int]) -> dict[str, int]:
    """The change in tokens of each entry, without unchanged ones."""
    names = dict.fromkeys([*before, *after])
    return {name: more for name in names if (more := after.get(name, 0) - before.get(name, 0))}


class Screen:
    """Shows news as it comes: lines for people on stdout and pictures on stderr, or JSON lines on stdout."""

    def __init__(self, example: Example, *, as_json: bool) -> None:
        self._example, self._as_json = example, as_json
        self._costs = Costs()

    def show(self, news: News, engine: Engine, status: Status, moment: datetime) -> None:
        """One change."""
        before, after = self._costs, measure(engine, self._example)
        self._costs = after
        if self._as_json:
            print(json_text(_record(news, status, moment, before, after), None), flush=True)
            return
        line = [f"{moment.astimezone():%H:%M:%S}", *_words(news, engine, status, before, after)]
        print(visible("  ".join(line)), flush=True)
        if status.refused and news in {"serving", "refused"}:
            self.picture(status.refused.picture)
        if status.unsaved:
            self.picture(visible(f"the last good state is not on disk: {status.unsaved}"))

    def picture(self, text: str) -> None:
        """Print a problem on stderr."""
        sys.stderr.write(f"{text}\n\n")
        sys.stderr.flush()


def _words(news: News, engine: Engine, status: Status, before: Costs, after: Costs) -> Iterator[str]:
    serving = status.serving[:12]
    if news == "refused" and status.refused:
        yield from (status.refused.sha256[:12], f"refused; still serving {serving}")
        return
    yield serving
    if news == "serving":
        origin = " (the last good state of an earlier run)" if status.restored else ""
        sections, tools = len(engine.sections), len(engine.tools)
        yield f"serving {engine.name}: {counted(sections, 'section')}, {counted(tools, 'tool')}{origin}"
    elif news == "recovered":
        yield "fixed: the files match the served state again"
    else:
        yield _listed(status.changed)
        yield from _deltas(before, after)
    yield f"(no token counts: {after.problem})" if after.problem else f"{after.total:,} tokens"


def _deltas(before: Costs, after: Costs) -> Iterator[str]:
    if before.problem or after.problem:
        return
    sections, tools = differences(before.sections, after.sections), differences(before.tools, after.tools)
    parts = [f"{name} {more:+,}" for name, more in sections.items()]
    parts += [f"[{_listed([f'{name} {more:+,}' for name, more in tools.items()])}]"] if tools else []
    yield ", ".join(parts) if parts else "no change in tokens"


def _listed(names: Sequence[str]) -> str:
    rest = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(map(visible, names[:SHOWN])) + rest


def _record(news: News, status: Status, moment: datetime, before: Costs, after: Costs) -> dict[str, Json]:
    counted = not (before.problem or after.problem) and news == "swapped"
    return {
        "event": news,
        "time": moment.isoformat(),
        "tokens": {
            "total": None if after.problem else after.total,
            "sections": differences(before.sections, after.sections) if counted else {},
            "tools": differences(before.tools, after.tools) if counted else {},
            "problem": after.problem,
        },
        "status": status.to_json(),
    }
