"""Turn files as tests: each is rendered and compared with its expectations."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from cuecard.config.documents.document import Document
from cuecard.config.documents.document import Path as Place
from cuecard.config.turn_file import TurnFile
from cuecard.engine import Engine
from cuecard.errors import CuecardError, InputError, Problem
from cuecard.files.roots import is_folder, is_there, shown
from cuecard.files.safe_read import children
from cuecard.model import Json
from cuecard.workbench.played import PlayedTurn, placing, play, read_turns
from cuecard.workbench.testing.expectations import ExpectationPlace, RenderedTurn, not_found, unknown_names, unmet
from cuecard.workbench.testing.goldens import FOLDER, complaint, hold
from cuecard.workbench.testing.snapshot import Snapshot, result_parts

MOMENT = datetime(2026, 1, 1, 12, tzinfo=UTC)
"""The time of a turn without one, so that a test gives the same result every day."""

TURNS = "turns"
"""The folder of an agent whose turn files are its tests."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of one turn.

    Attributes:
        name: the file, and which of its turns if it has several.
        file: the file as people would type it.
        problems: its problems; none if it passed.
        tokens: the tokens of the prompt; None if there is none.
        seconds: how long it took.
        snapshot: the snapshot that it uses.
        written: whether that was updated.
        played: the turn as it was played; None if it could not be.
    """

    name: str
    file: str
    problems: tuple[Problem, ...] = ()
    tokens: int | None = None
    seconds: float = 0.0
    snapshot: Path | None = None
    written: bool = False
    played: PlayedTurn | None = None


def find_turns(agent: Path, wanted: Sequence[Path] = ()) -> list[Path]:
    """The turn files to test: the named ones, including the files in named folders, otherwise those in `turns/`.

    Raises:
        InputError: when one does not exist, or there is none at all.
    """
    folder = agent if is_folder(agent) else agent.parent
    missing = [path for path in wanted if not is_there(path)]
    if missing:
        raise InputError(
            Problem("missing-file", "no such file or folder", "check the path", str(path)) for path in missing
        )
    found = [file for path in wanted or (folder / TURNS,) for file in _files(path)]
    if not found:
        where = shown(folder / TURNS)
        hint = f"write one: {where}/first.yaml, with `inputs:`, `history:` and what you `expect:`"
        raise InputError(Problem("no-turns", f"there are no turn files in {where}", hint, shown(agent)))
    return found


def run_file(engine: Engine, path: Path, *, update: bool = False) -> list[Outcome]:
    """The outcome of each turn in a file; an unreadable file is one outcome with its problems."""
    name = shown(path)
    try:
        document, turns = read_turns(path)
    except CuecardError as error:
        return [Outcome(name, name, error.problems)]
    standing = replace(engine, clock=lambda: MOMENT)
    return list(_Conversation(standing, path, document, turns, update).outcomes())


def turns_of(
    engine: Engine, path: Path, inputs: Mapping[str, Json] | None = None
) -> Iterator[tuple[str, PlayedTurn | CuecardError]]:
    """Each turn of a file by name, played; or its problems, in which case it is the last.

    `inputs` override those of each turn. Expectations are not checked. A turn without a time gets `MOMENT`.
    """
    name = shown(path)
    try:
        document, turns = read_turns(path)
        engine = replace(engine, clock=lambda: MOMENT)
        chat = engine.conversation()
        for at, turn in enumerate(turns):
            several = "turns" in document.value
            name = f"{shown(path)} turn {at + 1}" if several else shown(path)
            with placing(document, ("turns", at) if several else (), inputs or ()):
                played = play(engine, chat, turn, inputs)
            yield name, played
    except CuecardError as error:
        yield name, error


@dataclass(frozen=True, slots=True)
class _Conversation:
    engine: Engine
    path: Path
    document: Document
    turns: tuple[TurnFile, ...]
    update: bool

    def outcomes(self) -> Iterator[Outcome]:
        chat, before, file = self.engine.conversation(), None, shown(self.path)
        several = "turns" in self.document.value
        for at, turn in enumerate(self.turns):
            name = f"{file} turn {at + 1}" if several else file
            start = time.perf_counter()
            expect: Place = ("turns", at, "expect") if several else ("expect",)
            try:
                with placing(self.document, expect[:-1]):
                    played = play(self.engine, chat, turn)
                    results = [*map(chat.render_result, played.past.results)] if turn.expect.results else []
            except CuecardError as error:
                yield Outcome(name, file, error.problems, seconds=time.perf_counter() - start)
                return
            step = played.step
            place = ExpectationPlace(self.document, expect)
            problems = [
                *unknown_names(turn, self.engine, self.document, expect[:-1]),
                *unmet(turn.expect, RenderedTurn(self.engine, step, before, results), place),
                *not_found(played.past.searches, self.document, expect[:-1]),
            ]
            outcome = Outcome(name, file, tokens=step.manifest.total_tokens, played=played)
            outcome = self._held(outcome, played, at if several else None, place) if turn.expect.snapshot else outcome
            yield replace(outcome, problems=(*problems, *outcome.problems), seconds=time.perf_counter() - start)
            before = step

    def _held(self, outcome: Outcome, played: PlayedTurn, at: int | None, place: ExpectationPlace) -> Outcome:
        """The outcome, including that of the snapshot."""
        number = "" if at is None else f".{at + 1}"
        path = self.path.parent / FOLDER / f"{self.path.stem}{number}.txt"
        try:
            held = hold(
                path, Snapshot.of(played.step, result_parts(played.results, self.engine.count)), update=self.update
            )
        except CuecardError as error:
            return replace(outcome, snapshot=path, problems=error.problems)
        if held.passed:
            return replace(outcome, snapshot=path, written=held.became == "written")
        wrong = complaint(held, "cuecard test --update")
        found = self.document.problem((*place.path, "snapshot"), wrong.code, wrong.message, wrong.hint)
        return replace(outcome, snapshot=path, problems=(found,))


def _files(path: Path) -> list[Path]:
    if not is_folder(path):
        return [path] if is_there(path) else []
    return [file for file in children(path) if file.suffix in {".yaml", ".yml"} and not is_folder(file)]
