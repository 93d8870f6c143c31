"""A file written anew: whole or not at all, where its links lead, with its permissions."""

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path

from cuecard.errors import InputError, Problem
from cuecard.outside.paths import shown


def rewrite(path: Path, text: str) -> None:
    """Put a text in place of a file that is there.

    Args:
        path: the file; a link stays a link, and the file that it leads to is written.
        text: as UTF-8, its newlines as they are.

    Raises:
        InputError: when it may not or cannot be written; then it is as it was.
    """
    real = Path(os.path.realpath(path))
    beside = ""
    try:
        if not os.access(real, os.W_OK):
            raise PermissionError(13, "Permission denied")
        seen = real.stat()
        handle, beside = tempfile.mkstemp(prefix=f".{real.name}.", dir=real.parent)
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        shutil.copymode(real, beside)
        with suppress(OSError, AttributeError):  # only root may give files away; others own what they write
            os.chown(beside, seen.st_uid, seen.st_gid)
        os.replace(beside, real)  # noqa: PTH105 - both are names here
    except OSError as error:
        if beside:
            Path(beside).unlink(missing_ok=True)
        message = f"it cannot be written: {(error.strerror or str(error)).lower()}"
        hint = "check the permissions of the file and of its folder"
        raise InputError(Problem("unreadable-file", message, hint, shown(path))) from None


def has_other_names(path: Path) -> bool:
    """Whether the file has further hard links, which a new file would not have."""
    return path.stat().st_nlink > 1
