"""Which skills a call may use."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from functools import lru_cache

import bracex
from wcmatch import glob

from cuecard.config.documents.document import Document, Path
from cuecard.config.sections.file_patterns import MAX_ANY_FOLDERS, MAX_PATH_NAMES
from cuecard.config.sections.skills_spec import SkillsSpec
from cuecard.errors import InputError, Problem, did_you_mean
from cuecard.model import Cut
from cuecard.model.tools import Skill
from cuecard.records import dataclass

MAX_ALTERNATIVES = 64
"""The maximum number of alternatives from braces in one pattern; one with more matches nothing."""

_FLAGS = glob.FORCEUNIX | glob.CASE | glob.GLOBSTAR | glob.DOTGLOB


def any_match(patterns: Iterable[str], paths: Iterable[str]) -> bool:
    """Whether a pattern matches a path.

    `*` and `?` stay within one name, `**` is any number of folders, `{a,b}` is either. A pattern without `/` is matched
    against the file's name only, one that ends in `/` against everything in the folder. Matching is case-sensitive; a
    backslash counts as a slash, and a leading `./` is ignored. A pattern of more than three `**` matches nothing: the
    time would grow with as many powers of the path's length.
    """
    named = [path for each in paths if (path := _plain(each)) and path.count("/") < MAX_PATH_NAMES]
    matchers = [_matcher(pattern) for pattern in patterns] if named else []
    return any(matches(path) for matches in matchers for path in named)


@lru_cache(maxsize=256)
def _matcher(written: str) -> Callable[[str], bool]:
    """What matches a plain path against a pattern as it is written."""
    pattern = written.strip().replace("\\", "/")
    try:
        alternatives = bracex.expand(pattern, limit=MAX_ALTERNATIVES)
    except bracex.ExpansionLimitException:
        return _nothing
    kept = [found for each in alternatives for found in _globs(each) if found.count("**") <= MAX_ANY_FOLDERS]
    return glob.compile(kept, flags=_FLAGS).match if kept else _nothing


def _globs(pattern: str) -> tuple[str, ...]:
    """A pattern without braces as globs of the whole path."""
    plain = _plain(pattern)
    if pattern.endswith("/"):
        return (plain, f"{plain}/**") if plain else ("**",)
    return (plain if "/" in pattern else f"**/{plain}",) if plain else ()


def _nothing(_path: str) -> bool:
    return False


def _plain(text: str) -> str:
    return "/".join(name for name in text.replace("\\", "/").split("/") if name not in {"", "."})


_MENTION = re.compile(r"(?<![\w$])\$(\w[\w./-]*)")


@dataclass(frozen=True, slots=True)
class Wish:
    """A call's request for skills.

    Attributes:
        task: the text in which `$name` mentions a skill.
        paths: the files in question.
        requested: slugs or display names; `*` for all.
        environment: the names of the environment variables that are set; None if unknown.
        tools: the names of the tools that exist for the call; None if unknown.
    """

    task: str = ""
    paths: Sequence[str] = ()
    requested: Sequence[str] = ()
    environment: Collection[str] | None = None
    tools: Collection[str] | None = None


@dataclass(frozen=True, slots=True)
class SkillChoice:
    """A skill to list, and why."""

    skill: Skill
    auto_load: bool = False
    requested: bool = False
    mentioned: bool = False
    path_matched: bool = False


def select_skills(
    skills: Iterable[Skill], spec: SkillsSpec, wish: Wish
) -> tuple[tuple[SkillChoice, ...], tuple[Cut, ...]]:
    """The skills to list, in order, and the reason why each other skill is not listed.

    Raises:
        InputError: with each requested skill that does not exist, unless `missing: record`.
    """
    everything = tuple(skills)
    usable, cuts = usable_skills(everything, spec, wish.environment, wish.tools)
    requested, unknown = _requested(everything, usable, [*spec.request, *wish.requested])
    if unknown and spec.missing == "error":
        raise InputError(_unknown(name, usable) for name in unknown)
    cuts += tuple(Cut(f"skill {name}", "requested, but there is no skill of that name") for name in unknown)
    mentioned = set(_mentioned(usable, wish.task)) if spec.mentions else set()
    all_chosen = [
        SkillChoice(
            skill,
            auto_load=skill.auto_load or names_skill(spec.eager, skill),
            requested=skill.slug in requested,
            mentioned=skill.slug in mentioned,
            path_matched=any_match(skill.paths, wish.paths),
        )
        for skill in usable
    ]
    kept = [one for one in all_chosen if _is_listed(one, spec)]
    cuts += tuple(Cut(f"skill {one.skill.slug}", "not requested") for one in all_chosen if not _is_listed(one, spec))
    if spec.sort != "root":
        kept.sort(key=lambda one: (one.skill.name if spec.sort == "name" else "", one.skill.slug))
    return tuple(kept), cuts


def usable_skills(
    skills: Iterable[Skill],
    spec: SkillsSpec,
    environment: Collection[str] | None = None,
    tools: Collection[str] | None = None,
) -> tuple[tuple[Skill, ...], tuple[Cut, ...]]:
    """The skills that may be shown or read at all, and the reason why each other skill may not."""
    judged = [(skill, _refusal(skill, spec, environment, tools)) for skill in skills]
    cuts = [
        Cut(f"skill {skill.slug}" + (f" ({skill.path})" if skill.shadowed_by else ""), reason)
        for skill, reason in judged
        if reason
    ]
    return tuple(skill for skill, reason in judged if not reason), tuple(cuts)


def find_skill(name: str, skills: Iterable[Skill]) -> Skill | None:
    """The skill with this slug or display name, ignoring case."""
    return _by_name(skills).get(_folded(name))


def names_skill(patterns: Iterable[str], skill: Skill) -> bool:
    """Whether one of the patterns matches the skill's slug or display name; `*` and `?` are wildcards, and case is
    ignored.
    """
    names = (_folded(skill.slug), _folded(skill.name))
    return any(fnmatchcase(name, _folded(pattern)) for pattern in patterns for name in names)


def check_skill_names(document: Document, at: Path, spec: SkillsSpec, skills: Iterable[Skill]) -> Iterator[Problem]:
    """A problem for each unknown skill name in an agent file.

    Args:
        document: the agent file.
        at: the path of the source in it, such as `("sections", 3, "skills")`.
        spec: that source.
        skills: all of its skills.
    """
    everything = tuple(skills)
    known = [skill.slug for skill in everything]
    for field in ("allow", "block", "eager", "request"):
        for index, name in enumerate(getattr(spec, field) or ()):
            if not any(names_skill((name,), skill) for skill in everything) and name != "*":
                must = field == "request" and spec.missing == "error"
                message = f"`{field}` names `{name}`, which is not a skill"
                severity = "error" if must else "warning"
                hint = did_you_mean(name, known)
                yield document.problem((*at, field, index), "unknown-skill", message, hint, severity=severity)


def _refusal(skill: Skill, spec: SkillsSpec, environment: Collection[str] | None, tools: Collection[str] | None) -> str:
    """Why a skill may not be shown; empty if it may."""
    if skill.shadowed_by:
        return f"{skill.shadowed_by} has the same name in an earlier root"
    if not skill.enabled:
        return "it is not enabled"
    for required, there, kind in (
        (skill.requires_env, environment, "the environment variable"),
        (skill.requires_tools, tools, "the tool"),
    ):
        lacking = [name for name in required if there is not None and name not in there]
        if lacking:
            return f"{kind} {lacking[0]} is missing"
    if names_skill(spec.block, skill):
        return "blocked by skills.block"
    if spec.allow is not None and not names_skill(spec.allow, skill):
        return "not in skills.allow"
    return ""


def _requested(
    everything: Sequence[Skill], usable: Sequence[Skill], names: Iterable[str]
) -> tuple[set[str], list[str]]:
    """The slugs of the usable skills with these names, and the unknown names."""
    slugs: set[str] = set()
    unknown: dict[str, str] = {}
    known, there = _by_name(usable), _by_name(everything)
    for name in (each.strip() for each in names):
        if name == "*":
            slugs.update(skill.slug for skill in usable)
        elif skill := known.get(_folded(name)):
            slugs.add(skill.slug)
        elif name and _folded(name) not in there:
            unknown.setdefault(_folded(name), name)
    return slugs, list(unknown.values())


def _mentioned(usable: Sequence[Skill], task: str) -> Iterator[str]:
    """The slugs mentioned as `$name`. A dollar sign before anything else, such as an amount, is ignored."""
    known = _by_name(usable)
    for word in map(_folded, dict.fromkeys(_MENTION.findall(task))):
        skill = known.get(word) or known.get(word.rstrip("./-"))
        if skill:
            yield skill.slug


def _is_listed(one: SkillChoice, spec: SkillsSpec) -> bool:
    return spec.show == "all" or one.auto_load or one.requested or one.mentioned or one.path_matched


def _unknown(name: str, usable: Iterable[Skill]) -> Problem:
    hint = did_you_mean(name, [skill.slug for skill in usable]) or "there are no skills"
    return Problem("unknown-skill", f"there is no skill `{name}`, which was requested", hint, "skills")


def _by_name(skills: Iterable[Skill]) -> dict[str, Skill]:
    """Each skill by slug, and by display name unless a slug is the same."""
    candidates = tuple(skills)
    found: dict[str, Skill] = {}
    for name, skill in (*((s.slug, s) for s in candidates), *((s.name, s) for s in candidates)):
        found.setdefault(_folded(name), skill)
    return found


def _folded(text: str) -> str:
    return unicodedata.normalize("NFC", text.strip()).casefold()
