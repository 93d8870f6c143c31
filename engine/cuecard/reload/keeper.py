"""What a watcher serves: valid states are accepted, broken ones refused, and the last good one is kept on disk."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection
from dataclasses import replace
from typing import Any, Generic, TypeVar

from cuecard.config.documents.texts import AgentSources
from cuecard.errors import CuecardError, Problem, SpecError, visible
from cuecard.outside.clock import utc_now
from cuecard.records import dataclass
from cuecard.reload.files import Look
from cuecard.reload.last_good import LastGood
from cuecard.reload.settle import changed
from cuecard.reload.states import NoState
from cuecard.reload.status import Refusal, Status

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

    Raises:
        CuecardError: when the files are broken at the start and no last good state is known.
    """

    def __init__(self, build: Callable[[AgentSources], Made], last_good: LastGood, first: Look) -> None:
        self._build, self._last_good = build, last_good
        self.state = self._begin(first)
        last_good.states.join(self)

    @property
    def in_use(self) -> Collection[str]:
        """The fingerprint of the served state."""
        return (self.state.look.sha256,)

    def take(self, look: Look) -> None:
        """Serve or refuse this snapshot; either way, it counts as one more event."""
        served = self.state.look
        if look.sha256 == served.sha256 and not look.problems:
            self._report(refused=None, restored=False)
            return
        try:
            made = self._make(look)
        except CuecardError as error:
            self._refuse(look, error.problems)
        except Exception as error:  # noqa: BLE001 - the last good state stays, whatever the error
            _log.exception("a reload failed")
            message = f"{type(error).__name__}: {error}"
            self._refuse(look, (Problem("reload-failed", message, "see the log of this process"),))
        else:
            self._swap(made, look)

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
            damage = _damage(missing)
            raise (SpecError((*error.problems, *damage)) if damage else error) from None
        try:
            made = self._build(sources)
        except CuecardError:  # a newer version of the engine may be stricter
            raise error from None
        kept = Look(sources, sources.sha256())
        refused = Refusal(look.sha256, utc_now(), error.problems)
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

    def _refuse(self, look: Look, problems: tuple[Problem, ...]) -> None:
        standing = self.state.status.refused
        self._report(refused=Refusal(look.sha256, standing.since if standing else utc_now(), problems))

    def _report(self, **more: Any) -> None:
        self.note(number=self.state.status.number + 1, **more)

    def _save(self, look: Look) -> str:
        try:
            self._last_good.save(look.sources)
        except OSError as error:
            return str(error)
        return ""


def _damage(missing: NoState) -> tuple[Problem, ...]:
    """Why the last good state cannot be used, although there should be one."""
    if not missing.damaged:
        return ()
    message = f"the last good state {visible(missing.reason)}"
    return (
        Problem("damaged-state", message, "delete the file; the next good start writes it again", severity="warning"),
    )
