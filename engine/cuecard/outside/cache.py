"""Keeps what took long to make between processes: one file for each thing, in a folder that never grows without end."""

from __future__ import annotations

import hashlib
import os
import stat
import tempfile
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from cuecard.records import dataclass

MAX_FOLDER = 256 << 20
"""How much the folder holds, in bytes; what was not asked for longest goes first."""

MAX_FILE = MAX_FOLDER // 4

_MAGIC = b"cuecard-kept-1\n"
_DIGEST = 32
_ABANDONED = 3600.0  # seconds after which a file that somebody began to write is nobody's


@dataclass(frozen=True, slots=True)
class Cache:
    """Bytes by key. It never raises: what cannot be kept or read is made anew.

    A file is written whole or not at all, beside the others and then renamed, so that many processes may share the
    folder. It is read only if it is this user's own, plain, and what was written under this key.

    Attributes:
        folder: where the files are; None keeps nothing.
        limit: how many bytes they may have together.
    """

    folder: Path | None = None
    limit: int = MAX_FOLDER

    def get(self, key: str) -> bytes | None:
        """What is kept under a key; None when that is nothing, or not what was written."""
        if self.folder is None:
            return None
        file = self._file(key)
        try:
            data = _read(file)
        except (OSError, ValueError):
            return None
        start = len(_MAGIC) + _DIGEST
        if data[: len(_MAGIC)] != _MAGIC or data[len(_MAGIC) : start] != _digest(key, data[start:]):
            return None
        with suppress(OSError):
            os.utime(file)  # the folder's oldest files are those that nobody has asked for
        return data[start:]

    def put(self, key: str, value: bytes) -> None:
        """Keep this, where the folder allows it."""
        if self.folder is None or len(value) > min(MAX_FILE, self.limit):
            return
        with suppress(OSError):
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            _replace(self._file(key), _MAGIC + _digest(key, value) + value)
            _tidy(self.folder, self.limit)

    def _file(self, key: str) -> Path:
        return (self.folder or Path()) / f"{hashlib.sha256(key.encode()).hexdigest()}.kept"


def cache_at(wish: str | Path | bool) -> Cache:  # noqa: FBT001 - as `Engine.open(cache=...)` takes it
    """The cache in this folder; in the user's where the wish is True, and none where it is False."""
    if isinstance(wish, bool):
        return Cache(user_cache() if wish else None)
    return Cache(Path(wish))


def user_cache() -> Path:
    """Where this user's programs keep what they can make anew, such as `~/.cache/cuecard`."""
    from platformdirs import user_cache_path  # noqa: PLC0415 - only who searches pays for it

    return user_cache_path("cuecard", appauthor=False) / "search"


def fingerprint(parts: Iterable[str]) -> str:
    """A key of everything that something is made of."""
    made = hashlib.sha256()
    for part in parts:
        text = part.encode("utf-8", "surrogatepass")
        made.update(len(text).to_bytes(8, "little") + text)
    return made.hexdigest()


def _digest(key: str, value: bytes) -> bytes:
    return hashlib.sha256(len(key).to_bytes(8, "little") + key.encode() + value).digest()


def _read(file: Path) -> bytes:
    """The bytes of a plain file of this user's that nobody else may write.

    Raises:
        OSError, ValueError: when there is none.
    """
    opened = os.open(file, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    with os.fdopen(opened, "rb") as stream:
        about = os.fstat(stream.fileno())
        foreign = hasattr(os, "getuid") and about.st_uid != os.getuid()
        shared = os.name == "posix" and about.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
        if not stat.S_ISREG(about.st_mode) or foreign or shared or about.st_size > MAX_FILE + len(_MAGIC) + _DIGEST:
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
    """Take away what is too much, the oldest first, and what others began to write and left."""
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
