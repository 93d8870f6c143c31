"""Keeps what is made of an agent's files up to date: read again, validate, swap one reference; last good wins."""

from __future__ import annotations

import asyncio
import atexit
import logging
import os
import threading
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Generic, TypeVar

from cuecard.config.documents.sources import AgentSources
from cuecard.engine import Engine
from cuecard.model import Call
from cuecard.model.boundary import checked
from cuecard.reload.events import Hint, hints
from cuecard.reload.files import AgentFiles, Look
from cuecard.reload.keeper import Keeper, LastGood, Status, Watching
from cuecard.reload.pins import Pins, ServedEngine
from cuecard.reload.settle import Pace, settle
from cuecard.reload.states import States

Made = TypeVar("Made")

_log = logging.getLogger(__name__)
_WATCHING: Mapping[Hint, Watching] = {
    "event": "events",
    "listening": "events",
    "sweep": "polling",  # it found what was not reported: reports are not to be relied on here
    "polling": "polling",
}
_PATIENCE = 5.0
"""Seconds that `stop` waits for a reload that is under way."""


class Watcher(Generic[Made]):
    """The newest good state of an agent's files, kept up to date by a daemon thread.

    Reading `current` never waits, neither for a file nor for a reload. It also works after a fork: the child's thread
    starts when the child first reads `current` or `status`.

    Attributes:
        states: the folder that keeps every state that has served.
        home: the agent file's folder.
    """

    @checked
    def __init__(
        self,
        files: AgentFiles,
        build: Callable[[AgentSources], Made],
        last_good: LastGood,
        pace: Pace | None = None,
        remake: Callable[[AgentSources], Made] | None = None,
    ) -> None:
        """Use `watch`; this reads the files, and begins to watch.

        Args:
            files: where to look.
            build: makes what is served of the texts, or raises a `CuecardError`.
            last_good: where the last good texts are kept.
            pace: how patient to be.
            remake: makes the same of an earlier state, from any thread; `build`, if that can be called from any.

        Raises:
            InputError: with every argument that is wrong.
            CuecardError: when the files are broken and no last good state is known.
        """
        self._files, self._pace = files, pace or Pace()
        self.states: States = last_good.states
        self.home: Path = files.agent.parent
        self._remake = remake or build
        self._seen = files.read()
        self._keeper = Keeper(build, last_good, self._seen)
        self._listeners: list[Callable[[], object]] = []
        self._workers: dict[int, _Worker] = {}
        self._stopped = False
        self._pins: Pins | None = None
        self._ensure_worker()
        atexit.register(self.stop)

    @property
    def current(self) -> Made:
        """The engine made from the newest good texts. Read it once per call, since it may differ next time."""
        self._ensure_worker()
        return self._keeper.state.current

    @property
    def status(self) -> Status:
        """What is served, what was refused, since when, and why."""
        self._ensure_worker()
        return self._keeper.state.status

    def remake(self, sources: AgentSources) -> Made:
        """Internal: what is made of an earlier state; from any thread.

        Raises:
            CuecardError: when nothing can be made of it.
        """
        return self._remake(sources)

    @checked
    def on_change(self, callback: Callable[[Made, Status], object]) -> Callable[[], None]:
        """Register a callback for each swap, refusal and recovery; it runs in the watcher's thread.

        Exceptions from the callback are logged and change nothing. Returns a function that removes the callback.

        Raises:
            InputError: when it cannot be called.
        """

        def tell() -> None:
            if not self._stopped:
                state = self._keeper.state
                callback(state.current, state.status)

        return self._listen(tell)

    def serve(self: Watcher[Engine], *, previous: Call | None = None, call: Call | None = None) -> ServedEngine:
        """`Pins.serve`, by the policy of the agent file."""
        if self._pins is None:
            self._pins = Pins(self)
        return self._pins.serve(previous=previous, call=call)

    def __aiter__(self) -> AsyncIterator[tuple[Made, Status]]:
        """Each new state from now on, until the watcher stops; a slow consumer sees only the latest."""
        looked = lambda: (self._keeper.state.current, self._keeper.state.status)  # noqa: E731 - handed on at once
        return each_state(self._listen, looked, lambda: self._stopped, self._keeper.state.status.number)

    def stop(self) -> None:
        """Stop watching; `current` stays what it is."""
        self._stopped = True
        atexit.unregister(self.stop)
        worker = self._workers.get(os.getpid())
        if worker:
            worker.end()
        self._keeper.note(watching="stopped")
        self._tell()

    def __enter__(self) -> Watcher[Made]:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _work(self, stop: threading.Event) -> None:
        while not stop.is_set():
            try:
                for hint in hints(self._files.folders, stop, self._pace.sweep):
                    self._follow(hint, stop)
            except Exception:  # noqa: BLE001 - logged; whatever it is, the watcher goes on
                _log.exception("the watcher failed and starts again")
                stop.wait(self._pace.sweep)

    def _follow(self, hint: Hint, stop: threading.Event) -> None:
        """One hint: look, and if the content is new, wait until it is settled, then serve or refuse it."""
        keeper = self._keeper
        keeper.save_again()
        if hint != "event" and self._files.read().same_as(self._seen):
            if hint != "sweep":
                keeper.note(watching=_WATCHING[hint])
            if keeper.may_mend_itself:
                self._take(self._seen)
            return
        look = settle(self._files, keeper.state.look, self._pace, stop.wait)
        if look is None:
            return
        keeper.note(watching=_WATCHING[hint])
        if not look.same_as(self._seen):
            self._take(look)

    def _take(self, look: Look) -> None:
        is_news = self._keeper.take(look)
        self._seen = look  # only now: the child of a fork in between has still to take it
        if is_news:
            self._tell()

    def _tell(self) -> None:
        for listener in tuple(self._listeners):
            try:
                listener()
            except BaseException:  # noqa: BLE001 - logged; other people's code must not end the watcher, nor `sys.exit`
                _log.exception("a callback failed")

    def _listen(self, listener: Callable[[], object]) -> Callable[[], None]:
        self._listeners.append(listener)

        def forget() -> None:
            with suppress(ValueError):
                self._listeners.remove(listener)

        return forget

    def _ensure_worker(self) -> None:
        """Start a thread unless this process has one: threads do not live on in the child of a fork."""
        if not self._stopped and os.getpid() not in self._workers:
            worker = _Worker(self._work)
            if self._workers.setdefault(os.getpid(), worker) is worker:
                worker.start()


