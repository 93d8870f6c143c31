"""A file of lines that is written at once, and a thread that brings it to disk and gives its lines to a sink."""

from __future__ import annotations

import errno
import json
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Self, TypeAlias

from cuecard.errors import InputError, Problem
from cuecard.files.roots import shown
from cuecard.model import Json

if sys.platform != "win32":  # where there is no such lock, whoever shares a file delivers it twice
    import fcntl

Sink: TypeAlias = Callable[[dict[str, Json]], object]
"""Takes a record, in a thread of its own; whoever raises gets the same record again."""

SLOW = 30.0
"""Seconds after which a sink that does not return is told of."""
_TICK = 0.5
"""Seconds between two looks at the file where nothing is written; another process may have ended its delivery."""
_PAUSE = 0.05
"""Seconds in which lines are gathered that the sink gets together."""
_SYNC = 1.0
"""Seconds between two times that lines are brought to disk: while that lasts, the system lets nobody write more."""
_WAIT = (0.1, 30.0)
"""Seconds after the first failure of the sink, and at most; each failure doubles them."""


class Journal:
    """The file. Lines survive the end of the process as soon as they are written, and the machine's soon after.

    The place up to which the sink has taken the lines is in a file beside it, `.sent`, so that what was written and not
    taken is delivered at the next start. One process delivers at a time: `.sent` is locked.
    """

    def __init__(self, path: Path, sink: Sink | None, tell: Callable[[Problem], object]) -> None:
        """Open the file for more.

        Raises:
            InputError: when it cannot be written.
        """
        self.path: Path = path
        self._sink, self._tell = sink, tell
        self._place, self._forking = _Place(path), threading.Lock()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0), 0o600)
            self._torn = not _ends_whole(self._file)
        except OSError as error:
            message = f"it cannot be written: {(error.strerror or str(error)).lower()}"
            hint = "name a file in a folder that you can write to"
            raise InputError(Problem("unreadable-file", message, hint, shown(path))) from None
        self._start()

    def _start(self) -> None:
        """Begin in this process."""
        self._told, self._over, self._asked_at = set[str](), False, 0.0
        self._lock, self._news, self._closing = threading.Lock(), threading.Event(), threading.Event()
        self.written: int = 0
        self.lost: int = 0
        self.delivered: int = 0
        self._process = os.getpid()
        self._thread = threading.Thread(target=self._work, name="cuecard-records", daemon=True)
        self._thread.start()

    def append(self, line: bytes) -> bool:
        """Write a line; a failure is told once, and counted. Returns whether it is in the file."""
        if self._process != os.getpid() and not self._closing.is_set():
            self._go_on_after_fork()
        self._check_sink()
        with self._lock:
            whole = b"\n" + line if self._torn else line
            try:
                done = 0 if self._closing.is_set() else os.write(self._file, whole)
                failed = "" if done == len(whole) else "the disk is full" if done else "its recorder has ended"
            except OSError as error:
                done, failed = 0, (error.strerror or str(error)).lower()
            if done:
                self._torn = bool(failed)
            self.lost, self.written = self.lost + bool(failed), self.written + (not failed)
        if failed:
            hint = "close it last" if self._closing.is_set() else "make room; prompts go on without"
            self._tell_once("records-lost", f"a record cannot be written: {failed}", hint)
        if not self._news.is_set():
            self._news.set()
        return not failed

    def lose(self, message: str) -> None:
        """Count a record that could not be made."""
        with self._lock:
            self.lost += 1
        self._tell_once("records-lost", f"a record cannot be made: {message}", "pass JSON as results and arguments")

    def close(self, timeout: float) -> None:
        """Bring everything to disk and, within `timeout` seconds, to the sink; the next start delivers the rest."""
        if self._process != os.getpid():  # a child that has written nothing: its parent delivers
            return
        with self._lock:
            if self._closing.is_set():
                return
            self._closing.set()
        self._news.set()
        if threading.current_thread() is self._thread:  # a sink that has had enough
            return
        self._thread.join(timeout)
        self._over = True
        if self._sink and (self._thread.is_alive() or self._left()):
            message = f"the sink has not taken every record within {timeout:g} seconds of the end"
            self._tell_once("sink-behind", message, "nothing is lost: whoever opens the file next delivers them")
        if self.lost:
            self._tell_once("records-lost-at-end", f"{self.lost:,} records were lost", "see what was told before")

    def _tell_once(self, kind: str, message: str, hint: str) -> None:
        """Tell of a problem, unless one of its kind was told before."""
        if kind in self._told:
            return
        self._told.add(kind)
        of_sink, place = kind.startswith("sink"), shown(self.path)
        told = Problem("sink-failed" if of_sink else "records-lost", message, hint, place, severity="warning")
        with suppress(Exception):  # nobody's way of being told may hold up a prompt
            self._tell(told)

    def _go_on_after_fork(self) -> None:
        """Begin in a child, which has the file of its parent but no thread that delivers, and maybe locks that are held
        for ever.
        """
        with self._forking:
            if self._process != os.getpid():
                self._place.leave()
                self._place = _Place(self.path)
                self._start()

    def _check_sink(self) -> None:
        if self._asked_at and time.monotonic() - self._asked_at > SLOW:
            message = f"the sink has not returned for {SLOW:g} seconds"
            self._tell_once("sink-slow", message, "prompts go on; the records wait in the file")

    def _work(self) -> None:
        known, synced = 0, 0.0
        with self._place as place:
            while True:
                ends = self._closing.is_set()
                self._news.clear()  # before the look at what is written, so that no line waits for the news of another
                written = self.written
                if written != known and (ends or time.monotonic() - synced > _SYNC):
                    self._sync()
                    known, synced = written, time.monotonic()
                if self._sink and not self._over and self._delivers(place):
                    self._deliver(self._sink, place)
                if ends:
                    break
                self._news.wait(_TICK if self._sink or written != known else None)
                self._closing.wait(_PAUSE)
            os.close(self._file)

    def _sync(self) -> None:
        try:
            os.fsync(self._file)
        except OSError as error:
            if error.errno != errno.EINVAL:  # as for a pipe
                told = f"records may not have reached the disk: {(error.strerror or str(error)).lower()}"
                self._tell_once("records-unsynced", told, "see to the disk; prompts go on")

    def _delivers(self, place: _Place) -> bool:
        try:
            return place.held()
        except OSError as error:
            told = f"how far the sink has come cannot be kept: {(error.strerror or str(error)).lower()}"
            self._tell_once("sink-place", told, f"let {self.path.name}.sent be written; the records wait in the file")
        return False

    def _deliver(self, sink: Sink, place: _Place) -> None:
        """Give the sink what it has not taken yet; a record that it refuses is given again until the end."""
        wait, most = _WAIT
        for record, end in place.records():
            while not self._taken(sink, record):
                if self._closing.wait(wait):
                    return
                wait = min(2 * wait, most)
            self.delivered += bool(record)
            wait = _WAIT[0]
            place.move(end)
            if self._over:  # it answered too late
                return

    def _taken(self, sink: Sink, record: dict[str, Json] | None) -> bool:
        if record is None:
            return True
        self._asked_at = time.monotonic()
        try:
            sink(record)
        except BaseException as error:  # noqa: BLE001 - not even an exit or a cancelled task in there ends this thread
            told = f"the sink failed: {type(error).__name__}: {error}"
            self._tell_once("sink-failed", told, "prompts go on; it gets the same record again")
            return False
        finally:
            self._asked_at = 0.0
        return True

    def _left(self) -> bool:
        return self._place.locked and next(_Place(self.path).records(), None) is not None


