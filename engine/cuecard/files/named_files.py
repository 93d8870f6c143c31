"""Reads the files that an agent file names, and collects problems."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path

from cuecard.config.documents.document import Document
from cuecard.config.documents.document import Path as Key
from cuecard.config.documents.sources import SourceText
from cuecard.config.sections.file_patterns import parts_of
from cuecard.config.sections.files_spec import FileSearch
from cuecard.errors import Problem, SpecError
from cuecard.files.roots import RealPlace, Roots, is_folder, is_there, parts_below, shown
from cuecard.files.safe_read import NOTHING_OVER, Overlay, read_text
from cuecard.files.tree import Walk

MAX_TOTAL = 32 * 1024 * 1024
"""The maximum total size of the files that an agent names, in bytes."""


class NamedTexts:
    """Reads files relative to the agent's folder.

    Attributes:
        folder: the agent's folder.
        roots: where links may lead.
        overlay: the texts that lie over files.
        problems: the problems of files that must exist.
        unread: optional files that exist but cannot be read, with the reason.
        folders: the folders that patterns searched.
        not_files: paths of optional files where there is a folder instead.
    """

    def __init__(self, folder: Path, roots: Roots, overlay: Overlay = NOTHING_OVER) -> None:
        self.folder: Path = folder
        self.roots: Roots = roots
        self.overlay: Overlay = overlay
        self.problems: list[Problem] = []
        self.unread: list[tuple[str, str]] = []
        self.folders: list[str] = []
        self.not_files: list[str] = []
        self._asked: set[str] = set()
        self._room = MAX_TOTAL

    def found(self, search: FileSearch) -> Iterator[SourceText]:
        """The files that a pattern matches, sorted by path; an unreadable one is reported."""
        base = search.pattern.folder
        above = parts_of(base)
        try:
            spot = self.roots.find(base or ".")
        except SpecError as error:
            self.problems += error.problems
            return
        if not is_folder(spot.path):
            return

        def among(below: tuple[str, ...], is_folder: bool) -> bool:  # noqa: FBT001 - as `Walk` calls it
            parts = (*above, *below)
            return search.leads(parts) if is_folder else search.holds("/".join(parts))

        folder = self.folder / base
        walk = Walk(folder, spot, self.roots, None, among).walk()
        self.problems += walk.problems
        self.folders += (Path(os.path.relpath(each, self.folder)).as_posix() for each in walk.folders)
        for found in sorted(walk.found):
            yield from self.optional("/".join((*above, *found.shown)))

    def optional(self, place: str) -> Iterator[SourceText]:
        """An optional file, read once; if it exists but cannot be read, the reason is kept."""
        if place in self._asked:
            return
        self._asked.add(place)
        try:
            spot = self.roots.find(place)
            if is_folder(spot.path):
                self.not_files.append(place)
            if self._is_there(spot):
                yield replace(self._read(self.folder / place, spot), path=place)
        except SpecError as error:
            for problem in error.problems:
                if problem.code in {"link-outside", "large-folder"}:
                    self.problems.append(problem)
                else:
                    self.unread.append((place, problem.message))

    def text(self, document: Document, key: Key, place: str) -> Iterator[SourceText]:
        """The file at `place`, by the path written in a section."""
        if place.strip() and is_folder(self.folder / place):
            hint = f"name a file in {shown(self.folder / place)}"
            self.problems.append(document.problem(key, "missing-file", f"`{place}` is a folder", hint))
            return
        for source in self.named(document, key, ("*",), place):
            yield replace(source, path=place)

    def folder_of_skills(self, document: Document, key: Key, place: str) -> bool:
        """Whether there is a folder at `place`."""
        if not self._says(document, key, place, "folder"):
            return False
        if not (there := is_folder(self.folder / place)):
            hint = f"no such folder: {shown(self.folder / place)}"
            self.problems.append(document.problem(key, "missing-file", f"`{place}` is not a folder", hint))
        return there

    def folder_of_links(self, document: Document, key: Key, place: str) -> None:
        """Tells of a root that lets no link lead anywhere. Copies of an agent may do without: they have no links."""
        if self._says(document, key, place, "folder") and not is_folder(self.folder / place):
            told, hint = f"`{place}` is not a folder: no link can lead there", "correct the path, or remove it"
            self.problems.append(document.problem(key, "no-effect", told, hint, severity="warning"))

    def _says(self, document: Document, key: Key, place: str, kind: str = "file") -> bool:
        """Whether a path is not blank."""
        if not place.strip():
            hint = f"write the path of a {kind}"
            self.problems.append(document.problem(key, "missing-file", "a path is empty", hint))
        return bool(place.strip())

    def named(self, document: Document, key: Key, patterns: tuple[str, ...], place: object) -> Iterator[SourceText]:
        """The file at `place`, or the files of the folder at `place` that match one of the patterns."""
        if not isinstance(place, str) or not self._says(document, key, place):
            return
        target = self.folder / place
        try:
            spot = self.roots.find(place)
        except SpecError as error:
            self.problems += error.problems
            return
        if not self._is_there(spot):
            hint = f"no such file or folder: {shown(target)}"
            if spot.is_linked:
                hint += f", a link to {spot.path}"
            self.problems.append(document.problem(key, "missing-file", f"`{place}` does not exist", hint))
            return
        before = len(self.problems)
        files = self._within(target, spot, patterns) if is_folder(spot.path) else [(target, spot)]
        if not files and len(self.problems) == before:
            hint = f"put {patterns[0]} files into {shown(target)}"
            self.problems.append(
                document.problem(key, "empty-folder", f"`{place}` contains no {patterns[0]} file", hint)
            )
        for file, found in files:
            try:
                yield self._read(file, found)
            except SpecError as error:
                self.problems.extend(error.problems)
            if self._room < 0:
                return

    def _within(self, folder: Path, spot: RealPlace, patterns: tuple[str, ...]) -> list[tuple[Path, RealPlace]]:
        """The matching files of a folder, sorted by path."""
        matches = None if "*" in patterns else partial(_matches, patterns)
        walk = Walk(folder, spot, self.roots, matches).walk()
        self.problems += walk.problems
        there = {(*found.shown,): found.place for found in walk.found}
        for path in self.overlay:  # files that nobody has saved yet
            if (parts := parts_below(spot.root, os.fspath(path))) and parts[: len(spot.parts)] == spot.parts:
                below = parts[len(spot.parts) :]
                if below and not any(each.startswith(".") for each in below) and (not matches or matches(below[-1])):
                    there.setdefault(below, RealPlace(spot.root, parts))
        return [(folder.joinpath(*parts), there[parts]) for parts in sorted(there)]

    def _is_there(self, spot: RealPlace) -> bool:
        return spot.path in self.overlay or is_there(spot.path)

    def _read(self, file: Path, place: RealPlace) -> SourceText:
        if self._room < 0:
            raise SpecError(())
        source = read_text(file, self.folder, place=place, overlay=self.overlay)
        self._room -= len(source.text)
        if self._room < 0:
            message = f"with this file, the agent's files exceed {MAX_TOTAL:,} characters"
            hint = "name fewer files; move rarely needed texts into skills or tools"
            raise SpecError(Problem("large-folder", message, hint, source.name))
        return source


def _matches(patterns: tuple[str, ...], name: str) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)
