"""The sides of `cuecard diff`: files written by `render --json`, turns, agents, and agents in a git revision."""

from __future__ import annotations

import json
import posixpath
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from cuecard.config.documents.yaml import read_yaml
from cuecard.errors import CuecardError, InputError, Problem, did_you_mean
from cuecard.files.clock import utc_now
from cuecard.files.content import YAML_SUFFIXES, find_content, no_agent
from cuecard.files.roots import is_folder, is_there
from cuecard.files.safe_read import MAX_LOG_BYTES, read_bytes, read_text
from cuecard.model import Clock, Manifest, Step
from cuecard.workbench.diff.edition import Edition, PlayedSide
from cuecard.workbench.diff.revision import read_revision
from cuecard.workbench.played import PlayedTurn
from cuecard.workbench.step import open_engine, played_from
from cuecard.workbench.testing.snapshot import section_texts


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two prompts.

    Attributes:
        name: what was named.
        manifest: its manifest.
        texts: those of `manifest.sections`, or None if only the manifest is available.
        played: the turn that it is the prompt of; None for a recording.
    """

    name: str
    manifest: Manifest
    texts: tuple[str, ...] | None
    played: PlayedSide | None = None

    @property
    def edition(self) -> Edition | None:
        """The edition that made it; None for a recording."""
        return self.played.edition if self.played else None

    @classmethod
    def of(cls, name: str, step: Step) -> Side:
        """The prompt of a recorded step."""
        return cls(name, step.manifest, _texts(step))

    @classmethod
    def of_turn(cls, name: str, edition: Edition, turn: PlayedTurn) -> Side:
        """The prompt of a turn."""
        return cls(name, turn.step.manifest, _texts(turn.step), PlayedSide(edition, turn))


@dataclass(frozen=True, slots=True)
class SideOptions:
    """The options for reading sides.

    Attributes:
        agent: the agent that turn files belong to.
        turn: the turn to render agents with.
        clock: one for both sides.
        allow_code: whether functions that an agent file names are loaded.
        discovered: tools, as `a,b`, that both sides have discovered.
    """

    agent: Path | None
    turn: Path | None
    clock: Clock = field(default_factory=lambda: _standing(utc_now()))
    allow_code: bool = False
    discovered: str = ""

    def side(self, name: str) -> Side:
        """The prompt that an argument names.

        Raises:
            CuecardError: when it cannot be read or rendered; `InputError` when it does not exist.
        """
        path = find_content(Path(name))
        if is_folder(path):
            return self._rendered(name, path, self.turn)
        if path.suffix == ".json" and is_there(path):
            return _recorded(name, path)
        if is_there(path):
            is_yaml = path.suffix in YAML_SUFFIXES
            return self._yaml(name, path) if is_yaml else self._rendered(name, path, self.turn)
        return self._revision(name)

    def _yaml(self, name: str, path: Path) -> Side:
        source = read_text(path)
        if "agent" in read_yaml(source.text, source.name).value:
            return self._rendered(name, path, self.turn)
        if self.agent is None:
            hint = "name the agent it belongs to: --agent AGENT\nan agent file begins with `agent:`"
            raise InputError(Problem("no-agent", "this is a turn file, but no agent is named", hint, name))
        return self._rendered(name, self.agent, path)

    def _rendered(self, name: str, agent: Path, turn: Path | None) -> Side:
        edition = self._edition(agent)
        played = played_from(edition.engine, discovered=self.discovered, values=[], turn=turn)
        return Side.of_turn(name, edition, played)

    @contextmanager
    def opened(self, name: str) -> Iterator[Edition]:
        """The agent that an argument names, for the duration of the block, with a fixed clock.

        Raises:
            CuecardError: when it cannot be read, including errors raised in the block; `InputError` when it does not
                exist.
        """
        path = find_content(Path(name))
        if is_there(path):
            yield self._edition(path)
            return
        with self._of_revision(name) as inside:
            yield self._edition(inside)

    def _revision(self, name: str) -> Side:
        with self._of_revision(name) as path:
            return self._rendered(name, path, self.turn)

    @contextmanager
    def _of_revision(self, name: str) -> Iterator[Path]:
        """The path of an agent in a copy of the revision; errors show the original place."""
        revision, colon, inside = name.partition(":")
        if not colon or not revision:
            raise InputError(Problem("missing-file", "no such file", no_agent(Path(name), _FORMS), name))
        with agent_at(revision, inside) as path:
            yield path

    def _edition(self, agent: Path) -> Edition:
        engine = replace(open_engine(agent, allow_code=self.allow_code), clock=self.clock)
        return Edition.read(agent, engine, allow_code=self.allow_code)


@contextmanager
def agent_at(revision: str, inside: str, at: Path = Path()) -> Iterator[Path]:
    """The path of an agent in a copy of a revision, for the duration of the block; errors show the original place.

    Args:
        revision: a commit, branch, tag or tree, as in git.
        inside: the agent's path: from the top of the repository or, if it begins with a dot, from the folder `at`.
        at: a folder in the repository.

    Raises:
        CuecardError: when it cannot be read, including errors raised in the block; `InputError` when it does not exist.
    """
    with tempfile.TemporaryDirectory(prefix="cuecard-") as folder:
        top = Path(folder).resolve()
        here = read_revision(revision, top, at)
        path = posixpath.normpath((here / inside).as_posix() if inside.startswith(".") else inside)
        if not is_there(top / path):
            raise InputError(_not_in_revision(revision, path, top))
        try:
            yield top / path
        except CuecardError as error:
            shown = _renamer(f"{top.as_posix()}/", f"{revision}:")
            raise type(error)(shown(problem) for problem in error.problems) from None


def _standing(now: datetime) -> Clock:
    return lambda: now


_FORMS = "name a JSON file of `cuecard render --json`, a turn file, an agent, or an agent of a revision: REV:PATH"


def _texts(step: Step) -> tuple[str, ...] | None:
    """The text of each section of the manifest; None if a file does not contain all of them."""
    places = [record.placement for record in step.manifest.sections]
    if (places.count("system"), places.count("appended")) != (len(step.segments), len(step.appended)):
        return None
    return tuple(text for _, text in section_texts(step))


def _recorded(name: str, path: Path) -> Side:
    """A step or a bare manifest, as JSON."""
    try:
        data: Any = json.loads(read_bytes(path, limit=MAX_LOG_BYTES))
    except RecursionError:
        raise InputError(Problem("bad-json", "this JSON is nested too deeply", _FORMS, name)) from None
    except ValueError as error:
        raise InputError(Problem("bad-json", f"this is not JSON: {error}", _FORMS, name)) from None
    if not isinstance(data, dict) or "manifest" not in data:
        return Side(name, Manifest.from_json(data, name), None)
    return Side.of(name, Step.from_json(data, name))


def _not_in_revision(revision: str, path: str, top: Path) -> Problem:
    known = [file.relative_to(top).as_posix() for file in top.rglob("*.y*ml")]
    message = f"revision `{revision}` has no file `{path}`"
    return Problem("missing-file", message, did_you_mean(path, known), f"{revision}:{path}")


def _renamer(folder: str, shown: str) -> Callable[[Problem], Problem]:
    """Renames the places of problems from the copy to the original."""

    def rename(text: str) -> str:
        return text.replace(folder, shown)

    def renamed(problem: Problem) -> Problem:
        chain = tuple(rename(link) for link in problem.chain)
        return replace(problem, name=rename(problem.name), advice=rename(problem.hint), chain=chain)

    return renamed
