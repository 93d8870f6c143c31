"""Accepts or refuses a state, and reports it."""

from __future__ import annotations

import hashlib
import json
import logging
import os
from collections.abc import Callable, Collection
from dataclasses import asdict, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Generic, Literal, TypeVar

from cuecard.config.documents.sources import AgentSources
from cuecard.errors import CuecardError, Problem, SpecError, visible
from cuecard.files.clock import utc_now
from cuecard.files.private import check_folder
from cuecard.model import Json, LibraryOrigin
from cuecard.records import dataclass
from cuecard.reload.cleanup import POINTER, pointed_at, replace_file
from cuecard.reload.files import Look
from cuecard.reload.settle import changed
from cuecard.reload.states import NoState, States


class LastGood:
    """The state that an agent was last served from: a pointer into the states folder, by the agent file's path."""

    def __init__(self, states: States, agent: Path) -> None:
        self.states = states
        self._home = agent.parent
        place = hashlib.sha256(os.fsencode(agent.absolute())).hexdigest()
        self.file: Path = states.folder / f"{agent.parent.name[:40]}-{place[:16]}{POINTER}"

    def save(self, sources: AgentSources) -> None:
        """Save this state and point to it.

        Raises:
            OSError: when it cannot be written; the previous state is still there.
        """
        digest = self.states.save(sources)
        if pointed_at(self.file) != digest:
            replace_file(self.file, json.dumps({"format": 1, "sha256": digest}).encode())

    def load(self) -> AgentSources:
        """The saved state.

        Raises:
            NoState: when there is none, or its file was changed.
        """
        if not os.path.lexists(self.file):
            raise NoState("was never kept")
        try:
            check_folder(self.states.folder)
        except OSError as error:
            raise NoState(f"is not read: {error}") from None
        digest = pointed_at(self.file)
        if not digest:
            raise NoState(f"cannot be found: {self.file.name} is damaged", damaged=True)
        return self.states.load(digest, self._home)


