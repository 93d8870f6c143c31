"""A label that is followed: the engine sources of `Pins`, and the news of other processes."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

from cuecard.config.documents.sources import AgentSources
from cuecard.engine import Engine
from cuecard.errors import CuecardError, LibraryError
from cuecard.library.database import CHANNEL, Database
from cuecard.library.serving import Engines, LabelState
from cuecard.library.versions import Reference
from cuecard.model import Call
from cuecard.model.boundary import checked
from cuecard.reload.keeper import Status, Watching
from cuecard.reload.pins import Pins, ServedEngine
from cuecard.reload.states import NoState, User
from cuecard.reload.watcher import each_state

_POLL = 0.1
"""Seconds between two looks at the file of SQLite: a pragma that reads one number."""

_PAUSE = 1.0
"""Seconds after which a lost connection is opened again."""

_PING = 2.0
"""Seconds after which a server is asked for a sign of life."""

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
        engine = engines.get(reference)
        self._agent = engine.name
        held = None if reference.number else engines.peek(reference)
        self._last = held or LabelState(engine, 0.0, (0, 0))
        self._pins: Pins | None = None
        self._stopped = False
        self._listeners: dict[Callable[[LabelState], object], Callable[[], None]] = {}

    @property
    def current(self) -> Engine:
        """The last good engine of the label, also when it was removed: conversations that have begun go on."""
        if self._reference.number:
            return self._engines.get(self._reference)
        self._last = self._engines.held(self._reference)
        return self._last.engine

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
        """What is served, and since when the library could not be asked; nobody waits for it."""
        return self._looked()[1]

    @checked
    def on_change(self, callback: Callable[[Engine, Status], object]) -> Callable[[], None]:
        """Register a callback for each move of the label, for its end, and when the library goes away or comes back.

        It runs in a thread of the library. Exceptions from the callback are logged and change nothing. Returns a
        function that removes the callback.

        Raises:
            InputError: when it cannot be called.
        """

        def tell(held: LabelState) -> None:
            if not self._stopped:
                callback(held.engine, self._status(held))

        return self._listen(tell)

    def __aiter__(self) -> AsyncIterator[tuple[Engine, Status]]:
        """Each new state from now on, until `stop`; a slow consumer sees only the latest."""
        return each_state(self._listen, self._looked, lambda: self._stopped, self.status.number)

    def remake(self, sources: AgentSources) -> Engine:
        """Internal: the engine of an earlier version; from any thread."""
        return self._engines.make(self._agent, sources)

    def serve(self, *, previous: Call | None = None, call: Call | None = None) -> ServedEngine:
        """`Pins.serve`, by the policy of the agent file."""
        if self._pins is None:
            self._pins = Pins(self)
        return self._pins.serve(previous=previous, call=call)

    def stop(self) -> None:
        """Call no callback any more; what follows the database is the library's, and `Library.close` ends it."""
        self._stopped = True
        for listener, forget in list(self._listeners.items()):
            forget()
            listener(self._last)  # whoever waits for the next state ends

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _listen(self, listener: Callable[[LabelState], object]) -> Callable[[], None]:
        forget = self._engines.listen(self._reference, listener)
        self._listeners[listener] = forget

        def end() -> None:
            self._listeners.pop(listener, None)
            forget()

        return end

    def _looked(self) -> tuple[Engine, Status]:
        if not self._reference.number:
            self._last = self._engines.peek(self._reference) or self._last
        return self._last.engine, self._status(self._last)

    def _status(self, held: LabelState) -> Status:
        watching: Watching = "stopped" if self._stopped else "polling" if self._engines.polls else "events"
        agent, origin = held.engine.agent, held.origin
        status = Status(held.number, agent.sha256, held.since, watching=watching)
        return replace(status, stale_since=origin.stale_since, library=origin)

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


class ChangeFeed:
    """Tells what other processes have changed: PostgreSQL notifies, and the file of SQLite is looked at."""

    def __init__(self, database: Database, expire: Callable[[str], None], doubt: Callable[[], None]) -> None:
        """Nothing runs yet.

        Args:
            database: where changes are.
            expire: called with the name of an agent that has changed, or with an empty text if any may have.
            doubt: called when there is no connection: others may work, or fail without being told.
        """
        self._database, self._expire, self._doubt = database, expire, doubt
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
            if not self._ended.is_set():
                self._doubt()  # whether the database is away is found out, and told, now
            self._ended.wait(_PAUSE)

    def _listen(self, connection: Any) -> None:
        connection.execute(f"LISTEN {CHANNEL}")
        quiet = time.monotonic()
        while not self._ended.is_set():
            for notice in connection.notifies(timeout=0.5, stop_after=1):
                self._expire(notice.payload)
            if time.monotonic() - quiet > _PING:
                connection.execute("SELECT 1")  # a server that is frozen says nothing, as one without news does
                quiet = time.monotonic()

    def _look(self, connection: Any) -> None:
        known, file = None, _identity(self._database.file)
        while not self._ended.is_set():
            if _identity(self._database.file) != file:
                self._database.close()  # its connections are to a file that is no longer here
                return
            seen = connection.execute("PRAGMA data_version").fetchone()
            if known not in {None, seen}:
                self._expire("")
            known = seen
            time.sleep(_POLL)


def _identity(file: Path) -> tuple[int, int]:
    """Which file it is: another one may take its name."""
    seen = file.stat()
    return seen.st_dev, seen.st_ino
