"""Reads recorded conversations: like other text files, only larger."""

from __future__ import annotations

from pathlib import Path

from cuecard.errors import Problem, SpecError
from cuecard.spec.sources import SourceText

MAX_BYTES = 64 * 1024 * 1024
"""A log repeats the whole conversation in each of its requests."""


def read_log(path: Path) -> SourceText:
    """One UTF-8 file of JSON or JSON lines.

    Raises:
        SpecError: when it is missing, unreadable, too large or not UTF-8.
    """
    name = path.as_posix()
    try:
        data = path.read_bytes()
    except OSError as error:
        hint = "check the path: it is relative to where you stand"
        raise SpecError(Problem("missing-file", f"{error.strerror}", hint, name)) from None
    if len(data) > MAX_BYTES:
        message = f"{len(data):,} bytes; at most {MAX_BYTES:,}"
        raise SpecError(Problem("large-file", message, "keep one conversation only", name))
    try:
        return SourceText(name, path.name, data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        message = f"byte 0x{data[error.start]:02X} in line {line} is not UTF-8"
        raise SpecError(Problem("encoding", message, "save the file as UTF-8", name)) from None