async def each_state(
    listen: Callable[[Callable[..., object]], Callable[[], None]],
    looked: Callable[[], tuple[Made, Status]],
    ended: Callable[[], bool],
    shown: int,
) -> AsyncIterator[tuple[Made, Status]]:
    """Each state after number `shown`, until it has ended; a slow consumer sees only the latest."""
    loop, news = asyncio.get_running_loop(), asyncio.Event()

    def wake(*_: object) -> None:
        with suppress(RuntimeError):  # the loop has ended without us
            loop.call_soon_threadsafe(news.set)

    forget = listen(wake)
    try:
        while not ended():
            current, status = looked()
            if status.number == shown:
                await news.wait()
                news.clear()
            else:
                shown = status.number
                yield current, status
    finally:
        forget()


class _Worker(threading.Thread):
    """A daemon thread with a way to end it."""

    def __init__(self, work: Callable[[threading.Event], None]) -> None:
        super().__init__(name="cuecard-watch", daemon=True)
        self._work, self._wish = work, threading.Event()

    def run(self) -> None:
        """Do the work until told to end."""
        self._work(self._wish)

    def end(self) -> None:
        """Ask it to end, and wait for that, unless it is the one that asks."""
        self._wish.set()
        if threading.current_thread() is not self:
            self.join(_PATIENCE)
