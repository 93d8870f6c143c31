"""Snapshots in files: compared with the current prompt, written, and deleted if no test uses them."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from cuecard.errors import InputError, Problem, SpecError
from cuecard.files.atomic_write import write_new
from cuecard.files.roots import is_folder, shown
from cuecard.files.safe_read import MAX_LOG_BYTES, children, read_bytes
from cuecard.workbench.testing.difference import difference
from cuecard.workbench.testing.snapshot import Snapshot, as_written

FOLDER = "snapshots"
"""The folder for snapshots, next to the files with the turns."""

Became: TypeAlias = Literal["equal", "missing", "different", "written"]


@dataclass(frozen=True, slots=True)
class Golden:
    """The comparison of a prompt with its snapshot; `lines` show the differences."""

    became: Became
    path: Path
    lines: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether the prompt equals its snapshot, possibly after an update."""
        return self.became in {"equal", "written"}


def hold(path: Path, found: Snapshot, *, update: bool = False) -> Golden:
    """Compare the prompt with the snapshot at this path, which `update` rewrites.

    Raises:
        SpecError: when the file cannot be read, or is a link out of its folder.
        InputError: when the file is not a snapshot, or cannot be written.
    """
    text = found.to_text()
    there = os.path.lexists(path)
    if update:
        if not there or _read(path) != text:
            _write(path, text)
            return Golden("written", path)
        return Golden("equal", path)
    if not there:
        return Golden("missing", path)
    kept = _read(path)
    if as_written(kept) == text:
        return Golden("equal", path)
    lines = difference(Snapshot.parse(kept, shown(path)), found)
    return Golden("different", path, tuple(lines) or ("only the file's formatting differs",))


def complaint(held: Golden, way: str) -> Problem:
    """The message for a snapshot that differs; `way` says how to update it."""
    if held.became == "missing":
        return Problem("snapshot-missing", f"there is no snapshot {shown(held.path)}", f"write it: {way}")
    hint = "\n".join([*held.lines, f"if that is what you want: {way}"])
    return Problem("snapshot-differs", f"the prompt differs from {shown(held.path)}", hint)


def unused(folder: Path, used: Iterable[Path]) -> list[Path]:
    """The snapshots in a folder that no test used.

    Raises:
        SpecError: when the folder cannot be listed.
    """
    asked = {os.path.realpath(path) for path in used}
    kept = [path for path in children(folder) if path.suffix == ".txt"] if is_folder(folder) else []
    return [path for path in kept if os.path.realpath(path) not in asked and _is_snapshot(path)]


def _read(path: Path) -> str:
    """The text without converting line ends, since a prompt may contain any."""
    return read_bytes(path, limit=MAX_LOG_BYTES).decode("utf-8", "replace")


def _write(path: Path, text: str) -> None:
    """Overwrite a file that was read, or write a new one, never through a link to another place."""
    if not os.path.lexists(path):
        write_new(path, text)
        return
    try:
        path.write_text(text, encoding="utf-8", newline="")
    except (OSError, ValueError) as error:
        message = f"it cannot be written: {getattr(error, 'strerror', None) or error}"
        raise InputError(Problem("unreadable-file", message, "check its permissions", shown(path))) from None


def _is_snapshot(path: Path) -> bool:
    try:
        return _read(path).startswith("cuecard snapshot")
    except SpecError:
        return False
