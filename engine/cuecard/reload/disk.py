"""Files that many processes of one user read and write concurrently: always complete, never larger than expected."""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path

from cuecard.outside.private import check_folder, refused, whose

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
