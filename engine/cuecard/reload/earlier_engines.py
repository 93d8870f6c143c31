"""What was made of earlier states: the newest are in memory, others are made again of what the folder keeps."""

from __future__ import annotations

import itertools
import logging
import os
from collections.abc import Callable, Collection
from concurrent.futures import Future
from pathlib import Path
from typing import Generic, TypeVar

from cuecard.config.documents.sources import AgentSources
from cuecard.errors import CuecardError, SpecError, visible
from cuecard.reload.states import KeptStates, NoState

Made = TypeVar("Made")

_log = logging.getLogger(__name__)


class Earlier(Generic[Made]):
    """Built values by the fingerprint of their state; thread-safe, without locks that a fork could leave held.

    A caller waits only for the state that it asked for, never while another one is being built.
    """

    def __init__(self, states: KeptStates, make: Callable[[AgentSources], Made], home: Path, keep: int) -> None:
        """Start with nothing in memory.

        Args:
            states: all states.
            make: builds the value of a state, in any thread; raises a `CuecardError` or `NoState` on failure.
            home: the folder of the agent file.
            keep: the number of values kept in memory.
        """
        self._states, self._make, self._home, self._keep = states, make, home, keep
        self._made: dict[str, Made] = {}
        self._ages: dict[str, int] = {}
        self._refused: dict[str, str] = {}
        self._tasks: dict[tuple[int, str], Future[Made | NoState]] = {}
        self._now = itertools.count()
        states.join(self)

    @property
    def in_use(self) -> Collection[str]:
        """The fingerprints of the states in memory."""
        return tuple(self._made)

    def __contains__(self, digest: str) -> bool:
        return digest in self._made

    def add(self, digest: str, made: Made) -> Made:
        """Keep the value of a state; it counts as used."""
        self._ages[digest] = next(self._now)
        self._made[digest] = made
        for oldest in sorted(self._made, key=lambda each: self._ages.get(each, 0))[: -self._keep]:
            self._made.pop(oldest, None)
            self._ages.pop(oldest, None)
        return made

    def find(self, digest: str) -> Made:
        """What was made of this state.

        Raises:
            NoState: with the reason, when the state no longer exists or can no longer be used.
        """
        made = self._made.get(digest)
        made = self.add(digest, self._once(digest) if made is None else made)
        self._states.use(digest)
        return made

    def _once(self, digest: str) -> Made:
        """The value, built by this thread or by another that has already started."""
        mine: Future[Made | NoState] = Future()
        task = self._tasks.setdefault((os.getpid(), digest), mine)
        if task is mine:
            try:
                task.set_result(self._result(digest))
            finally:  # even on Ctrl-C, or waiting threads would hang forever
                if not task.done():
                    task.set_result(NoState("was not created: interrupted"))
                self._tasks.pop((os.getpid(), digest), None)
        result = task.result()
        if isinstance(result, NoState):
            raise NoState(result.reason)
        return result

    def _result(self, digest: str) -> Made | NoState:
        if digest in self._made:
            return self._made[digest]
        if digest in self._refused:
            return NoState(self._refused[digest])
        try:
            return self.add(digest, self._make(self._states.load(digest, self._home)))
        except NoState as missing:
            return missing
        except Exception as error:  # noqa: BLE001 - logged; whatever it is, the newest state serves
            return self._failed(digest, error)

    def _failed(self, digest: str, error: Exception) -> NoState:
        if isinstance(error, SpecError):  # it stays refused for as long as this version of the engine runs
            self._refused[digest] = f"is rejected by this version of the engine: {_told(error)}"
            for first in list(self._refused)[: -4 * self._keep]:
                self._refused.pop(first, None)
            return NoState(self._refused[digest])
        if not isinstance(error, CuecardError):
            _log.error("an earlier state could not be restored", exc_info=error)
        return NoState(f"could not be restored: {_told(error)}")


def _told(error: Exception) -> str:
    message = error.problems[0].message if isinstance(error, CuecardError) else f"{type(error).__name__}: {error}"
    return visible(message)[:200]
