"""Snapshots in files: held against the prompt of today, written, and thrown away when no test asks for them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from cuecard.errors import Problem
from cuecard.outside.paths import shown
from cuecard.testing.difference import difference
from cuecard.testing.snapshot import Snapshot

FOLDER = "snapshots"
"""Beside the files whose prompts are written down."""

Became: TypeAlias = Literal["equal", "missing", "different", "written"]


@dataclass(frozen=True, slots=True)
class Held:
    """A prompt held against its snapshot; `lines` tell what differs."""

    became: Became
    path: Path
    lines: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether the prompt is what is written down, now at least."""
        return self.became in {"equal", "written"}


def hold(path: Path, found: Snapshot, *, update: bool = False) -> Held:
    """The prompt against the snapshot at this path, which is written anew where `update` says so.

    Raises:
        InputError: when the file is no snapshot, and may not be written anew.
    """
    text = found.to_text()
    there = path.is_file()
    if update:
        if not there or _read(path) != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8", newline="")
            return Held("written", path)
        return Held("equal", path)
    if not there:
        return Held("missing", path)
    kept = _read(path)
    if kept == text:
        return Held("equal", path)
    lines = difference(Snapshot.parse(kept, shown(path)), found)
    return Held("different", path, tuple(lines) or ("only the file's formatting differs",))


def complaint(held: Held, way: str) -> Problem:
    """What is wrong where a snapshot does not hold; `way` writes it anew."""
    if held.became == "missing":
        return Problem("snapshot-missing", f"there is no snapshot {shown(held.path)}", f"write it: {way}")
    hint = "\n".join([*held.lines, f"if that is what you want: {way}"])
    return Problem("snapshot-differs", f"the prompt differs from {shown(held.path)}", hint)


def unused(folder: Path, used: Iterable[Path]) -> list[Path]:
    """The snapshots of a folder that no test asked for."""
    asked = {path.resolve() for path in used}
    return [path for path in sorted(folder.glob("*.txt")) if path.resolve() not in asked and _is_snapshot(path)]


def _read(path: Path) -> str:
    """The text as it stands there: a prompt may hold any line end."""
    return path.read_bytes().decode("utf-8", "replace")


def _is_snapshot(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(16) == b"cuecard snapshot"
