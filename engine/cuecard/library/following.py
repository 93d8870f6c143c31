"""A label that is followed: the engine sources of `Pins`, and the news of other processes."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from cuecard.config.documents.sources import AgentSources
from cuecard.engine import Engine
from cuecard.errors import CuecardError, LibraryError
from cuecard.files.clock import utc_now
from cuecard.library.database import CHANNEL, Database
from cuecard.library.serving import Engines
from cuecard.library.versions import Reference
from cuecard.model import Call
from cuecard.reload.keeper import Status
from cuecard.reload.pins import Pins, Served
from cuecard.reload.states import NoState, User

_POLL = 0.1
"""Seconds between two looks at the file of SQLite: a pragma that reads one number."""

_PAUSE = 1.0
"""Seconds after which a lost connection is opened again."""

_log = logging.getLogger(__name__)


class LibraryWatcher:
    """The engine of a label, kept up to date: what `Pins` and hosts follow, as `Watcher` is for files.

    Attributes:
        home: the current folder; versions have no folder of their own.
    """

    def __init__(self, engines: Engines, reference: Reference) -> None:
        """Use `Library.watch`; this loads the version that the label points to.

        Raises:
            InputError: when there is no such label.
            LibraryError: when the database does not answer, and no folder is there to fall back on.
        """
        self.home: Path = Path()
        self._engines, self._reference = engines, reference
        self._agent = engines.get(reference).name
        self._since = (self.current.agent.sha256, utc_now())
        self._pins: Pins | None = None

    @property
    def current(self) -> Engine:
        """The last good engine of the label, also when it was removed: conversations that have begun go on."""
        reference = self._reference
        return self._engines.get(reference) if reference.number else self._engines.held(reference).engine

    @property
    def for_new(self) -> Engine:
        """The engine for a conversation that begins now.

        Raises:
            InputError: when the label was removed, unless `removed: serve` says otherwise.
        """
        return self._engines.get(self._reference)

    @property
    def states(self) -> LibraryWatcher:
        """Every version of the agent, by the fingerprint of its texts: a conversation keeps its own in any replica."""
        return self

    @property
    def status(self) -> Status:
        """What is served, and since when the library could not be asked."""
        agent = self.current.agent
        if self._since[0] != agent.sha256:
            self._since = (agent.sha256, utc_now())
        stale = agent.library.stale_since if agent.library else ""
        return Status(0, agent.sha256, self._since[1], watching="events", stale_since=stale)

    def remake(self, sources: AgentSources) -> Engine:
        """Internal: the engine of an earlier version; from any thread."""
        return self._engines.make(self._agent, sources)

    def serve(self, *, previous: Call | None = None, call: Call | None = None) -> Served:
        """`Pins.serve`, by the policy of the agent file."""
        if self._pins is None:
            self._pins = Pins(self)
        return self._pins.serve(previous=previous, call=call)

    def stop(self) -> None:
        """Nothing ends: what follows the database is the library's, and `Library.close` ends it."""

    def join(self, user: User) -> None:
        """Internal: versions stay, whoever serves them."""

    def use(self, digest: str) -> None:
        """Internal: the same."""

    def load(self, digest: str, home: Path) -> AgentSources:  # noqa: ARG002 - as folders of states have it
        """Internal: the texts with this fingerprint.

        Raises:
            NoState: when the library has no such version, or cannot be asked.
        """
        try:
            sources = self._engines.of_configuration(self._agent, digest)
        except LibraryError as error:
            raise NoState(f"cannot be loaded: {error.problems[0].message}") from None
        if sources is None:
            raise NoState("is not in the library")
        return sources


class News:
    """Tells what other processes have changed: PostgreSQL notifies, and the file of SQLite is looked at."""

    def __init__(self, database: Database, expire: Callable[[str], None]) -> None:
        """Nothing runs yet.

        Args:
            database: where changes are.
            expire: called with the name of an agent that has changed, or with an empty text if any may have.
        """
        self._database, self._expire = database, expire
        self._threads: dict[int, threading.Thread] = {}
        self._ended = threading.Event()

    def ensure(self) -> None:
        """Start the thread of this process, unless it runs: threads do not live on in the child of a fork."""
        if not self._ended.is_set() and os.getpid() not in self._threads:
            thread = threading.Thread(target=self._work, name="cuecard-library-news", daemon=True)
            if self._threads.setdefault(os.getpid(), thread) is thread:
                thread.start()

    def end(self) -> None:
        """Stop, and wait for that a little."""
        self._ended.set()
        if (thread := self._threads.get(os.getpid())) and thread is not threading.current_thread():
            thread.join(2.0)

    def _work(self) -> None:
        while not self._ended.is_set():
            connection: Any = None
            try:
                connection = self._database.raw()
                self._expire("")  # what happened without a connection is not known
                self._look(connection) if self._database.is_sqlite else self._listen(connection)
            except (CuecardError, OSError) as error:
                _log.debug("no news of the library: %s", error)
            except Exception:  # noqa: BLE001 - the driver's own errors: the connection is lost
                _log.debug("the connection for news of the library was lost", exc_info=True)
            finally:
                if connection is not None:
                    with suppress(Exception):
                        connection.close()
            self._ended.wait(_PAUSE)

    def _listen(self, connection: Any) -> None:
        connection.execute(f"LISTEN {CHANNEL}")
        while not self._ended.is_set():
            for notice in connection.notifies(timeout=0.5):
                self._expire(notice.payload)
                break

    def _look(self, connection: Any) -> None:
        known = None
        while not self._ended.is_set():
            seen = connection.execute("PRAGMA data_version").fetchone()
            if known not in {None, seen}:
                self._expire("")
            known = seen
            time.sleep(_POLL)
