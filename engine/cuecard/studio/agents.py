"""The agents that the studio shows: one workspace behind one lock, and the last good states."""

from __future__ import annotations

import logging
import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path

from cuecard.agent.build import AgentDraft
from cuecard.config.documents.sources import SourceText
from cuecard.engine import Engine
from cuecard.errors import CuecardError, InputError, Problem, SpecError, did_you_mean
from cuecard.files.content import AGENT_FILES, find_content, no_agent
from cuecard.files.folder import read_agent
from cuecard.files.roots import is_folder, is_there, shown
from cuecard.records import dataclass, replace
from cuecard.reload.events import Hint, hints
from cuecard.reload.files import AgentFiles, Look, Stamp
from cuecard.reload.settle import Pace, settle
from cuecard.workspace import AgentProblems, Workspace

MAX_STATES = 32
"""The number of good states that are kept, so that older addresses still show what they showed."""

_PACE = Pace(quiet=0.05, hold=0.5)
"""Quicker than hosts are: who is editing is waiting, and a wrong look costs nothing but another one."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class AgentState:
    """An agent as its files are now.

    Attributes:
        name: what the studio calls it.
        path: its agent file.
        engine: the newest good state; None if there has been none.
        problems: what is wrong with the files, in reading order.
        broken: whether the files do not work, so that `engine` is not what they say.
        draft: what could be built of them; None if not even the agent file could be read, or nothing was checked yet.
        checked: whether `problems` are known.
    """

    name: str
    path: Path
    engine: Engine | None
    problems: tuple[Problem, ...]
    broken: bool
    draft: AgentDraft | None = None
    checked: bool = False

    def text_of(self, name: str) -> SourceText | None:
        """A file of the agent by its shown name; None if it is no file of it."""
        texts = self.draft.sources.texts() if self.draft else ()
        return next((text for text in texts if text.name == name), None)

    def place_of(self, key: tuple[str, ...]) -> str:
        """Where a file of the agent says something, as `file:line` from its folder; empty if none says it."""
        document = self.draft.specification.document if self.draft and self.draft.specification else None
        if document is None or key not in document.values:
            return ""
        text = self.text_of(document.origin(key).name)
        return f"{text.path}:{document.values[key].line}" if text else ""

    @property
    def sha256(self) -> str:
        """The fingerprint of the state that is shown; empty without one."""
        return self.engine.sha256 if self.engine else ""


class Drafts:
    """What agents say with texts over their files that nobody has saved: a workspace of its own, so no other page sees
    them. Thread-safe, one question after another.
    """

    def __init__(self, agents: Sequence[Path], *, allow_code: bool = False) -> None:
        self._agents, self._allow_code = agents, allow_code
        self._lock = threading.Lock()
        self._workspace: Workspace | None = None
        self._open: dict[Path, str] = {}

    def engine(self, agent: Path, texts: Mapping[Path, str]) -> Engine | None:
        """The agent with these texts over its files; None if it does not work with them."""
        with self._lock:
            workspace = self._laid(texts)
            try:
                made = workspace.engine(agent)
                return made if made.sha256 == read_agent(agent, self._open).sha256() else None
            except CuecardError:
                return None

    def check(self, agent: Path, texts: Mapping[Path, str]) -> AgentProblems:
        """What `cuecard check` would say of the agent with these texts."""
        with self._lock:
            return self._laid(texts).check(agent)

    def overtaken(self, texts: Mapping[Path, str]) -> bool:
        """Whether somebody has asked about other texts since, so that an answer about these comes too late."""
        return self._open != _real(texts)

    def _laid(self, texts: Mapping[Path, str]) -> Workspace:
        if self._workspace is None:
            self._workspace = Workspace(self._agents, allow_code=self._allow_code)
        real = _real(texts)
        for path in self._open.keys() - real.keys():
            self._workspace.close(path)
        for path, text in real.items():
            self._workspace.open(path, text)
        self._open = real
        return self._workspace


class AgentFolders:
    """The agents below some folders. Thread-safe; reading a state waits for no file that is already known."""

    def __init__(self, roots: Sequence[Path], tell: Callable[[str], object], *, allow_code: bool = False) -> None:
        """Look for agents.

        Args:
            roots: as for a workspace.
            tell: is called with the name of an agent that has changed, by any thread.
            allow_code: whether code that agent files name may be loaded.

        Raises:
            InputError: with every root where there is no agent.
        """
        found = list(map(find_content, roots))
        if missing := [root for root in found if not is_there(root)]:
            raise InputError(_nothing(root) for root in missing)
        self._workspace = Workspace(found, allow_code=allow_code)
        self.paths: dict[str, Path] = _named(self._workspace.agents)
        self.drafts: Drafts = Drafts(self._workspace.agents, allow_code=allow_code)
        if missing := [path for path in self.paths.values() if not is_there(path)]:
            raise InputError(map(_nothing, missing))
        if not self.paths:
            raise InputError(problem for each in self._workspace.unread for problem in each.problems)
        self._tell, self._stop = tell, threading.Event()
        self._work, self._lock = threading.Lock(), threading.Lock()
        self._states: dict[str, AgentState] = {}
        self._kept: OrderedDict[tuple[str, str], Engine] = OrderedDict()

    def state(self, name: str = "") -> AgentState:
        """An agent as its files are now; from the first question on, they are followed.

        Raises:
            InputError: when there is no such agent.
        """
        name = name or next(iter(self.paths))
        if name not in self.paths:
            hint = did_you_mean(name, self.paths)
            raise InputError(Problem("unknown-agent", f"the studio shows no agent `{name}`", hint, "address.agent"))
        with self._work if name not in self._states else nullcontext():
            if name not in self._states:
                files = AgentFiles(self.paths[name])
                seen, stamp = files.read(), files.stamp()
                self._look(name)
                following = threading.Thread(target=self._follow, args=(name, files, seen, stamp), daemon=True)
                following.start()
        return self._states[name]

    def engine(self, name: str, sha256: str) -> Engine | None:
        """A state by its fingerprint or the beginning of it; None if it is no longer known."""
        with self._lock:
            known = [key for key in self._kept if key[0] == name and key[1].startswith(sha256)]
            if len(known) != 1:
                return None
            self._kept.move_to_end(known[0])
            return self._kept[known[0]]

    def stop(self) -> None:
        """Follow no more files."""
        self._stop.set()

    def _look(self, name: str) -> bool:
        """Take the files as they are; whether they are still to be checked, which takes longer than to show them."""
        path, before = self.paths[name], self._states.get(name)
        try:
            engine: Engine | None = self._workspace.engine(path)
        except SpecError:
            engine = None
        if engine is None or (before and before.engine is engine):
            return self._check(name, engine)
        self._states[name] = AgentState(name, path, engine, (), broken=False, draft=before.draft if before else None)
        with self._lock:
            self._kept[name, engine.sha256] = engine
            self._kept.move_to_end((name, engine.sha256))
            while len(self._kept) > MAX_STATES:
                self._kept.popitem(last=False)
        return True

    def _check(self, name: str, engine: Engine | None) -> bool:
        """Look for everything that is wrong with an agent; nothing is left to be checked."""
        path = self.paths[name]
        try:
            found = self._workspace.check(path)
        except CuecardError as error:
            found = AgentProblems(name, error.problems)
        broken = engine is None or any(problem.severity == "error" for problem in found.problems)
        self._states[name] = AgentState(name, path, engine, found.problems, broken, found.draft, checked=True)
        return False

    def _take(self, name: str) -> None:
        """Show the files as they are now, and then what is wrong with them."""
        with self._work:
            unchecked = self._look(name)
        self._tell(name)
        if unchecked:
            self._check_now(name)

    def _check_now(self, name: str) -> None:
        shown = self._states[name]
        with self._work:
            self._check(name, shown.engine)
        if self._states[name].problems != shown.problems:
            self._tell(name)

    def _follow(self, name: str, files: AgentFiles, seen: Look, stamp: Stamp) -> None:
        if not self._states[name].checked:
            self._check_now(name)
        seen = _if_untouched(seen, files, stamp)
        while not self._stop.is_set():
            try:
                seen = self._followed(name, files, seen)
            except Exception:  # noqa: BLE001 - logged; whatever it is, the files are followed on
                _log.exception("an agent's files could not be followed, and are followed again")
                self._stop.wait(_PACE.sweep)

    def _followed(self, name: str, files: AgentFiles, seen: Look) -> Look:
        for hint in hints(files.folders, self._stop, _PACE.sweep):
            seen = self._heard(hint, name, files, seen)
        return seen

    def _heard(self, hint: Hint, name: str, files: AgentFiles, seen: Look) -> Look:
        """One reason to look: a state is taken once nobody is writing it, and told if it is another one."""
        if hint != "event" and files.read().same_as(seen):
            return seen
        look = settle(files, seen, _PACE, self._stop.wait)
        if look is None or look.same_as(seen):
            return seen
        stamp = files.stamp()
        self._take(name)
        return _if_untouched(look, files, stamp)


def _if_untouched(look: Look, files: AgentFiles, stamp: Stamp) -> Look:
    """The look, unless files were written since the stamp: what is shown may be of them, and then no look is the same,
    not even that of files that are as they were.
    """
    return look if files.stamp() == stamp else replace(look, sha256="")


def _real(texts: Mapping[Path, str]) -> dict[Path, str]:
    return {Path(os.path.realpath(path)): text for path, text in texts.items()}


def _named(paths: Sequence[Path]) -> dict[str, Path]:
    """The agents by the names of their folders or files, with as many folders as tell them apart."""
    names: dict[str, Path] = {}
    for path in paths:
        parts = list(path.parent.parts if path.stem == "agent" else (*path.parent.parts, path.stem))
        deep = 1
        while "/".join(parts[-deep:]) in names and deep < len(parts):
            deep += 1
        names["/".join(parts[-deep:])] = path
    return names


def _nothing(root: Path) -> Problem:
    place = root.parent if root.name in AGENT_FILES and is_folder(root.parent) else root
    return Problem("unknown-agent", f"there is no agent at `{shown(place)}`", no_agent(place), "AGENT")
