"""One line for each change of an agent, with its cost."""

from __future__ import annotations

import queue
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Literal, TypeAlias

from cuecard.engine import Engine
from cuecard.errors import CuecardError, InputError, Problem, SpecError, visible
from cuecard.files.clock import utc_now
from cuecard.files.content import find_content
from cuecard.files.roots import is_there
from cuecard.files.settings import read_settings
from cuecard.model import DeliveryWish, Json
from cuecard.reload.engines import watch as watch_agent
from cuecard.reload.keeper import Status
from cuecard.reload.settle import Pace
from cuecard.reload.watcher import Watcher
from cuecard.workbench.output import counted, json_text
from cuecard.workbench.step import step_from
from cuecard.workbench.testing.difference import changed_parts
from cuecard.workbench.testing.snapshot import Snapshot
from cuecard.workbench.testing.turns import MOMENT, find_turns, turns_of
from cuecard.workspace import Workspace

News: TypeAlias = Literal["serving", "swapped", "refused", "recovered"]

SHOWN = 3
"""The maximum number of files and of tools in a line."""


@dataclass(frozen=True, slots=True)
class Example:
    """The step whose tokens are shown, given by the options of `cuecard render`; without any, and with an agent's turn
    files, the first turn that `cuecard test` counts.
    """

    discovered: str = ""
    values: Sequence[str] = ()
    turn: Path | None = None
    agent: Path | None = None

    @property
    def file(self) -> Path | None:
        """The turn file of `cuecard test`, if that is the example."""
        if self.agent is None or self.discovered or self.values or self.turn:
            return None
        with suppress(InputError):
            return find_turns(self.agent)[0]
        return None


@dataclass(frozen=True, slots=True)
class Costs:
    """The tokens of the example step by section, and of the instructions of tools not in it; or the reason why
    unknown.
    """

    sections: Mapping[str, int] = field(default_factory=dict)
    tools: Mapping[str, int] = field(default_factory=dict)
    problem: str = ""
    prompt: Snapshot | None = None
    turn: str = ""

    @property
    def total(self) -> int:
        """Tokens of the example step."""
        return sum(self.sections.values())


def measure(engine: Engine, example: Example) -> Costs:
    """The current cost of the example; an engine caches counts, so only changes are counted."""
    name, turn = "", example.file
    try:
        if turn:
            name, played = next(turns_of(engine, turn))
            if isinstance(played, CuecardError):
                raise played
            step = played.step
        else:
            standing = replace(engine, clock=lambda: MOMENT)
            step = step_from(standing, discovered=example.discovered, values=example.values, turn=example.turn)
    except CuecardError as error:  # an input without a default: the change itself still deserves a line
        return Costs(problem=error.problems[0].message)
    sections = {record.id: record.tokens for record in step.manifest.sections}
    outside = {name: text for name, text in engine.instructions.items() if name not in step.active_tools}
    tools = {tool: engine.count(text) for tool, text in outside.items()}
    return Costs(sections, tools, prompt=Snapshot.of(step), turn=name)


def differences(before: Mapping[str, int], after: Mapping[str, int]) -> dict[str, int]:
    """The change in tokens of each entry, without unchanged ones."""
    names = dict.fromkeys([*before, *after])
    return {name: more for name in names if (more := after.get(name, 0) - before.get(name, 0))}


class WatchOutput:
    """Shows news as it comes: lines for people on stdout and pictures on stderr, or JSON lines on stdout."""

    def __init__(self, example: Example, warnings: Callable[[], Sequence[Problem]], *, as_json: bool) -> None:
        self._example, self._warnings, self._as_json = example, warnings, as_json
        self._costs, self._shown = Costs(), frozenset[Problem]()

    def show(self, news: News, engine: Engine, status: Status, moment: datetime) -> None:
        """One change."""
        before, after = self._costs, measure(engine, self._example)
        self._costs = after
        warnings = () if news == "refused" else self._warnings()
        changed = _changed(before, after) if news == "swapped" else []
        if self._as_json:
            told = {"warnings": [problem.to_json() for problem in warnings], "prompt": changed}
            print(json_text(_record(news, status, moment, before, after) | told, None), flush=True)
            return
        line = [f"{moment.astimezone():%H:%M:%S}", *_words(news, engine, status, before, after)]
        print("\n".join(map(visible, ["  ".join(line), *changed])), flush=True)
        if status.refused and news in {"serving", "refused"}:
            self.picture(status.refused.picture)
        for problem in warnings:
            if problem not in self._shown:
                self.picture(problem.picture())
        self._shown = frozenset(warnings) if news != "refused" else self._shown
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
    counts = f"{after.total:,} tokens{f' in {after.turn}' if after.turn else ''}"
    yield f"(no token counts: {after.problem})" if after.problem else counts


