"""Files below a folder, opened safely despite links, devices, endless files and concurrent changes.

Each part of a path is opened separately without following links (`openat` with `O_NOFOLLOW`): a path that is checked
first and opened later could have changed in between.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import BinaryIO

from cuecard.records import dataclass

MAX_ENTRIES = 200_000
"""The maximum number of entries in a folder."""

_READ = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
_FOLDER = _READ | getattr(os, "O_DIRECTORY", 0)
_BY_HANDLE = os.open in os.supports_dir_fd and os.scandir in os.supports_fd
"""Whether files can be opened relative to an open folder; if not (Windows), paths have to do."""


class RefusedError(Exception):
    """A file was not read; the message says why."""


class TooLargeError(RefusedError):
    """A file was not read because of its size."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of a folder, without following links."""

    name: str
    kind: int
    identity: tuple[int, int]

    @property
    def is_link(self) -> bool:
        """Whether it is a symbolic link."""
        return stat.S_ISLNK(self.kind)

    @property
    def is_folder(self) -> bool:
        """Whether it is a folder."""
        return stat.S_ISDIR(self.kind)


def entries(root: str, parts: Sequence[str]) -> list[Entry]:
    """The entries of a folder by name, without those deleted while it was listed.

    Raises:
        OSError: when it cannot be listed, or when a part of the path is a link.
        TooLargeError: when it has more than `MAX_ENTRIES` entries.
    """
    with _opened(root, parts) as (handle, folder):
        with os.scandir(folder if handle is None else handle) as listing:
            listed = [entry.name for entry in islice(listing, MAX_ENTRIES + 1)]
        if len(listed) > MAX_ENTRIES:
            raise TooLargeError(f"more than {MAX_ENTRIES:,} names")
        found = (_entry(handle, folder, name) for name in sorted(listed))
        return [entry for entry in found if entry]


def read_below(root: str, parts: Sequence[str], limit: int) -> tuple[bytes, tuple[int, int]]:
    """The bytes of a regular file, and its identity.

    Raises:
        OSError: when it cannot be read, or when a part of the path is a link.
        RefusedError: when it is not a regular file; `TooLargeError` when it is larger than `limit` bytes.
    """
    with open_below(root, parts, limit) as file:
        data = file.read(limit + 1)
        if len(data) > limit:
            raise TooLargeError(f"more than {limit:,} bytes")
        seen = os.fstat(file.fileno())
        return data, (seen.st_dev, seen.st_ino)


@contextmanager
def open_below(root: str, parts: Sequence[str], limit: int) -> Iterator[BinaryIO]:
    """A regular file, opened for reading; it had at most `limit` bytes when it was opened.

    Raises:
        OSError: when it cannot be opened, or when a part of the path is a link.
        RefusedError: when it is not a regular file; `TooLargeError` when it is larger.
    """
    if not parts:
        raise RefusedError("this is not a regular file")
    with _opened(root, parts[:-1]) as (folder, prefix):
        path = Path(prefix, parts[-1])
        if not stat.S_ISREG(os.stat(path, dir_fd=folder, follow_symlinks=False).st_mode):
            raise RefusedError("this is not a regular file")
        # Non-blocking, in case it has become a pipe by now.
        handle = os.open(path, _READ | getattr(os, "O_NONBLOCK", 0), dir_fd=folder)
        with os.fdopen(handle, "rb") as file:
            seen = os.fstat(handle)
            if not stat.S_ISREG(seen.st_mode):
                raise RefusedError("this is not a regular file")
            if seen.st_size > limit:
                raise TooLargeError(f"more than {limit:,} bytes")
            yield file


def _entry(handle: int | None, folder: str, name: str) -> Entry | None:
    try:
        seen = os.stat(Path(folder, name), dir_fd=handle, follow_symlinks=False)
    except FileNotFoundError:
        return None
    return Entry(name, seen.st_mode, (seen.st_dev, seen.st_ino))


@contextmanager
def _opened(root: str, parts: Sequence[str]) -> Iterator[tuple[int | None, str]]:
    """The folder as a handle and a path relative to it: each part is opened relative to the previous one, without
    following links.
    """
    if not _BY_HANDLE:
        yield None, os.fspath(Path(root, *parts))
        return
    handle = os.open(root, _FOLDER)
    try:
        for part in parts:
            inner = os.open(part, _FOLDER, dir_fd=handle)
            os.close(handle)
            handle = inner
        yield handle, ""
    finally:
        os.close(handle)
