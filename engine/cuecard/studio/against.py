"""Which prompt an address means by A: another step, another run, another delivery, or a git revision."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from cuecard.engine import Engine
from cuecard.errors import CuecardError, shortened
from cuecard.studio.break_view import Priced
from cuecard.studio.runs import Run, Runs
from cuecard.studio.screen import Asked
from cuecard.workbench.diff.revision import tree_of
from cuecard.workbench.diff.sides import Side, agent_at
from cuecard.workbench.step import open_engine

_STEP = re.compile(r"\d{1,7}\.\d{1,7}")
_UNKNOWN = "records hold manifests and no messages, so they cannot be played again"


@dataclass(frozen=True, slots=True)
class Against:
    """What a step is compared with.

    Attributes:
        label: what people call it, such as `1.5` or `2.1 under append`.
        kind: `step`, `run`, `delivery` or `revision`.
        side: its prompt; None where there is none.
        priced: its price; None likewise.
        problem: why there is none.
    """

    label: str
    kind: str
    side: Side | None = None
    priced: Priced | None = None
    problem: str = ""


def priced_steps(run: Run, asked: Asked) -> list[Priced]:
    """The steps of a conversation with their prices for the model of the address."""
    rows = asked.runs.rows(run, asked.model)
    before = (None, *(step.billed for step in run.steps))
    return [Priced(*each) for each in zip(run.steps, rows, before, strict=False)]


def against(asked: Asked, run: Run, steps: list[Priced]) -> Against | None:
    """What `a` of the address names; None for the first step, which has none before it."""
    kind, _, name = asked.address.a.partition(":")
    sent = steps[asked.step].sent
    if not asked.address.a:
        return _step(steps[asked.step - 1]) if asked.step else None
    if _STEP.fullmatch(asked.address.a):
        found = [each for each in steps if each.sent.place == asked.address.a]
        label = asked.address.a
        return _step(found[0]) if found else Against(label, "step", problem="this conversation has no such step")
    if kind == "run":
        other = asked.runs.run(name, _engine(asked), asked.model)
        problem = "there is no such conversation, or this agent cannot play it"
        return _in_run(asked, other, sent.place, "run", lambda run: f"{run.name} · {run.delivery}", problem)
    if kind == "delivery":
        other = asked.runs.under(run, name, _engine(asked), asked.model)
        problem = _UNKNOWN if run.transcript is None else f"there is no delivery `{shortened(name)}`"
        return _in_run(asked, other, sent.place, "delivery", lambda run: run.delivery, problem)
    return _revision(asked, run, name if kind == "rev" else asked.address.a)


def _engine(asked: Asked) -> Engine:
    if asked.engine is None:  # no run is shown without one
        raise LookupError(asked.state.name)
    return asked.engine


def _step(priced: Priced) -> Against:
    return Against(priced.sent.place, "step", priced.sent.held().side, priced)


def _in_run(asked: Asked, run: Run | None, place: str, kind: str, name: Callable[[Run], str], problem: str) -> Against:
    if run is None:
        return Against("nothing", kind, problem=problem)
    at = max(run.place_of(place), -1)
    priced = priced_steps(run, asked)[at]
    joint = {"run": "of", "revision": "at"}.get(kind, "under")
    label = f"{priced.sent.place} {joint} {name(run)}"
    return Against(label, kind, priced.sent.held().side, priced)


def _revision(asked: Asked, run: Run, revision: str) -> Against:
    """The same step as an earlier state of the files would have made it."""
    if run.transcript is None:
        return Against(revision, "revision", problem=_UNKNOWN)
    try:
        played = revision_run(asked.runs, asked, run, revision)
    except CuecardError as error:
        return Against(revision, "revision", problem=error.problems[0].message)
    problem = "this revision of the agent cannot play the conversation"
    return _in_run(asked, played, run.steps[asked.step].place, "revision", lambda _: revision, problem)


def revision_run(runs: Runs, asked: Asked, run: Run, revision: str) -> Run | None:
    """A recording played by the agent of a revision; kept, since a revision does not change.

    Raises:
        CuecardError: when there is no such revision, or the agent in it is wrong.
    """
    path = asked.state.path
    _, tree = tree_of(revision, path.parent)
    key = f"{tree} {path}"
    engine = runs.revisions.get(key)
    if engine is None:
        with agent_at(revision, f"./{path.name}", path.parent) as there:
            engine = open_engine(there)
        runs.revisions.keep(key, engine)
    return runs.under(run, run.delivery, engine, asked.model)
