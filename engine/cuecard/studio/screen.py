"""From an address to what a screen is asked: what every screen is made from, and what the band above it shows."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import asdict, field, replace
from typing import Any, TypeAlias, TypeVar

from starlette.responses import Response

from cuecard.config.model_profile import ModelProfile
from cuecard.engine import Engine
from cuecard.errors import InputError, Problem, shortened
from cuecard.files.content import read_models
from cuecard.records import dataclass
from cuecard.studio.address import Address
from cuecard.studio.agents import AgentFolders, AgentState
from cuecard.studio.home import Home
from cuecard.studio.news import TabNews
from cuecard.studio.runs import Runs, RunSummary
from cuecard.studio.steps import DeliveryRun, StudioRequest
from cuecard.workbench.output import counted

MODELS = ("claude-opus-5", "claude-sonnet-5", "gpt-5.6", "gemini-3.8-flash")
"""The models whose caches can be chosen, besides the one of the address."""


_Made = TypeVar("_Made")


class Latest:
    """What takes long to work out, kept for those who asked last, by what it depends on. Thread-safe."""

    def __init__(self, most: int = 24) -> None:
        self._most, self._lock = most, threading.Lock()
        self._kept: OrderedDict[tuple[Any, ...], Any] = OrderedDict()

    def of(self, make: Callable[[], _Made], *key: Any) -> _Made:
        """What was made for this key; it is made now if it is not known."""
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                known: _Made = self._kept[key]
                return known
        made = make()
        with self._lock:
            self._kept[key] = made
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)
        return made


@dataclass(frozen=True, slots=True)
class Question:
    """A question to a screen: the address, and what it names.

    Attributes:
        address: what is shown.
        agents: every agent.
        state: the agent of the address, as its files are now.
        engine: the state that is shown; None if there is no good one.
        older: whether `engine` is not the newest state, because the address names another one.
        model: what is known of the model whose cache is shown.
        runs: every conversation.
        run: the one that is shown; None for the prompt of a turn.
        step: the number of the request in it, counted from 0.
        home: the studio's own folder.
        editor: the template of links that open an editor.
        latest: what was worked out for those who asked before.
        mark: the news that had been told when the page was asked for.
    """

    address: Address
    agents: AgentFolders
    state: AgentState
    engine: Engine | None
    older: bool
    model: ModelProfile
    runs: Runs
    run: DeliveryRun | None
    step: int
    home: Home
    editor: str
    latest: Latest
    mark: int

    @property
    def listed(self) -> tuple[RunSummary, ...]:
        """The conversations that can be chosen, newest first."""
        return self.runs.listed(self.engine) if self.engine else ()

    @property
    def models(self) -> tuple[str, ...]:
        """The models that can be chosen."""
        return tuple(dict.fromkeys((*MODELS, self.model.name)))

    @property
    def errors(self) -> int:
        """How many errors the files have."""
        return sum(each.severity == "error" for each in self.state.problems)

    @property
    def warnings(self) -> int:
        """How many warnings the files have."""
        return len(self.state.problems) - self.errors

    def kept(self, *but: str) -> list[tuple[str, str]]:
        """The values of the address but for some, as fields of a form that changes those."""
        told = asdict(replace(self.address, agent=self.state.name))
        values = ((name, ",".join(value) if name == "found" else value) for name, value in told.items())
        return [(name, value) for name, value in values if value and name not in but]

    @property
    def ruler(self) -> list[tuple[int, list[Cell]]]:
        """The cells of the step ruler by turn; of a long conversation, the steps of the turn that is shown."""
        if self.run is None:
            return []
        now, long = self.run.steps[self.step], len(self.run.steps) >= _LONG
        turns: dict[int, list[Cell]] = {}
        for place, sent in enumerate(self.run.steps):
            cell = _cell(sent, current=place == self.step)
            cells = turns.setdefault(sent.turn, [])
            if long and sent.turn != now.turn:
                cells[:] = [replace(cell, label=str(sent.turn), name=f"turn {sent.turn}", marks=_both(cells, cell))]
            else:
                cells.append(cell)
        return list(turns.items())


@dataclass(frozen=True, slots=True)
class AddressBook:
    """Everything that addresses name."""

    agents: AgentFolders
    runs: Runs
    home: Home
    editor: str
    news: TabNews
    latest: Latest = field(default_factory=Latest)

    def asked(self, address: Address) -> Question:
        """What a screen is asked.

        Raises:
            InputError: when the address names what is not there.
        """
        mark = self.news.mark  # before anything is looked at, so that no change falls between
        state = self.agents.state(address.agent)
        engine, older = state.engine, False
        if address.state and not state.sha256.startswith(address.state):
            kept = self.agents.engine(state.name, address.state)
            engine, older = kept or engine, kept is not None
        model = (engine.models if engine else read_models()).find(address.model or MODELS[0])
        run = self._run(address, engine, model) if engine else None
        step = run.place_of(address.step) if run else 0
        if run and step < 0:
            hint = f"it has {len(run.steps)} steps, the last one is {run.steps[-1].place}"
            raise InputError(
                Problem("wrong-argument", f"`{run.name}` has no step {address.step}", hint, "address.step")
            )
        seen = (address, self.agents, state, engine, older, model, self.runs, run, step)
        return Question(*seen, self.home, self.editor, self.latest, mark)

    def _run(self, address: Address, engine: Engine, model: ModelProfile) -> DeliveryRun | None:
        if not address.run:
            return None
        run = self.runs.run(address.run, engine, model)
        if run is None:
            told = f"there is no conversation `{shortened(address.run)}`, or `{engine.name}` cannot play it any more"
            hint = "open the timeline to see which there are"
            raise InputError(Problem("wrong-argument", told, hint, "address.run"))
        return run


_LONG = 60
"""From so many steps on, the ruler shows turns."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of the step ruler: the step it leads to, what stands in it, its name for readers, and its marks."""

    place: str
    label: str
    name: str
    marks: str
    current: bool


def _cell(sent: StudioRequest, *, current: bool) -> Cell:
    told = [f"{counted(len(sent.came), 'tool')} entered"] if sent.came else []
    told += ["the cache broke"] if sent.broken else []
    marks = "broke" if sent.broken else "found" if sent.came else ""
    return Cell(sent.place, sent.place, ", ".join((sent.place, *told)), marks, current)


def _both(cells: list[Cell], cell: Cell) -> str:
    marks = {cell.marks, *(each.marks for each in cells)}
    return "broke" if "broke" in marks else "found" if "found" in marks else ""


View: TypeAlias = Callable[[Question], Mapping[str, Any]]
"""Makes what a template shows; a pure function of what was asked."""

ShowPage: TypeAlias = Callable[[Question, Mapping[str, Any], int], Response]
"""Makes the page of a screen, with a status."""


@dataclass(frozen=True, slots=True)
class Screen:
    """A screen: the path of its address, what the bar calls it, and its view."""

    path: str
    title: str
    view: View