Watching = Literal["events", "polling", "stopped"]
"""How changes are noticed: the file system reports them, the sweep finds them, or not any more."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """A state of the files that is not served: its fingerprint, the time it was found, and every problem."""

    sha256: str
    since: datetime
    problems: tuple[Problem, ...]

    @property
    def picture(self) -> str:
        """The problems as people read them."""
        return "\n\n".join(problem.picture() for problem in self.problems)


@dataclass(frozen=True, slots=True)
class Status:
    """One state of a watcher.

    Attributes:
        number: counts the reported events: 0 at the start, plus one for each swap, refusal and recovery.
        serving: the fingerprint of the texts that are served, in hex (`Configuration.sha256` in manifests).
        since: when they started serving.
        changed: the files that differ from the previously served state, relative to the agent file's folder.
        refused: the state of the files that was refused; None if the files match what is served.
        restored: whether the texts are the last good ones of an earlier run, because the files were broken at the
            start.
        watching: how changes are noticed.
        unsaved: why the last good state could not be saved to disk; empty if it was.
        stale_since: since when a library could not be asked what its label points to, in ISO 8601; empty for files.
        library: which version of a library it is; None for files.
    """

    number: int
    serving: str
    since: datetime
    changed: tuple[str, ...] = ()
    refused: Refusal | None = None
    restored: bool = False
    watching: Watching = "polling"
    unsaved: str = ""
    stale_since: str = ""
    library: LibraryOrigin | None = None

    def __str__(self) -> str:
        origin = ", the last good state of an earlier run" if self.restored else ""
        lines = [f"serving {self.serving[:12]} since {_shown(self.since)}{origin} ({self.watching})"]
        if self.refused:
            lines += [f"refused {self.refused.sha256[:12]} since {_shown(self.refused.since)}:", self.refused.picture]
        if self.stale_since:
            lines.append(f"stale since {self.stale_since}: the library could not be asked, or the label was removed")
        if self.unsaved:
            lines.append(f"the last good state is not on disk: {self.unsaved}")
        return "\n".join(lines)

    def to_json(self) -> dict[str, Json]:
        """The status as plain JSON; times in ISO 8601."""
        data = asdict(self)
        data["since"] = self.since.isoformat()
        if self.refused:
            data["refused"]["since"] = self.refused.since.isoformat()
        return data


def _shown(moment: datetime) -> str:
    return moment.isoformat(sep=" ", timespec="seconds")


_OUTSIDE = {"missing-helpers", "missing-ranker"}
"""The codes of problems that no text has: code that is missing, or that fails as it is imported."""

Made = TypeVar("Made")

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class State(Generic[Made]):
    """The served value, its status and the snapshot it was built from: swapped as one reference."""

    current: Made
    status: Status
    look: Look


class Keeper(Generic[Made]):
    """Holds the served state. Any thread may read it; only one thread changes it.

    Attributes:
        may_mend_itself: whether a state is refused for more than its texts, such as code that is not installed or a
            server of the host: the same texts may be right at another time.

    Raises:
        CuecardError: when the files are broken at the start and no last good state is known.
    """

    def __init__(self, build: Callable[[AgentSources], Made], last_good: LastGood, first: Look) -> None:
        self._build, self._last_good = build, last_good
        self.may_mend_itself: bool = False
        self.state: State[Made] = self._begin(first)
        last_good.states.join(self)

    @property
    def in_use(self) -> Collection[str]:
        """The fingerprint of the served state."""
        return (self.state.look.sha256,)

    def take(self, look: Look) -> bool:
        """Serve or refuse this snapshot, which counts as one more event; false if it stays refused as it was."""
        served, self.may_mend_itself = self.state.look, False
        if look.sha256 == served.sha256 and not look.problems:
            self._report(refused=None, restored=False)
            return True
        try:
            made = self._make(look)
        except CuecardError as error:
            return self._refuse(look, error)
        except BaseException as error:  # noqa: BLE001 - the last good state stays, whatever the error, `sys.exit` too
            message = f"{type(error).__name__}: {error}"
            is_new = self._refuse(look, CuecardError(Problem("reload-failed", message, "see the log of this process")))
            if is_new:
                _log.exception("a reload failed")
            return is_new
        self._swap(made, look)
        return True

    def note(self, **more: Any) -> None:
        """Update the status without counting an event."""
        state = self.state
        self.state = replace(state, status=replace(state.status, **more))

    def save_again(self) -> None:
        """Save the served state if that failed before or its file was removed; mark it as used."""
        digest = self.state.look.sha256
        if self.state.status.unsaved or not self._last_good.states.has(digest):
            self.note(unsaved=self._save(self.state.look))
        self._last_good.states.use(digest)

    def _begin(self, look: Look) -> State[Made]:
        try:
            made = self._make(look)
        except CuecardError as error:
            return self._restored(look, error)
        return State(made, Status(0, look.sha256, utc_now(), unsaved=self._save(look)), look)

    def _restored(self, look: Look, error: CuecardError) -> State[Made]:
        try:
            sources = self._last_good.load()
        except NoState as missing:
            if missing.damaged:
                raise SpecError((*error.problems, _damage(missing))) from None
            raise error from None
        try:
            made = self._build(sources)
        except CuecardError:  # a newer version of the engine may be stricter
            raise error from None
        kept = Look(sources, sources.sha256())
        refused = Refusal(look.sha256, utc_now(), error.problems)
        self.may_mend_itself = _lies_outside(error)
        return State(made, Status(0, kept.sha256, utc_now(), refused=refused, restored=True), kept)

    def _make(self, look: Look) -> Made:
        if look.unreadable:
            raise SpecError(look.unreadable)
        return self._build(look.sources)

    def _swap(self, made: Made, look: Look) -> None:
        before = self.state
        news = changed(before.look.texts, look.texts)
        status = replace(before.status, serving=look.sha256, since=utc_now(), changed=news)
        self.state = State(made, replace(status, refused=None, restored=False), look)
        self._report(unsaved=self._save(look))

    def _refuse(self, look: Look, error: CuecardError) -> bool:
        self.may_mend_itself = _lies_outside(error)
        standing = self.state.status.refused
        if standing and (standing.sha256, standing.problems) == (look.sha256, error.problems):
            return False
        self._report(refused=Refusal(look.sha256, standing.since if standing else utc_now(), error.problems))
        return True

    def _report(self, **more: Any) -> None:
        self.note(number=self.state.status.number + 1, **more)

    def _save(self, look: Look) -> str:
        try:
            self._last_good.save(look.sources)
        except OSError as error:
            return str(error)
        return ""


def _lies_outside(error: CuecardError) -> bool:
    """Whether something other than the texts is wrong: the host's own, or code that they name."""
    return not isinstance(error, SpecError) or not _OUTSIDE.isdisjoint(each.code for each in error.problems)


def _damage(missing: NoState) -> Problem:
    """Why the last good state cannot be used, although there should be one."""
    message = f"the last good state {visible(missing.reason)}"
    hint = "delete the file; the next good start writes it again"
    return Problem("damaged-state", message, hint, severity="warning")