SHOWN_LINES = 40
"""The maximum number of lines for what changed in the prompt."""


def _changed(before: Costs, after: Costs) -> list[str]:
    """What changed in the prompt, line by line."""
    if not before.prompt or not after.prompt:
        return []
    lines = [f"  {line}" for line in changed_parts(before.prompt, after.prompt)]
    more = len(lines) - SHOWN_LINES
    return [*lines[:SHOWN_LINES], f"  ... and {counted(more, 'more line')}"] if more > 0 else lines


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


_TICK = 0.2
"""Seconds between checks of `stop`, and between attempts to start."""


def watch(
    agent: Path,
    *,
    example: Example,
    delivery: DeliveryWish | None,
    as_json: bool,
    states: Path | None = None,
    pace: Pace | None = None,
    allow_code: bool = False,
    stop: threading.Event | None = None,
) -> int:
    """Print changes of the agent's files until Ctrl-C, or until `stop` is set; returns 0 in either case."""
    place, settings = find_content(agent), read_settings()
    chosen, kept = delivery or settings.delivery, states or settings.states
    start = partial(watch_agent, place, delivery=chosen, states=kept, pace=pace)
    start = partial(start, allow_code=allow_code, cache=settings.cache_folder)
    warnings = partial(_warnings, Workspace([place], allow_code=allow_code))
    stop, screen = stop or threading.Event(), WatchOutput(replace(example, agent=place), warnings, as_json=as_json)
    with suppress(KeyboardInterrupt):
        watcher = _begin(start, place, screen, stop)
        if watcher:
            with watcher:
                _follow(watcher, screen, stop)
    return 0


def _warnings(workspace: Workspace) -> list[Problem]:
    """What `cuecard check` warns of; errors are the watcher's, which serves none of them."""
    found = (problem for agent in workspace.agents for problem in workspace.check(agent).problems)
    return [problem for problem in found if problem.severity == "warning"]


def _begin(
    start: Callable[[], Watcher[Engine]], place: Path, screen: WatchOutput, stop: threading.Event
) -> Watcher[Engine] | None:
    """The watcher, once the files are valid; until then, prints a picture of the problems whenever they change."""
    shown = ""
    while not stop.is_set():
        try:
            return start()
        except SpecError as error:
            mistaken = not is_there(place) or any(problem.code == "wrong-file" for problem in error.problems)
            if mistaken and not shown:
                raise  # what no edit mends; later it is an edit, such as a file that is renamed while it is saved
            if str(error) != shown:
                shown = str(error)
                screen.picture(shown)
        stop.wait(_TICK)
    return None


def _follow(watcher: Watcher[Engine], screen: WatchOutput, stop: threading.Event) -> None:
    reports: queue.SimpleQueue[tuple[Engine, Status]] = queue.SimpleQueue()
    watcher.on_change(lambda engine, status: reports.put((engine, status)))
    last = watcher.status
    screen.show("serving", watcher.current, last, utc_now())
    while not stop.is_set():
        with suppress(queue.Empty):
            engine, status = reports.get(timeout=_TICK)
            if status.number > last.number:  # otherwise, it was already shown as the first state
                screen.show(_news(last, status), engine, status, utc_now())
                last = status


def _news(before: Status, now: Status) -> News:
    if now.refused and now.refused != before.refused:
        return "refused"
    return "swapped" if now.serving != before.serving else "recovered"
