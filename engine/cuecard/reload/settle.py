"""When to trust the content of files: not while they are being written, and later if texts have shrunk or vanished.

An editor truncates and then writes; `git checkout` replaces 200 files one by one; a truncated text often still
parses. So a snapshot counts once the files have been quiet, and a text that is empty, gone or much shorter must stay so
for longer. If saves never stop, a snapshot eventually counts if the changed files held still while they were read.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from cuecard.model.boundary import Seconds
from cuecard.records import dataclass
from cuecard.reload.files import AgentFiles, Look, Stamp

Pause = Callable[[float], bool]
"""Waits so many seconds; true means to give up."""

SHRUNK = 0.5
"""A text with less than this share of the length it had may be half written."""


@dataclass(frozen=True, slots=True)
class Pace:
    """How long a watcher waits, in seconds.

    Attributes:
        quiet: how long files must be unchanged before they are read.
        max_wait: how long a series of saves can delay that.
        hold: how much longer to wait for a text that is empty, missing, or less than half as long as before.
        sweep: how often all files are compared by content, regardless of file system events.
    """

    quiet: Seconds = 0.1
    max_wait: Seconds = 2.0
    hold: Seconds = 1.0
    sweep: Seconds = 2.0


def settle(files: AgentFiles, served: Look, pace: Pace, pause: Pause) -> Look | None:
    """A snapshot of the files, taken when nobody is writing them.

    Args:
        files: the files to read.
        served: the snapshot whose texts are in use.
        pace: the limits.
        pause: waits for some seconds; returns whether to give up.

    Returns:
        The snapshot, or None when `pause` said to give up.
    """
    began = time.monotonic()
    held: Stamp | None = None
    while (stamp := _calm(files, pace, began, pause, hold=held is not None)) is not None:
        look = files.read()
        short, touched = shrunk(served, look), files.stamp() != stamp
        if not touched and (not short or stamp == held):
            return look
        limit = pace.max_wait + (pace.hold if short else 0)
        if time.monotonic() - began >= limit and _steady(files, served, look, pace, pause):
            return look
        held = stamp if short and not touched else None
    return None


def shrunk(served: Look, look: Look) -> bool:
    """Whether a text in use is now empty, missing or much shorter."""
    before, now = served.texts, look.texts
    known = [path for path in before if path in now] if look.unreadable else before
    return any(len(now.get(path, "")) < SHRUNK * len(before[path]) for path in known)


def changed(before: Mapping[str, str], now: Mapping[str, str]) -> tuple[str, ...]:
    """The sorted paths of texts that were changed, added or removed."""
    return tuple(sorted(path for path in {*before, *now} if before.get(path) != now.get(path)))


def _calm(files: AgentFiles, pace: Pace, began: float, pause: Pause, *, hold: bool) -> Stamp | None:
    """The stamp once the files have been quiet long enough or the wait is over; None to give up."""
    patience = pace.quiet + (pace.hold if hold else 0)
    limit = began + pace.max_wait + (pace.hold if hold else 0)
    stamp, since = files.stamp(), time.monotonic()
    while not pause(pace.quiet / 2):
        seen, now = files.stamp(), time.monotonic()
        if seen != stamp:
            stamp, since, patience = seen, now, pace.quiet
        if now - since >= patience or now >= limit:
            return stamp
    return None


def _steady(files: AgentFiles, served: Look, look: Look, pace: Pace, pause: Pause) -> bool:
    """Whether the changed texts survive a short pause: the best available test while saves never stop."""
    texts = look.texts
    news = [path for path in changed(served.texts, texts) if path in texts]
    stamps = [files.stamp_of(path) for path in news]
    if pause(pace.quiet / 5):
        return False
    kept = all(files.holds(path, texts[path]) for path in news)
    return kept and stamps == [files.stamp_of(path) for path in news]
