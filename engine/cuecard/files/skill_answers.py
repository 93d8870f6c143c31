"""Answers of a tool that reads skills."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from cuecard.config.values import fill
from cuecard.config.words_spec import ENGLISH, WordsSpec
from cuecard.errors import SpecError, closest, visible
from cuecard.files.confined_files import RefusedError, TooLargeError, read_below
from cuecard.files.roots import Roots, parts_below
from cuecard.files.safe_read import MAX_BYTES
from cuecard.model.tools import Skill, SkillText
from cuecard.sources.skill_budget import Unit, prefix_of, size_of
from cuecard.sources.skill_selection import find_skill

_LISTED = 12
"""The maximum number of skills that an answer names."""


def unknown_skill(asked: str, slugs: Iterable[str], words: WordsSpec) -> SkillText:
    """The answer for an unknown skill: the one that may be meant, or those that exist."""
    name, known = visible(asked)[:100], sorted(slugs)
    said = fill(words.skills.unknown, {"skill": words.quoted(name), "hint": _hint(asked, known, words)})
    return SkillText(name, message=said)


def no_file(skill: str, file: str, words: WordsSpec) -> SkillText:
    """The answer for an unknown file of a skill."""
    said = fill(words.skills.no_file, {"skill": words.quoted(skill), "file": words.quoted(file)})
    return SkillText(skill, file, message=said)


def unreadable(skill: str, file: str, reason: str, words: WordsSpec) -> SkillText:
    """The answer for an unreadable file, with a reason in the agent's words."""
    said = fill(words.skills.unreadable, {"file": words.quoted(file), "reason": reason})
    return SkillText(skill, file, message=said)


def within(found: SkillText, limit: int, unit: Unit, words: WordsSpec) -> SkillText:
    """The text within the limit; if it was cut, the message says so."""
    size = size_of(found.text, unit)
    if size <= limit:
        return found
    text = prefix_of(found.text, max(0, limit), unit)
    kept = words.number(size_of(text, unit))
    name = words.skills.bytes if unit == "bytes" else words.skills.characters
    said = fill(words.skills.cut_off, {"size": kept, "whole": words.number(size), "unit": name})
    return replace(found, text=text, message=said, truncated=True)


def _hint(asked: str, known: list[str], words: WordsSpec) -> str:
    if not known:
        return words.skills.none
    if similar := closest(asked, known):
        return fill(words.skills.similar, {"skill": words.quoted(similar)})
    listed = words.listed(f"`{slug}`" for slug in known[:_LISTED])
    return fill(words.skills.known, {"skills": listed + (words.marks.more if len(known) > _LISTED else "")})


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
