"""The answers of a skill-reading tool that has no text, or only a part of it, in the agent's words."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from cuecard.config.values.placeholders import fill
from cuecard.config.words_spec import WordsSpec
from cuecard.errors import closest, visible
from cuecard.model.skills import SkillText
from cuecard.sources.skills.budget import Unit, prefix_of, size_of

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
