"""Searches for files below a folder: links by the rule of `roots.py`, no folder twice, and within limits."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import field
from pathlib import Path
from typing import TypeAlias

from cuecard.errors import Problem
from cuecard.files.confined_files import MAX_ENTRIES, Entry, TooLargeError, entries
from cuecard.files.roots import RealPlace, Roots, is_folder, link_outside
from cuecard.files.roots import shown as shown_path
from cuecard.records import dataclass

MAX_DEPTH = 16
"""The maximum depth of a file below its root."""
MAX_FOLDERS = 10_000
"""The maximum number of folders searched below a root."""
MAX_FILES = 10_000
"""The maximum number of files examined below a root."""
LARGE = "this folder is too large to search for files"
LARGE_HINT = (
    f"at most {MAX_FOLDERS:,} folders and {MAX_FILES:,} files, {MAX_DEPTH} levels, and {MAX_ENTRIES:,} names in one "
    "folder; name folders within it"
)

_Parts = tuple[str, ...]

Among: TypeAlias = Callable[[_Parts, bool], bool]
"""Decides whether a path is of interest; told whether it is a folder."""


@dataclass(frozen=True, slots=True, order=True)
class FoundFile:
    """A file: its path below the folder as written, and its real place."""

    shown: _Parts
    place: RealPlace = field(compare=False)


class Walk:
    """Walks through one folder. Real entries come before links, so that a link to one of them adds nothing.

    Attributes:
        found: the files, in the order in which they were found.
        problems: folders that cannot be read, and links that lead out of the roots. Exceeding the number of files or
            folders is reported once and ends the walk.
        folders: the folders that were searched, as written.
    """

    def __init__(
        self,
        folder: Path,
        start: RealPlace,
        roots: Roots,
        wanted: Callable[[str], bool] | None,
        among: Among | None = None,
    ) -> None:
        """Nothing is read yet.

        Args:
            folder: the folder as written.
            start: its real place.
            roots: where links may lead.
            wanted: whether a file with this name is searched for; None for all files.
            among: whether a file is wanted, or a folder searched, by its path below the folder; without it, all that
                are neither hidden nor editors' leftovers.
        """
        self.among = among
        self.folders: list[Path] = []
        self.folder: Path = folder
        self.start: RealPlace = start
        self.roots: Roots = roots
        self.wanted: Callable[[str], bool] | None = wanted
        self.found: list[FoundFile] = []
        self.problems: list[Problem] = []
        self._links: list[tuple[_Parts, str]] = []
        self._seen: set[tuple[int, int]] = set()
        self._is_full = False

    def walk(self) -> Walk:
        """Search the folder and all folders below it."""
        self._into(self.start, ())
        while self._links:
            links, self._links = sorted(self._links), []
            for shown, target in links:
                self._follow(shown, target)
        return self

    def _into(self, place: RealPlace, shown: _Parts) -> None:
        if len(shown) > MAX_DEPTH:
            self._problem(shown, "large-folder", LARGE, LARGE_HINT)
            return
        try:
            listed = entries(place.root, place.parts)
        except TooLargeError:
            self._problem(shown, "large-folder", LARGE, LARGE_HINT)
            return
        except OSError as error:
            self._problem(shown, "unreadable-file", f"{error.strerror}", "check the folder's permissions")
            return
        self.folders.append(self.folder.joinpath(*shown))
        for entry in listed:
            self._meet(entry, place.below(entry.name), (*shown, entry.name))

    def _meet(self, entry: Entry, place: RealPlace, shown: _Parts) -> None:
        if self._is_full or self._is_of_no_interest(shown, is_folder=entry.is_folder, is_link=entry.is_link):
            return
        if entry.is_link:
            self._link(place, shown)
        elif self._is_wanted(entry.name, is_folder=entry.is_folder):
            self._add(FoundFile(shown, place))
        elif entry.is_folder:
            self._enter(place, shown, entry.identity)

    def _link(self, place: RealPlace, shown: _Parts) -> None:
        try:
            self._links.append((shown, os.path.realpath(place.path)))
        except OSError as error:  # such as the links of other people's processes in /proc
            if self._is_wanted(shown[-1], is_folder=False):
                self._problem(shown, "unreadable-file", f"{error.strerror}", "check its permissions")

    def _follow(self, shown: _Parts, target: str) -> None:
        leads_to_folder = is_folder(Path(target))
        if self._is_full or self._is_of_no_interest(shown, is_folder=leads_to_folder):
            return
        is_wanted = self._is_wanted(shown[-1], is_folder=leads_to_folder)
        if not is_wanted and not leads_to_folder:
            return
        place = self.roots.inside(target)
        if place is None:
            self.problems.append(link_outside(os.fspath(self.folder.joinpath(*shown)), target))
        elif is_wanted:
            self._add(FoundFile(shown, RealPlace(place.root, place.parts, is_linked=True)))
        elif target != os.fspath(self.start.path) and (identity := _identity(target)):
            self._enter(place, shown, identity)

    def _add(self, found: FoundFile) -> None:
        if len(self.found) >= MAX_FILES:
            self._end()
            return
        self.found.append(found)

    def _enter(self, place: RealPlace, shown: _Parts, identity: tuple[int, int]) -> None:
        """Search a folder, unless that was done before."""
        if identity in self._seen:
            return
        if len(self._seen) >= MAX_FOLDERS:
            self._end()
            return
        self._seen.add(identity)
        self._into(place, shown)

    def _end(self) -> None:
        """A limit was reached: no further files or folders are added."""
        self._is_full = True
        self._problem((), "large-folder", LARGE, LARGE_HINT)

    def _is_wanted(self, name: str, *, is_folder: bool) -> bool:
        return self.wanted(name) if self.wanted else not is_folder

    def _is_of_no_interest(self, shown: _Parts, *, is_folder: bool, is_link: bool = False) -> bool:
        if self.among is None:
            return _is_left_over(shown[-1])
        return not is_link and not self.among(shown, is_folder)

    def _problem(self, shown: _Parts, code: str, message: str, hint: str) -> None:
        self.problems.append(Problem(code, message, hint, shown_path(self.folder.joinpath(*shown))))


def search(folder: Path, wanted: Callable[[str], bool]) -> Walk:
    """The files with wanted names below a folder, except hidden ones and those in `node_modules`.

    A link that leads out of the folder is ignored and not a problem.
    """

    def among(parts: _Parts, _: bool) -> bool:  # noqa: FBT001 - whether it is a folder's, which Walk passes by place
        return not _is_left_over(parts[-1]) and parts[-1] != "node_modules"

    real = Path(os.path.realpath(folder))
    walk = Walk(folder, RealPlace(os.fspath(real)), Roots.of(real), wanted, among).walk()
    walk.problems = [problem for problem in walk.problems if problem.code != "link-outside"]
    return walk


def _is_left_over(name: str) -> bool:
    """Whether a file is hidden, or was left behind by an editor: `x~`, `#x#`."""
    return name.startswith((".", "#")) or name.endswith("~")


def _identity(folder: str) -> tuple[int, int] | None:
    """The identity of a folder; None if it is gone by now."""
    try:
        seen = Path(folder).stat()
    except OSError:
        return None
    return seen.st_dev, seen.st_ino
