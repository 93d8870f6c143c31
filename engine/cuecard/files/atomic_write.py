"""Rewrites a file: atomically, following links, with its permissions, and never over a newer version."""

from __future__ import annotations

import os
import shutil
import tempfile
from codecs import BOM_UTF8
from contextlib import suppress
from pathlib import Path

from cuecard.errors import InputError, Problem, SpecError
from cuecard.files.confined_files import RefusedError, read_below
from cuecard.files.roots import shown
from cuecard.files.safe_read import decoded

_HINT = "check the permissions of the file and of its folder"


def rewrite(path: Path, text: str, before: str, *, keep_mark: bool = True) -> None:
    """Replace the content of an existing file.

    Args:
        path: the file; a link stays a link, and its target is written.
        text: the new content, written as UTF-8 with the line ends that the file has.
        before: the text that the new one was made from; someone may have saved another version since.
        keep_mark: whether a byte order mark that the file has stays.

    Raises:
        InputError: when it may not or cannot be written, or has changed since; it is then left as it was.
    """
    real = Path(os.path.realpath(path))
    beside = ""
    try:
        if not os.access(real, os.W_OK):
            raise PermissionError(13, "Permission denied")
        seen = real.stat()
        raw = real.read_bytes()
        mark = BOM_UTF8 if keep_mark and raw.startswith(BOM_UTF8) else b""
        data = mark + with_line_ends(text, raw).encode("utf-8")
        handle, beside = tempfile.mkstemp(prefix=f".{real.name}.", dir=real.parent)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        shutil.copymode(real, beside)
        with suppress(OSError, AttributeError):  # only root can change the owner; others own what they write
            os.chown(beside, seen.st_uid, seen.st_gid)
        _check_unchanged(real, before, shown(path))
        os.replace(beside, real)  # noqa: PTH105 - both are names here
        beside = ""
    except (OSError, UnicodeEncodeError) as error:
        raise _unwritten(error, path) from None
    finally:
        if beside:
            Path(beside).unlink(missing_ok=True)


def with_line_ends(text: str, data: bytes) -> str:
    """The text with the line ends of these bytes: those of most lines, which a checkout may have chosen."""
    text = text.replace("\r\n", "\n")
    return text.replace("\n", "\r\n") if data.count(b"\r\n") * 2 > data.count(b"\n") else text


def write_new(path: Path, text: str) -> None:
    """Write a new file; its folder is created if it is missing.

    Raises:
        InputError: when something, such as a link, exists there by now, or it cannot be written; nothing is then
            written.
    """
    try:
        data = text.encode("utf-8")
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("xb") as file:  # which follows no link
            try:
                file.write(data)
            except OSError:
                path.unlink(missing_ok=True)
                raise
    except FileExistsError:
        raise InputError(_changed(shown(path))) from None
    except (OSError, UnicodeEncodeError) as error:
        raise _unwritten(error, path) from None


def has_other_names(path: Path) -> bool:
    """Whether the file has further hard links, which a replaced file would lose."""
    return path.stat().st_nlink > 1


def _check_unchanged(real: Path, before: str, name: str) -> None:
    try:
        # Each character may be four bytes, and each newline two; there may be a byte order mark.
        data, _ = read_below(os.fspath(real.parent), (real.name,), 4 * len(before) + 4)
        same = decoded(data, name) == before.replace("\r\n", "\n").replace("\r", "\n")
    except (OSError, RefusedError, SpecError):
        same = False
    if not same:
        raise InputError(_changed(name))


def _changed(name: str) -> Problem:
    message = "somebody has saved another text there meanwhile; it stays, and nothing is written over it"
    return Problem("changed-meanwhile", message, "run the command again", name)


def _unwritten(error: OSError | UnicodeEncodeError, path: Path) -> InputError:
    if isinstance(error, UnicodeEncodeError):
        told = "the text holds half a character (a lone surrogate), which no file can hold"
        return InputError(Problem("control-character", told, "mend it where it comes from", shown(path)))
    message = f"it cannot be written: {(error.strerror or str(error)).lower()}"
    return InputError(Problem("unreadable-file", message, _HINT, shown(path)))
