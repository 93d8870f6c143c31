"""When to check files again: when the file system reports a change, and at regular intervals.

File system events are only hints. Some get lost: a folder is removed and recreated, on a network mount, with too many
watched folders. So a periodic sweep backs them up, and is the only mechanism where events are unavailable.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Generator, Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from watchfiles.main import FileChange

Hint = Literal["listening", "event", "sweep", "polling"]
"""Why to look: reports have just begun, one has come, it is time anyway, or it is time and reports cannot be had."""

_Reports: TypeAlias = "Generator[set[FileChange], None, None]"
_STEP = 50
"""Milliseconds between two questions for reports, and for the wish to stop."""


def hints(folders: Callable[[], Iterable[Path]], stop: threading.Event, sweep: float) -> Iterator[Hint]:
    """Yield reasons to check the files, until `stop` is set or the folders are others: then ask again.

    Args:
        folders: returns the folders to watch; called after each check, because they may change.
        stop: ends the wait and the hints.
        sweep: the maximum interval between hints, in seconds.
    """
    places = _identities(folders())
    reports = _reports(places, stop)
    if reports is None:
        yield "polling"
        stop.wait(sweep)
        return
    with closing(reports):
        yield "listening"
        while _identities(folders()) == places:
            found = _ask(reports, sweep)
            if found is None:
                stop.wait(sweep)
                return
            yield "event" if found else "sweep"
            if not found.isdisjoint(places):  # a watched folder is gone; a new one may even reuse its inode
                return


def _ask(reports: _Reports, sweep: float) -> set[Path] | None:
    """The changed paths; empty when it is time for the sweep; None when no more events will come."""
    end = time.monotonic() + sweep
    try:
        for found in reports:
            if found or time.monotonic() >= end:
                return {Path(path) for _, path in found}
    except RuntimeError:  # the system has stopped the events
        pass
    return None  # either that, or `stop` was set


def _reports(folders: Collection[Path], stop: threading.Event) -> _Reports | None:
    """Events for entries of these folders, at least one every `_STEP`; None where events are unavailable."""
    if not folders:
        return None
    try:
        from watchfiles import watch  # noqa: PLC0415 - only who watches loads it

        reports = watch(
            *folders,
            watch_filter=None,
            debounce=_STEP,
            step=_STEP,
            stop_event=stop,
            rust_timeout=_STEP,
            yield_on_timeout=True,
            debug=False,
            force_polling=False,  # the sweep is cheaper, and compares content
            recursive=False,
            ignore_permission_denied=False,
        )
        next(reports, None)  # it starts to listen only now
    except (ImportError, OSError, RuntimeError):  # not installed, a folder that has just gone, a system limit
        return None
    return reports


def _identities(folders: Iterable[Path]) -> dict[Path, tuple[int, int]]:
    """The existing folders, each with an identity that changes if it is recreated under the same name."""
    found = {}
    for folder in sorted(folders):
        try:
            seen = folder.stat()
        except OSError:
            continue
        found[folder] = (seen.st_dev, seen.st_ino)
    return found
