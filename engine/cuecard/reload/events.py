"""When to look at files again: when the file system reports something, and regularly all the same.

What is reported is only a hint. Reports get lost: a folder that is removed and made anew, a network mount, too many
watched folders. So there is a sweep as well, and it alone serves where reports cannot be had.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator
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
    """Reasons to look, until `stop` is set.

    Args:
        folders: the folders in question; asked after each look, for they may change.
        stop: ends the wait and the hints.
        sweep: seconds after which there is a hint in any case.
    """
    while not stop.is_set():
        places = _identities(folders())
        reports = _reports(places, stop)
        if reports is None:
            yield "polling"
            stop.wait(sweep)
            continue
        with closing(reports):
            yield "listening"
            while not stop.is_set() and _identities(folders()) == places:
                found = _ask(reports, sweep)
                if found is None:
                    stop.wait(sweep)
                    break
                yield "event" if found else "sweep"
                if not found.isdisjoint(places):  # a folder itself is gone; one made anew may even get its inode
                    break


def _ask(reports: _Reports, sweep: float) -> set[Path] | None:
    """What was touched; nothing when it is time for the sweep; None when there is no more to be heard."""
    end = time.monotonic() + sweep
    try:
        for found in reports:
            if found or time.monotonic() >= end:
                return {Path(path) for _, path in found}
    except RuntimeError:  # the system has withdrawn the reports
        pass
    return None  # that, or the wish to stop


def _reports(folders: Iterable[Path], stop: threading.Event) -> _Reports | None:
    """Reports about entries of these folders, at least one every `_STEP`; None where none can be had."""
    places = list(folders)
    if not places:
        return None
    try:
        from watchfiles import watch  # noqa: PLC0415 - only who watches loads it

        reports = watch(
            *places,
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
        next(reports, None)  # only now does it listen
    except (ImportError, OSError, RuntimeError):  # not installed, a folder just gone, a limit of the system
        return None
    return reports


def _identities(folders: Iterable[Path]) -> dict[Path, tuple[int, int]]:
    """The folders that exist, each with what tells it from one that was made anew under the same name."""
    found = {}
    for folder in sorted(folders):
        try:
            seen = folder.stat()
        except OSError:
            continue
        found[folder] = (seen.st_dev, seen.st_ino)
    return found
