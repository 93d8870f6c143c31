"""Which states can be deleted, and files in a folder that several processes share."""

from __future__ import annotations

import json
import os
import re
import stat
import tempfile
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from cuecard.files.private import check_folder, refused, whose
from cuecard.records import dataclass

UNFINISHED = ".unfinished"
"""What the name of a file ends with while it is written."""

_QUIETLY = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
"""No link leads elsewhere, and no pipe makes the reader wait for a writer."""


def replace_file(file: Path, content: bytes) -> None:
    """Write the file atomically: a temporary file beside it is flushed to disk, then renamed.

    Raises:
        OSError: when it cannot be written, or others can write to its folder; the old content is still there.
    """
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    check_folder(file.parent)
    handle, name = tempfile.mkstemp(dir=file.parent, prefix=".", suffix=UNFINISHED)
    try:
        with os.fdopen(handle, "wb") as out:
            out.write(content)
            out.flush()
            os.fsync(out.fileno())
        Path(name).replace(file)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    _flush_folder(file.parent)


def read_file(file: Path, limit: int) -> bytes:
    """The content of a regular file of at most `limit` bytes.

    Raises:
        NotOursError: when others can write to it or to its folder.
        OSError: when the file is missing, not a regular file, too large or unreadable.
    """
    check_folder(file.parent)
    handle = os.open(file, os.O_RDONLY | _QUIETLY)
    try:
        about = os.fstat(handle)
        if not stat.S_ISREG(about.st_mode):
            raise OSError(f"{file.name} is not a regular file")
        if why := whose(about):
            raise refused(file, why)
        with open(handle, "rb", closefd=False) as opened:
            content = opened.read(limit + 1)
    finally:
        os.close(handle)
    if len(content) > limit:
        raise OSError(f"{file.name} holds more than {limit:,} bytes")
    return content


def _flush_folder(folder: Path) -> None:
    """Make the rename survive a power failure, where folders can be flushed (not on Windows)."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


POINTER = ".last-good.json"
"""What the name of a file ends with that says which state of an agent was the last good one."""

POINTER_SIZE = 4096
"""No such file is larger, in bytes."""

_STATE = re.compile(r"([0-9a-f]{64})\.json")
_GIVEN_UP = 3600.0
"""Seconds after which a file that is still being written never will be."""


@dataclass(frozen=True, slots=True)
class StateLimits:
    """How many states a folder may hold, and their total size in bytes."""

    most: int
    size: int


@dataclass(frozen=True, slots=True)
class _File:
    path: Path
    used: int
    size: int
    written: float

    @property
    def state(self) -> str:
        """The fingerprint of the state in this file; empty if there is none."""
        found = _STATE.fullmatch(self.path.name)
        return found[1] if found else ""


def clean_up(folder: Path, limits: StateLimits, kept: Collection[str]) -> None:
    """Remove the least recently used states until the limits hold.

    Args:
        folder: the folder of the states; other files are left alone.
        limits: the most that may remain.
        kept: fingerprints of states that are never removed.

    Raises:
        OSError: when the folder cannot be listed.
    """
    files = list(_files(folder))
    pointers = sorted((f for f in files if f.path.name.endswith(POINTER)), key=lambda f: f.used)
    _remove([f for f in files if f.path.name.endswith(UNFINISHED) and time.time() - f.written > _GIVEN_UP])
    _remove(pointers[: -limits.most])
    states = [file for file in files if file.state]
    number, size = len(states), sum(file.size for file in states)
    if number <= limits.most and size <= limits.size:
        return
    last_good = {pointed_at(file.path) for file in pointers}
    for file in sorted(states, key=lambda f: (f.state in last_good, f.used)):
        if file.state not in kept and (number > limits.most or size > limits.size):
            _remove([file])
            number, size = number - 1, size - file.size


def pointed_at(file: Path) -> str:
    """The fingerprint that a pointer holds; empty when it cannot be read."""
    try:
        record = json.loads(read_file(file, POINTER_SIZE))
        digest = record["sha256"] if record["format"] == 1 else ""
    except (OSError, ValueError, LookupError, TypeError, RecursionError):  # missing, truncated or edited: harmless
        return ""
    return digest if isinstance(digest, str) else ""


def _files(folder: Path) -> Iterator[_File]:
    with os.scandir(folder) as entries:
        for entry in entries:
            with suppress(OSError):  # another process has removed it
                seen = entry.stat(follow_symlinks=False)
                yield _File(Path(entry.path), seen.st_mtime_ns, seen.st_size, seen.st_mtime)


def _remove(files: Sequence[_File]) -> None:
    for file in files:
        with suppress(OSError):
            file.path.unlink()
