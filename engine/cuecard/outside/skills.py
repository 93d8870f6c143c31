"""Reads skills from their folders: every SKILL.md below the roots, and later, on demand, one text of one skill."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

from cuecard.config.documents.texts import SkillSource
from cuecard.config.values.placeholders import fill
from cuecard.config.words_spec import ENGLISH, WordsSpec
from cuecard.errors import Problem, visible
from cuecard.model.skills import Skill, SkillText
from cuecard.outside.confined_files import Entry, RefusedError, TooLargeError, entries, parts_below, read_below
from cuecard.outside.reading import MAX_BYTES
from cuecard.outside.reading import shown as _shown
from cuecard.sources.skills.answers import no_file, unknown_skill, unreadable, within
from cuecard.sources.skills.budget import Unit
from cuecard.sources.skills.selection import find_skill

FILE = "SKILL.md"
MAX_DEPTH = 16
"""How deep below its root a skill may lie."""
MAX_FOLDERS = 10_000
"""How many folders of a root are looked into."""

_Parts = tuple[str, ...]


def read_skill_texts(roots: Iterable[str], base: Path) -> tuple[tuple[SkillSource, ...], tuple[Problem, ...]]:
    """Every SKILL.md below these folders, by root and path, and what could not be read.

    Hidden folders are not looked into. A link counts only if it leads to a place below one of the roots that is not
    read anyway; one that leads elsewhere is a problem.

    Args:
        roots: folders, relative to `base`, as the agent file writes them.
        base: the agent file's folder.
    """
    wanted = tuple(dict.fromkeys(roots))
    allowed = tuple(os.path.realpath(base / root) for root in wanted)
    sources: list[SkillSource] = []
    problems: list[Problem] = []
    for root, real in zip(wanted, allowed, strict=True):
        reader = _Root(root, real, base, allowed)
        reader.read()
        sources += sorted(reader.sources, key=lambda source: source.path)
        problems += reader.problems
    return tuple(sources), tuple(problems)


class _Root:
    """Reads one root. `shown` parts are the path as people see it, `parts` the true ones below a real folder."""

    def __init__(self, root: str, real: str, base: Path, allowed: tuple[str, ...]) -> None:
        self.root, self.real, self.base, self.allowed = root, real, base, allowed
        self.sources: list[SkillSource] = []
        self.problems: list[Problem] = []
        self.links: list[tuple[_Parts, str]] = []
        self.folders: set[tuple[int, int]] = set()
        self.files: set[tuple[int, int]] = set()

    def read(self) -> None:
        if not Path(self.real).is_dir():
            hint = f"no such folder: {_shown(self.base / self.root)}"
            self.problem((), "missing-file", f"`{self.root}` is not a folder", hint)
            return
        # What stands there itself comes first, so that a link to it adds nothing.
        self.walk(self.real, (), ())
        while self.links:
            links, self.links = sorted(self.links), []
            for shown, target in links:
                self.follow(shown, target)

    def walk(self, real: str, parts: _Parts, shown: _Parts) -> None:
        if len(shown) > MAX_DEPTH or len(self.folders) >= MAX_FOLDERS:
            hint = f"at most {MAX_FOLDERS:,} folders, {MAX_DEPTH} deep; name the folders of the skills in `roots`"
            self.problem(shown, "large-folder", "there is too much in here to look for skills", hint)
            return
        try:
            found = entries(real, parts)
        except OSError as error:
            self.problem(shown, "unreadable-file", f"{error.strerror}", "check the folder's permissions")
            return
        for entry in found:
            self.meet(entry, real, (*parts, entry.name), (*shown, entry.name))

    def meet(self, entry: Entry, real: str, parts: _Parts, shown: _Parts) -> None:
        if entry.is_link and (entry.name == FILE or not entry.name.startswith(".")):
            self.links.append((shown, os.path.realpath(os.path.join(real, *parts))))  # noqa: PTH118 - pure text
        elif entry.name == FILE:
            self.file(real, parts, shown)
        elif entry.is_folder and not entry.name.startswith(".") and entry.identity not in self.folders:
            self.folders.add(entry.identity)
            self.walk(real, parts, shown)

    def follow(self, shown: _Parts, target: str) -> None:
        path = Path(target)
        if shown[-1] != FILE and not path.is_dir():
            return
        real = next((root for root in self.allowed if parts_below(root, target) is not None), None)
        if real is None:
            hint = "copy it into the folder, or name the place it leads to in `roots`"
            self.problem(shown, "link-outside", f"a link that leads out of the roots, to {visible(target)}", hint)
        elif shown[-1] == FILE:
            self.file(real, parts_below(real, target) or (), shown)
        elif (identity := _identity(path)) not in self.folders and target != self.real:
            self.folders.add(identity)
            self.walk(real, parts_below(real, target) or (), shown)

    def file(self, real: str, parts: _Parts, shown: _Parts) -> None:
        name = visible(_shown(self.place(shown)))
        try:
            data, identity = read_below(real, parts, MAX_BYTES)
        except TooLargeError as error:
            self.problem(shown, "large-file", f"{error}", "move what is seldom needed into other files of the folder")
            return
        except RefusedError as error:
            self.problem(shown, "unreadable-file", f"{error}", f"a skill is a text file called {FILE}")
            return
        except OSError as error:
            self.problem(shown, "unreadable-file", f"{error.strerror}", "check the file's permissions")
            return
        if identity in self.files:
            return
        self.files.add(identity)
        try:
            text = _text(data)
        except UnicodeDecodeError as error:
            line = data[: error.start].count(b"\n") + 1
            message = f"byte 0x{data[error.start]:02X} in line {line} is not UTF-8"
            self.problem(shown, "encoding", message, "save the file as UTF-8")
            return
        path = PurePosixPath(os.path.relpath(self.place(shown), self.base)).as_posix()
        slug = shown[-2] if len(shown) > 1 else Path(self.real).name
        self.sources.append(SkillSource(name, path, text, slug, self.root))

    def place(self, shown: _Parts) -> Path:
        return (self.base / self.root).joinpath(*shown)

    def problem(self, shown: _Parts, code: str, message: str, hint: str) -> None:
        self.problems.append(Problem(code, message, hint, visible(_shown(self.place(shown)))))


def read_skill(
    skills: Iterable[Skill],
    slug: str,
    *,
    file: str = "",
    base: str | Path | None = None,
    limit: int = 24_000,
    unit: Unit = "bytes",
    words: WordsSpec = ENGLISH,
) -> SkillText:
    """What a `read_skill` tool answers: the instructions of a skill, or a file of its folder. It never raises.

    Args:
        skills: the skills that this call may use; no other exists for it.
        slug: the slug or display name, in any case.
        file: a file of the skill's folder, relative to it, such as `references/forms.md`; empty for the instructions.
        base: the agent file's folder; without it no file can be read.
        limit: how long the text may be.
        unit: what the limit counts.
        words: what the message says where there is no text, or only a part of it.
    """
    known = tuple(skills)
    skill = find_skill(slug.strip().removeprefix("$"), known)
    if skill is None:
        return unknown_skill(slug, (each.slug for each in known), words)
    if not file:
        return within(SkillText(skill.slug, text=skill.body, found=True), limit, unit, words)
    shown = visible(file)[:200]
    try:
        text = _file_text(skill, file, base, words)
    except FileNotFoundError:
        return no_file(skill.slug, shown, words)
    except (RefusedError, OSError, ValueError) as error:
        return unreadable(skill.slug, shown, _reason(error, words), words)
    return within(SkillText(skill.slug, shown, text, found=True), limit, unit, words)


def _reason(error: Exception, words: WordsSpec) -> str:
    """Why a file is not read, in the agent's words."""
    if isinstance(error, RefusedError):
        return str(error)
    if isinstance(error, OSError):
        return fill(words.skills.refused, {"reason": error.strerror or ""})
    return words.skills.not_a_text


def _file_text(skill: Skill, file: str, base: str | Path | None, words: WordsSpec) -> str:
    if base is None:
        raise RefusedError(words.skills.instructions_only)
    parts = file.replace("\\", "/").split("/")
    if parts[0] == "" or ":" in parts[0] or "\0" in file:
        raise RefusedError(words.skills.not_relative)
    wanted = [part for part in parts if part not in {"", "."}]
    if not wanted or any(part.startswith(".") for part in wanted):
        raise RefusedError(words.skills.hidden)
    folder = os.path.realpath((Path(base) / skill.path).parent)
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


def _identity(folder: Path) -> tuple[int, int]:
    seen = folder.stat()
    return seen.st_dev, seen.st_ino
