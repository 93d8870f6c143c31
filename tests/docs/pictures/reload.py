"""Which state of the files serves whom, while the files are edited, broken and mended."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from cuecard import Call, Engine, Pins, Turn, Watcher, watch
from cuecard.types import Pace
from docs.pictures.drawing import Sheet

EDITS = {
    "1": "agent: bakery\nsections: [{id: role, text: You sell bread.}]\n",
    "2": "agent: bakery\nsections: [{id: role, text: You sell bread and rolls.}]\n",
    "broken": "agent: bakery\nsections: [{id: role, text: 'You sell {{cake.'}]\n",
    "3": "agent: bakery\nsections: [{id: role, text: You sell cake.}]\n",
}
LEFT, CELL, ROW = 188, 78, 44
PATIENCE = 30.0


@dataclass(frozen=True, slots=True)
class Moment:
    """What held after one edit: the state that serves, that of each conversation, and the error if there is one."""

    edit: str
    serves: str
    conversations: tuple[str, ...]
    error: str


def picture() -> str:
    """A column for each edit; a row for the files, the engine, and two conversations."""
    moments = play()
    sheet = Sheet("Files change, conversations go on", _summary(moments))
    rows = ["the files", "new conversations", "conversation A", "conversation B"]
    hints = ["as they are saved", "the last good state", "began with state 1", "began with state 2"]
    for row, (name, hint) in enumerate(zip(rows, hints, strict=True)):
        sheet.write(20, 84 + ROW * row, name, "n")
        sheet.write(20, 100 + ROW * row, hint, "s")
    for column, moment in enumerate(moments):
        x = LEFT + CELL * column
        sheet.write(x + CELL / 2, 60, f"edit {column}" if column else "start", "s c")
        held = [moment.edit, moment.serves, *moment.conversations]
        for row, state in enumerate(held):
            if state:
                style = {"broken": "bad", "1": "user", "2": "core", "3": "new"}[state]
                sheet.box(x + 2, 70 + ROW * row, CELL - 4, ROW - 10, style, 4)
                sheet.write(x + CELL / 2, 92 + ROW * row, state, "on c")
    y = 84.0 + ROW * len(rows)
    error = next(moment.error for moment in moments if moment.error)
    sheet.write(20, y, "The broken edit is refused, with its place and cause:", "s")
    sheet.write(20, y + 20, error, "m")
    sheet.height = y + 38
    return sheet.text()


def play() -> list[Moment]:
    """The edits, one after the other, with the default policy."""
    moments: list[Moment] = []
    with tempfile.TemporaryDirectory() as made:
        agent = Path(made) / "agent.yaml"
        agent.write_text(EDITS["1"], encoding="utf-8")
        with watch(agent, states=Path(made) / "states", pace=Pace(quiet=0.02, sweep=0.05)) as watcher:
            pins, names, begun = Pins(watcher), dict[str, str](), list[Call]()
            for edit, text in EDITS.items():
                _save(agent, text, watcher, is_broken=edit == "broken", is_first=edit == "1")
                names.setdefault(watcher.current.agent.sha256, edit)
                served = [pins.serve(previous=call) for call in begun]
                if len(begun) < 2:
                    fresh = pins.serve()
                    begun.append(fresh.prepare_call(Turn()))
                    served.append(fresh)
                held = [names[each.engine.agent.sha256] for each in served]
                refused = watcher.status.refused
                told = refused.picture.splitlines()[0].rpartition("/")[2] if refused else ""
                serves = names[watcher.current.agent.sha256]
                moments.append(Moment(edit, serves, tuple([*held, "", ""][:2]), told))
    return moments


def _save(agent: Path, text: str, watcher: Watcher[Engine], *, is_broken: bool, is_first: bool) -> None:
    """An edit, and a wait until the watcher has seen it."""
    if is_first:
        return
    before = watcher.current
    agent.write_text(text, encoding="utf-8")
    _wait(lambda: bool(watcher.status.refused) if is_broken else watcher.current is not before)


def _wait(until: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not until():
        if time.monotonic() > end:
            raise TimeoutError("the watcher has not seen the edit")
        time.sleep(0.01)


def _summary(moments: list[Moment]) -> str:
    told = [
        f"after {moment.edit}: new conversations get state {moment.serves}, "
        f"the others have {' and '.join(filter(None, moment.conversations))}"
        for moment in moments
    ]
    return "; ".join(told) + "."
