"""`cuecard watch`: one line per change of an agent's files, with its cost, and pictures of rejected changes."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

from cuecard.cli.watch.view import Example, News, Screen
from cuecard.engine import Engine
from cuecard.errors import SpecError
from cuecard.model import DeliveryWish
from cuecard.outside.clock import utc_now
from cuecard.outside.content import find_content
from cuecard.outside.paths import is_there
from cuecard.outside.settings import read_settings
from cuecard.reload.engines import watch as watch_agent
from cuecard.reload.settle import Pace
from cuecard.reload.status import Status
from cuecard.reload.watcher import Watcher

_TICK = 0.2
"""Seconds between checks of `stop`, and between attempts to start."""


def watch(
    agent: Path,
    *,
    example: Example,
    delivery: DeliveryWish | None,
    as_json: bool,
    states: Path | None = None,
    pace: Pace | None = None,
    allow_code: bool = False,
    stop: threading.Event | None = None,
) -> int:
    """Print changes of the agent's files until Ctrl-C, or until `stop` is set; returns 0 in either case."""
    place, settings = find_content(agent), read_settings()
    chosen, kept = delivery or settings.delivery, states or settings.states
    start = partial(watch_agent, place, delivery=chosen, states=kept, pace=pace)
    start = partial(start, allow_code=allow_code, cache=settings.cache_folder)
    stop, screen = stop or threading.Event(), Screen(example, as_json=as_json)
    with suppress(KeyboardInterrupt):
        watcher = _begin(start, place, screen, stop)
        if watcher:
            with watcher:
                _follow(watcher, screen, stop)
    return 0


def _begin(
    start: Callable[[], Watcher[Engine]], place: Path, screen: Screen, stop: threading.Event
) -> Watcher[Engine] | None:
    """The watcher, once the files are valid; until then, prints a picture of the problems whenever they change."""
    shown = ""
    while not stop.is_set():
        try:
            return start()
        except SpecError as error:
            if not is_there(place):
                raise
            if str(error) != shown:
                shown = str(error)
                screen.picture(shown)
        stop.wait(_TICK)
    return None


def _follow(watcher: Watcher[Engine], screen: Screen, stop: threading.Event) -> None:
    reports: queue.SimpleQueue[tuple[Engine, Status]] = queue.SimpleQueue()
    watcher.on_change(lambda engine, status: reports.put((engine, status)))
    last = watcher.status
    screen.show("serving", watcher.current, last, utc_now())
    while not stop.is_set():
        with suppress(queue.Empty):
            engine, status = reports.get(timeout=_TICK)
            if status.number > last.number:  # otherwise, it was already shown as the first state
                screen.show(_news(last, status), engine, status, utc_now())
                last = status


def _news(before: Status, now: Status) -> News:
    if now.refused and now.refused != before.refused:
        return "refused"
    return "swapped" if now.serving != before.serving else "recovered"
