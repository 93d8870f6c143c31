"""When to look at files again: when the file system reports something, and regularly all the same.

What is reported is only a hint. Reports get lost: a folder that is removed and made anew, a network mount, too many
watched folders. So there is a sweep as well, and it alone serves where reports cannot be had.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from watchfiles._rust_notify import RustNotify

Hint = Literal["listening", "event", "sweep", "polling"]
"""Why to look: reports have just begun, one has come, it is time anyway, or it is time and reports cannot be had."""

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
        reports = _reports(places)
        if reports is None:
            yield "polling"
            stop.wait(sweep)
            continue
        with reports:
            yield "listening"
            while not stop.is_set() and _identities(folders()) == places:
                found = _ask(reports, sweep, stop)
                if found is None:
                    break
                yield "event" if found else "sweep"
                if not found.isdisjoint(places):  # a folder itself is gone; one made anew may even get its inode
                    break


def _ask(reports: RustNotify, sweep: float, stop: threading.Event) -> set[Path] | None:
    """What was touched; nothing when it is time for the sweep; None when there is no more to be heard."""
    try:
        found = reports.watch(_STEP, _STEP, int(sweep * 1000), stop)
    except RuntimeError:  # the system has withdrawn the reports
        stop.wait(sweep)
        return None
    if isinstance(found, str):
        return None if found == "stop" else set()
    return {Path(path) for _, path in found}


def _reports(folders: Iterable[Path]) -> RustNotify | None:
    """Reports about entries of these folders; None where the system, or this installation, gives none."""
    paths = [str(folder) for folder in folders]
    try:
        from watchfiles._rust_notify import RustNotify  # noqa: PLC0415 - only who watches loads it

        return RustNotify(paths, False, False, 300, False, False) if paths else None  # noqa: FBT003 - it takes no keywords
    except (ImportError, OSError, RuntimeError):  # not installed, a folder just gone, a limit of the system
        return None


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
