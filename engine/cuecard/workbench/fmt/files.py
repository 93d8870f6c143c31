"""The files for `cuecard fmt`: cuecard's YAML, and the texts that agents name."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path

from cuecard.config.documents.yaml import read_yaml
from cuecard.config.file_kinds import kind_of
from cuecard.errors import Problem, SpecError
from cuecard.files.content import ENDINGS
from cuecard.files.roots import RealPlace, is_file, is_folder, is_there, shown
from cuecard.files.safe_read import decoded, read_bytes
from cuecard.files.tree import search

_NOT_OURS = frozenset(("yaml-root", "yaml-empty", "yaml-refused"))
"""The kinds of YAML that do not belong to cuecard; a folder may contain anything."""

MAX_BYTES = 1024 * 1024


@dataclass(frozen=True, slots=True)
class File:
    """A file: its real path, its displayed path, its bytes, and its text as cuecard reads it."""

    path: Path
    name: str
    data: bytes
    text: str


@dataclass(slots=True)
class FileChoice:
    """The files found under the paths.

    Attributes:
        yaml: YAML files to format, by their real path.
        texts: other named files, by their real path.
        agents: agent files.
        folders: the real paths of named folders: files that agents name are formatted if they are in one of them.
        problems: what could not be read.
    """

    yaml: dict[Path, File] = field(default_factory=dict)
    texts: dict[Path, File] = field(default_factory=dict)
    agents: dict[Path, File] = field(default_factory=dict)
    folders: list[Path] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    def covers(self, path: Path) -> bool:
        """Whether a real path was named, or is in a named folder."""
        return path in self.texts or any(path.is_relative_to(folder) for folder in self.folders)


def find_files(paths: Sequence[Path]) -> FileChoice:
    """Read everything under these paths; unreadable files are reported, and the others are still found."""
    found = FileChoice()
    for path in paths:
        if not is_there(path):
            hint = "check the path: it is relative to the current folder"
            found.problems.append(Problem("missing-file", "no such file or folder", hint, shown(path)))
        elif is_folder(path):
            _folder(found, path)
        else:
            _file(found, path)
    return found


def read_file(real: Path, name: str) -> File:
    """A file by its real path.

    Raises:
        SpecError: when it cannot be read as text.
    """
    place = RealPlace(os.fspath(real.parent), (real.name,))
    data = read_bytes(real, limit=MAX_BYTES, place=place)
    return File(real, name, data, decoded(data, name))


def agents_above(path: Path) -> Iterable[Path]:
    """The YAML files of the folder of a file, and of those above it, nearest first, up to the top of a repository."""
    for folder in path.parents:
        yield from sorted(each for ending in ENDINGS for each in folder.glob(ending) if is_file(each))
        if is_there(folder / ".git"):
            return


def is_agent(path: Path) -> bool:
    """Whether it is a readable agent file."""
    try:
        file = read_file(Path(os.path.realpath(path)), shown(path))
        return kind_of(read_yaml(file.text, file.name).value) == "agent"
    except SpecError:
        return False


def _folder(found: FileChoice, folder: Path) -> None:
    found.folders.append(Path(os.path.realpath(folder)))
    walk = search(folder, lambda name: any(fnmatch(name, each) for each in ENDINGS))
    found.problems += walk.problems
    for each in sorted(walk.found):
        _yaml(found, each.place.path, shown(folder.joinpath(*each.shown)), named=False)


def _file(found: FileChoice, path: Path) -> None:
    real = Path(os.path.realpath(path))
    if any(fnmatch(path.name, each) for each in ENDINGS):
        _yaml(found, real, shown(path), named=True)
        return
    try:
        found.texts[real] = read_file(real, shown(path))
    except SpecError as error:
        found.problems += error.problems


def _yaml(found: FileChoice, real: Path, name: str, *, named: bool) -> None:
    if real in found.yaml:
        return
    try:
        file = read_file(real, name)
        kind = kind_of(read_yaml(file.text, name).value)
    except SpecError as error:
        if named or not _NOT_OURS.issuperset(problem.code for problem in error.problems):
            found.problems += error.problems
        return
    if kind == "agent":
        found.agents[real] = file
    if kind or named:
        found.yaml[real] = file
