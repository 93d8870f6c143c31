"""What every screen is made from, and what the band above it shows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from typing import Any, TypeAlias

from cuecard.config.model_profile import ModelProfile
from cuecard.engine import Engine
from cuecard.model import Turn
from cuecard.records import dataclass
from cuecard.studio.address import Address
from cuecard.studio.agents import Agents, AgentState
from cuecard.studio.home import Home
from cuecard.studio.runs import Run, Sent
from cuecard.workbench.bill import first_break

MODELS = ("claude-opus-5", "claude-sonnet-5", "gpt-5.6", "gemini-3.8-flash")
"""The models whose caches can be chosen, besides the one of the address."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question to a screen: the address, and what it names.

    Attributes:
        address: what is shown.
        agents: every agent.
        state: the agent of the address, as its files are now.
        engine: the state that is shown; None if there is no good one.
        older: whether `engine` is not the newest state, because the address names another one.
        model: what is known of the model whose cache is shown.
        runs: the conversations that can be chosen: id and name, newest first.
        run: the one that is shown; None for the prompt of a turn.
        step: the number of the request in it, counted from 0.
        turn: the turn of the address; None for the one with every default.
        home: the studio's own folder.
        editor: the template of links that open an editor.
    """

    address: Address
    agents: Agents
    state: AgentState
    engine: Engine | None
    older: bool
    model: ModelProfile
    runs: tuple[tuple[str, str], ...]
    run: Run | None
    step: int
    turn: Turn | None
    home: Home
    editor: str

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

    def kept(self, but: str) -> list[tuple[str, str]]:
        """The values of the address but for one, as fields of a form that changes that one."""
        told = asdict(replace(self.address, agent=self.state.name))
        values = ((name, ",".join(value) if name == "found" else value) for name, value in told.items())
        return [(name, value) for name, value in values if value and name != but]

    @property
    def ruler(self) -> list[tuple[int, list[Cell]]]:
        """The cells of the step ruler by turn; of a long conversation, the steps of the turn that is shown."""
        if self.run is None:
            return []
        now, long = self.run.steps[self.step], len(self.run.steps) >= _LONG
        turns: dict[int, list[Cell]] = {}
        for place, sent in enumerate(self.run.steps):
            cell = _cell(sent, self.run.steps[place - 1] if place else None, current=place == self.step)
            cells = turns.setdefault(sent.turn, [])
            if long and sent.turn != now.turn:
                cells[:] = [replace(cell, label=str(sent.turn), name=f"turn {sent.turn}", marks=_both(cells, cell))]
            else:
                cells.append(cell)
        return list(turns.items())


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


def _cell(sent: Sent, before: Sent | None, *, current: bool) -> Cell:
    known = {each.tool for each in before.manifest.discovered} if before else set()
    found = [each.tool for each in sent.manifest.discovered if each.tool not in known]
    broke = bool(before and before.request and sent.request and first_break(before.request, sent.request) is not None)
    told = [f"{len(found)} tool{'' if len(found) == 1 else 's'} found"] if found else []
    told += ["the cache broke"] if broke else []
    marks = "broke" if broke else "found" if found else ""
    return Cell(sent.place, sent.place, ", ".join((sent.place, *told)), marks, current)


def _both(cells: list[Cell], cell: Cell) -> str:
    marks = {cell.marks, *(each.marks for each in cells)}
    return "broke" if "broke" in marks else "found" if "found" in marks else ""


View: TypeAlias = Callable[[Asked], Mapping[str, Any]]
"""Makes what a template shows; a pure function of what was asked."""


@dataclass(frozen=True, slots=True)
class Screen:
    """A screen: the path of its address, what the bar calls it, and its view."""

    path: str
    title: str
    view: View
