"""Reads skills from their folders: every SKILL.md below the roots and later, on demand, one text of a skill."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable
from dataclasses import replace
from pathlib import Path, PurePosixPath

from cuecard.config.documents.texts import SkillSource
from cuecard.config.skills.skill_file import left_out
from cuecard.config.values.placeholders import fill
from cuecard.config.words_spec import ENGLISH, WordsSpec
from cuecard.errors import Problem, SpecError, visible
from cuecard.model.skills import Skill, SkillText
from cuecard.outside.confined_files import RefusedError, TooLargeError, read_below
from cuecard.outside.paths import is_folder, shown
from cuecard.outside.reading import MAX_BYTES, decoded, read_place
from cuecard.outside.roots import Place, Roots, parts_below
from cuecard.outside.walking import Found, Walk
from cuecard.sources.skills.answers import no_file, unknown_skill, unreadable, within
from cuecard.sources.skills.budget import Unit
from cuecard.sources.skills.selection import find_skill

FILE = "SKILL.md"


def read_skill_texts(
    roots: Iterable[str], base: Path, allowed: Roots | None = None, strict: Collection[str] = ()
) -> tuple[tuple[SkillSource, ...], tuple[Problem, ...]]:
    """Every SKILL.md below these folders, by root and path, and the problems found.

    Hidden folders are skipped. A link counts only if it leads to a place below one of the roots that is not read
    anyway; one that leads elsewhere is a problem.

    Args:
        roots: folders, relative to `base`, as written in the agent file.
        base: the agent file's folder.
        allowed: where links may lead; by default, into these folders.
        strict: the roots in which a skill that cannot be read is an error; in others it is left out, with a warning.
    """
    wanted = tuple(dict.fromkeys(roots))
    sources: list[SkillSource] = []
    problems: list[Problem] = []
    for root in wanted:
        reader = _Root(root, base, allowed or _of_skills(wanted, base))
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

    def __init__(self, root: str, base: Path, allowed: Roots) -> None:
        self.root, self.folder, self.base, self.allowed = root, base / root, base, allowed
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
        walk = Walk(self.folder, start, self.allowed, FILE.__eq__).walk()
        self.bad += walk.problems
        for found in walk.found:
            try:
                self.file(found, start)
            except SpecError as error:
                self.bad += error.problems

    def file(self, found: Found, start: Place) -> None:
        path = self.folder.joinpath(*found.shown)
        data, identity = read_place(found.place, shown(path), MAX_BYTES)
        if identity in self._seen:
            return
        self._seen.add(identity)
        text = decoded(data, shown(path))
        slug = found.shown[-2] if len(found.shown) > 1 else start.path.name
        relative = PurePosixPath(os.path.relpath(path, self.base)).as_posix()
        self.sources.append(SkillSource(shown(path), relative, text, slug, self.root))


def read_skill(
    skills: Iterable[Skill],
    slug: str,
    *,
    file: str = "",
    base: str | Path | None = None,
    roots: Iterable[str] = (),
    limit: int = 24_000,
    unit: Unit = "bytes",
    words: WordsSpec = ENGLISH,
) -> SkillText:
    """The answer of a `read_skill` tool: the instructions of a skill, or a file in its folder. Never raises.

    Args:
        skills: the skills that this call may use; others do not exist for it.
        slug: the slug or display name, in any case.
        file: a file of the skill's folder, relative to it, such as `references/forms.md`; empty for the instructions.
        base: the agent file's folder; without it, no file can be read.
        roots: what the agent file lists as `roots`: further folders that links may lead to.
        limit: the maximum length of the text.
        unit: the unit of the limit.
        words: the words of the message if there is no text, or only a part of it.
    """
    known = tuple(skills)
    skill = find_skill(slug.strip().removeprefix("$"), known)
    if skill is None:
        return unknown_skill(slug, (each.slug for each in known), words)
    if not file:
        return within(SkillText(skill.slug, text=skill.body, found=True), limit, unit, words)
    name = visible(file)[:200]
    try:
        allowed = None if base is None else Roots.of(Path(base), (each.source for each in known), roots)
        text = _file_text(_folder(skill, allowed, words), file, words)
    except FileNotFoundError:
        return no_file(skill.slug, name, words)
    except (RefusedError, OSError, ValueError) as error:
        return unreadable(skill.slug, name, _reason(error, words), words)
    return within(SkillText(skill.slug, name, text, found=True), limit, unit, words)


def _reason(error: Exception, words: WordsSpec) -> str:
    """The reason why a file was not read, in the agent's words."""
    if isinstance(error, RefusedError):
        return str(error)
    if isinstance(error, OSError):
        return fill(words.skills.refused, {"reason": error.strerror or ""})
    return words.skills.not_a_text


def _folder(skill: Skill, allowed: Roots | None, words: WordsSpec) -> str:
    """The skill's folder, resolved again: it may have become a link since the skill was read."""
    if allowed is None:
        raise RefusedError(words.skills.instructions_only)
    try:
        return os.fspath(allowed.find(os.fspath(Path(skill.path).parent)).path)
    except SpecError:
        raise RefusedError(words.skills.outside) from None


def _file_text(folder: str, file: str, words: WordsSpec) -> str:
    parts = file.replace("\\", "/").split("/")
    if parts[0] == "" or ":" in parts[0] or "\0" in file:
        raise RefusedError(words.skills.not_relative)
    wanted = [part for part in parts if part not in {"", "."}]
    if not wanted or any(part.startswith(".") for part in wanted):
        raise RefusedError(words.skills.hidden)
    real = parts_below(folder, os.path.realpath(Path(folder).joinpath(*wanted)))
    if not real:
        raise RefusedError(words.skills.outside)
    try:
        return _text(read_below(folder, real, MAX_BYTES)[0])
    except TooLargeError:
        raise RefusedError(fill(words.skills.too_large, {"limit": words.number(MAX_BYTES)})) from None
    except RefusedError:
        raise RefusedError(words.skills.not_a_file) from None


def _text(data: bytes) -> str:
    return data.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
