"""Reads one text file, or says why it cannot be read."""

from __future__ import annotations

import os
from pathlib import Path

from cuecard.config.documents.texts import SourceText
from cuecard.errors import Problem, SpecError

MAX_BYTES = 1024 * 1024
"""No file of an agent is larger: prompts are texts that people read."""

MAX_LOG_BYTES = 64 * 1024 * 1024
"""No recorded conversation is larger; a log repeats the whole of it in each of its requests."""


def read_text(path: Path, folder: Path | None = None, *, limit: int = MAX_BYTES) -> SourceText:
    """One UTF-8 text file of at most `limit` bytes; line breaks become newlines, a byte order mark is dropped.

    Raises:
        SpecError: when it is missing, unreadable, too large or not UTF-8.
    """
    name = shown(path)
    text = _decoded(path, name, limit).replace("\r\n", "\n").replace("\r", "\n")
    return SourceText(name, Path(os.path.relpath(path, folder or path.parent)).as_posix(), text)


def _decoded(file: Path, name: str, limit: int) -> str:
    if not file.is_file():
        raise SpecError(_not_a_file(file, name))
    try:
        data = file.read_bytes()
    except OSError as error:
        hint = "check the file's permissions"
        raise SpecError(Problem("unreadable-file", f"{error.strerror}", hint, name)) from None
    if len(data) > limit:
        message = f"{len(data):,} bytes; at most {limit:,}"
        raise SpecError(Problem("large-file", message, "split the file", name))
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        message = f"byte 0x{data[error.start]:02X} in line {line} is not UTF-8"
        raise SpecError(Problem("encoding", message, "save the file as UTF-8", name)) from None


def _not_a_file(file: Path, name: str) -> Problem:
    if file.exists():
        return Problem("missing-file", "this is not a regular file", "name a text file", name)
    return Problem("missing-file", "no such file", "check the path: it is relative to where you stand", name)


def shown(path: Path) -> str:
    """The path as people would type it: relative to where they stand if it is below, else as given."""
    full = Path(os.path.normpath(path.absolute()))
    here = Path.cwd()
    return full.relative_to(here).as_posix() if full.is_relative_to(here) else full.as_posix()