def _ends_whole(file: int) -> bool:
    """Whether the last line is whole: the process may have been killed as it wrote."""
    size = os.fstat(file).st_size
    if not size:
        return True
    os.lseek(file, -1, os.SEEK_END)
    return os.read(file, 1) == b"\n"


class _Place:
    """How far the lines of a file have been delivered, in a file beside it."""

    def __init__(self, path: Path) -> None:
        self._path, self._file = path, path.with_name(f"{path.name}.sent")
        self._open: int | None = None
        self.locked, self._node = False, 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._open is not None and sys.platform != "win32":
            with suppress(OSError):
                fcntl.flock(self._open, fcntl.LOCK_UN)  # also what a forked child has of it
        self.leave()

    def leave(self) -> None:
        """Leave the place as it is: whoever else has it open, such as the parent of this process, delivers on."""
        if self._open is not None:
            os.close(self._open)

    def held(self) -> bool:
        """Whether this process delivers; another one may, until it ends.

        Raises:
            OSError: when the file of the place cannot be written.
        """
        if self.locked:
            return True
        if self._open is None:
            self._open = os.open(self._file, os.O_RDWR | os.O_CREAT, 0o600)
        if sys.platform != "win32":
            try:
                fcntl.flock(self._open, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return False
            except OSError:  # the file system has no locks: as where there are none
                pass
        self.locked = True
        return True

    def records(self) -> Iterator[tuple[dict[str, Json] | None, int]]:
        """The records that follow, each with the place after it; None for a line that is none."""
        with suppress(OSError), self._path.open("rb") as lines:  # it is tried again soon
            seen = os.fstat(lines.fileno())
            place, self._node = self._read(seen.st_ino), seen.st_ino
            place = place if place <= seen.st_size else 0
            lines.seek(place)
            for line in lines:
                if not line.endswith(b"\n"):  # it is being written, or was cut off
                    return
                place += len(line)
                yield _record(line), place

    def move(self, end: int) -> None:
        """The sink has taken everything up to here."""
        if self._open is not None:
            with suppress(OSError):  # a full disk: the sink gets it again
                os.lseek(self._open, 0, os.SEEK_SET)
                os.write(self._open, f"{end:020} {self._node:020}\n".encode())  # in one piece, over what was there

    def _read(self, node: int) -> int:
        """The place, unless it is one in another file that had this name."""
        with suppress(OSError, ValueError):
            place, known = map(int, self._file.read_bytes().split())
            return max(place, 0) if known == node else 0
        return 0


def _record(line: bytes) -> dict[str, Any] | None:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
