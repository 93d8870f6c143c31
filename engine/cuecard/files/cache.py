"""Keeps expensive results between processes: one file each, in a folder of bounded size."""

from __future__ import annotations

import hashlib
import os
import stat
import tempfile
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from platformdirs import user_cache_path

from cuecard.files.private import check_folder, refused, whose
from cuecard.records import dataclass

MAX_FOLDER = 256 << 20
"""The maximum size of the folder in bytes; the least recently used files are deleted first."""

MAX_FILE = MAX_FOLDER // 4

_MAGIC = b"cuecard-kept-1\n"
_DIGEST = 32
_ABANDONED = 3600.0  # seconds after which a temporary file counts as abandoned


@dataclass(frozen=True, slots=True)
class Cache:
    """Bytes by key. It never raises: what cannot be stored or read is simply computed again.

    Files are written atomically, so several processes may share the folder. A file is read only if it is a regular file
    with the content that was written under this key, and if nobody but this user can write to it or to the folder.

    Attributes:
        folder: where the files are; None stores nothing.
        limit: the maximum total size in bytes.
    """

    folder: Path | None = None
    limit: int = MAX_FOLDER

    def get(self, key: str) -> bytes | None:
        """The value of a key; None if there is none, or if it was damaged."""
        if self.folder is None:
            return None
        file = self._file(key)
        try:
            check_folder(self.folder)
            data = _read(file)
        except (OSError, ValueError):
            return None
        start = len(_MAGIC) + _DIGEST
        if data[: len(_MAGIC)] != _MAGIC or data[len(_MAGIC) : start] != _digest(key, data[start:]):
            return None
        with suppress(OSError):
            os.utime(file)  # reading a file updates its time, so the oldest files are the least recently used
        return data[start:]

    def put(self, key: str, value: bytes) -> None:
        """Store a value, if the folder allows it."""
        if self.folder is None or len(value) > min(MAX_FILE, self.limit):
            return
        with suppress(OSError):
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            check_folder(self.folder)
            _replace(self._file(key), _MAGIC + _digest(key, value) + value)
            _tidy(self.folder, self.limit)

    def _file(self, key: str) -> Path:
        return (self.folder or Path()) / f"{hashlib.sha256(key.encode()).hexdigest()}.kept"


def cache_at(wish: str | Path | bool) -> Cache:  # noqa: FBT001 - as `Engine.open(cache=...)` takes it
    """The cache in this folder; True stands for the user's cache folder, False for no cache."""
    if isinstance(wish, bool):
        return Cache(user_cache() if wish else None)
    return Cache(Path(wish))


def user_cache() -> Path:
    """The user's cache folder, such as `~/.cache/cuecard`."""
    return user_cache_path("cuecard", appauthor=False) / "search"


def fingerprint(parts: Iterable[str]) -> str:
    """A key derived from everything that a value depends on."""
    made = hashlib.sha256()
    for part in parts:
        text = part.encode("utf-8", "surrogatepass")
        made.update(len(text).to_bytes(8, "little") + text)
    return made.hexdigest()


def _digest(key: str, value: bytes) -> bytes:
    return hashlib.sha256(len(key).to_bytes(8, "little") + key.encode() + value).digest()


def _read(file: Path) -> bytes:
    """The bytes of a regular file of this user that nobody else may write.

    Raises:
        OSError, ValueError: when there is no such file.
    """
    if why := whose(file.lstat()):
        raise refused(file, why)
    opened = os.open(file, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    with os.fdopen(opened, "rb") as stream:
        about = os.fstat(stream.fileno())
        if not stat.S_ISREG(about.st_mode) or whose(about) or about.st_size > MAX_FILE + len(_MAGIC) + _DIGEST:
            raise ValueError("not a file of ours")
        return stream.read()


def _replace(file: Path, data: bytes) -> None:
    descriptor, name = tempfile.mkstemp(dir=file.parent, suffix=".new")
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(data)
        Path(name).replace(file)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _tidy(folder: Path, limit: int) -> None:
    """Delete files beyond the limit, the oldest first, and abandoned temporary files."""
    kept, now = [], time.time()
    for file in folder.iterdir():
        with suppress(OSError):
            about = file.lstat()
            if file.suffix == ".new" and now - about.st_mtime > _ABANDONED:
                file.unlink()
            elif file.suffix == ".kept":
                kept.append((about.st_mtime, about.st_size, file))
    room = limit
    for _, size, file in sorted(kept, reverse=True):
        room -= size
        if room < 0:
            with suppress(OSError):
                file.unlink()
