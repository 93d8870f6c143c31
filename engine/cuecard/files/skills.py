"""Reads skills from their folders: every SKILL.md below the roots."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable
from dataclasses import replace
from pathlib import Path, PurePosixPath

from cuecard.config.documents.sources import SkillSource
from cuecard.config.skills.skill_file import left_out
from cuecard.errors import Problem, SpecError
from cuecard.files.roots import RealPlace, Roots, is_folder, shown
from cuecard.files.safe_read import MAX_BYTES, NOTHING_OVER, Overlay, decoded, read_place
from cuecard.files.tree import FoundFile, Walk

FILE = "SKILL.md"


def is_skill_file(name: str) -> bool:
    """Whether a file is that of a skill, in whatever case its name is written."""
    return name.casefold() == FILE.casefold()


def read_skill_texts(
    roots: Iterable[str],
    base: Path,
    allowed: Roots | None = None,
    strict: Collection[str] = (),
    overlay: Overlay = NOTHING_OVER,
) -> tuple[tuple[SkillSource, ...], tuple[Problem, ...]]:
    """Every SKILL.md below these folders, by root and path, and the problems found.

    Hidden folders are skipped. A link counts only if it leads to a place below one of the roots that is not read
    anyway; one that leads elsewhere is a problem.

    Args:
        roots: folders, relative to `base`, as written in the agent file.
        base: the agent file's folder.
        allowed: where links may lead; by default, into these folders.
        strict: the roots in which a skill that cannot be read is an error; in others it is left out, with a warning.
        overlay: the texts that lie over files.
    """
    wanted = tuple(dict.fromkeys(roots))
    sources: list[SkillSource] = []
    problems: list[Problem] = []
    for root in wanted:
        reader = _Root(root, base, allowed or _of_skills(wanted, base), overlay)
        reader.read()
        sources += (replace(each, strict=root in strict) for each in sorted(reader.sources, key=lambda each: each.path))
        problems += reader.problems
        problems += reader.bad if root in strict else map(left_out, reader.bad)
    return tuple(sources), tuple(problems)


def _of_skills(roots: Iterable[str], base: Path) -> Roots:
    """The folders of skills and nothing else, wherever links to them lead."""
    home = Roots.of(base, (), roots)
    return Roots(home.home, home.folders[1:])


class _Root:
    """Reads one root: `problems` are those of the root itself, `bad` those of its skills."""

    def __init__(self, root: str, base: Path, allowed: Roots, overlay: Overlay) -> None:
        self.root, self.folder, self.base, self.allowed = root, base / root, base, allowed
        self.overlay = overlay
        self.sources: list[SkillSource] = []
        self.problems: list[Problem] = []
        self.bad: list[Problem] = []
        self._seen: set[tuple[int, int]] = set()

    def read(self) -> None:
        try:
            start = self.allowed.find(self.root)
        except SpecError as error:
            self.problems += error.problems
            return
        if not is_folder(start.path):
            hint = f"no such folder: {shown(self.folder)}"
            problem = Problem("missing-file", f"`{self.root}` is not a folder", hint, shown(self.folder))
            self.problems.append(problem)
            return
        walk = Walk(self.folder, start, self.allowed, is_skill_file).walk()
        self.bad += walk.problems
        exact = {found.shown[:-1] for found in walk.found if found.shown[-1] == FILE}
        for found in walk.found:
            if found.shown[-1] != FILE and found.shown[:-1] in exact:
                continue
            try:
                self.file(found, start)
            except SpecError as error:
                self.bad += error.problems

    def file(self, found: FoundFile, start: RealPlace) -> None:
        path = self.folder.joinpath(*found.shown)
        data, identity = read_place(found.place, shown(path), MAX_BYTES, self.overlay)
        if identity in self._seen:
            return
        self._seen.add(identity)
        text = decoded(data, shown(path))
        slug = found.shown[-2] if len(found.shown) > 1 else start.path.name
        relative = PurePosixPath(os.path.relpath(path, self.base)).as_posix()
        self.sources.append(SkillSource(shown(path), relative, text, slug, self.root))
