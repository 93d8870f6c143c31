"""SKILL.md files, by the Agent Skills specification (agentskills.io): front matter in YAML, then instructions.

`name` and `description` are the specification's. The other keys are read here or under its `metadata`, in any of the
spellings `requires_env`, `requires-env` and `requiresEnv`; keys that nobody reads here are kept out of the way.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import replace

from cuecard.config.documents.texts import SkillSource
from cuecard.config.documents.yaml_text import Document
from cuecard.config.sections.skills_spec import SkillsSpec
from cuecard.config.skills.fields import SkillFields
from cuecard.config.skills.front_matter import read_front, split_front
from cuecard.errors import Problem, SpecError, visible
from cuecard.model import Json
from cuecard.model.skills import Skill
from cuecard.template import find_invisible

MAX_NAME, MAX_DESCRIPTION = 64, 1024
"""How many characters the specification gives to each; more is a warning."""


def read_skill_file(source: SkillSource, fallback: str | None = None) -> tuple[Skill | None, list[Problem]]:
    """The skill of one file, and what is wrong with it; None if it cannot be used.

    Args:
        source: the file.
        fallback: the description of a skill that has none. If it is given, a missing name is the slug, and whatever is
            wrong with the front matter is a warning. Without it, both are errors.
    """
    front = split_front(source.text, source.name)
    problems = [front.problem] if front.problem else []
    document = Document(source.name, source.text, {})
    if front.yaml is not None:
        try:
            document, problems = read_front(front.yaml, source.name)
        except SpecError as error:
            problems = list(error.problems)
    reader = SkillFields(document)
    name, description = " ".join(reader.text("name").split()), reader.text("description").strip()
    if fallback is None and not _errors([*problems, *reader.problems]):
        problems += _missing(document, name=name, description=description)
    slug = unicodedata.normalize("NFC", source.slug)
    skill = Skill(
        slug=slug,
        name=name or slug,
        description=description or fallback or "",
        path=source.path,
        body=front.body,
        auto_load=reader.flag("auto_load", default=False),
        requires_env=reader.texts("requires_env"),
        requires_tools=reader.texts("requires_tools"),
        auth_profiles=tuple(sorted(reader.texts("auth_profiles"))),
        paths=reader.texts("paths"),
        enabled=reader.flag("enabled", default=True),
        source=source.root,
    )
    problems += [*reader.problems, *_too_long(reader, name, description)]
    if fallback is not None:
        problems = [replace(problem, severity="warning") for problem in problems]
    problems += [*_bad_slug(source), *_invisible(source, reader)]
    return (None if _errors(problems) else skill), problems


def make_skills(sources: Iterable[SkillSource], spec: SkillsSpec) -> tuple[tuple[Skill, ...], tuple[Problem, ...]]:
    """Every skill that can be used, by root and path, and every problem; the order of `sources` is no matter.

    Files of other roots than the spec's are not looked at; a file that two roots hold counts as that of the first.
    Of skills with equal slugs (in any case), that of the first root counts; the others are `shadowed_by` it. Within one
    root they are an error.
    """
    ranks = {root: rank for rank, root in reversed(list(enumerate(spec.roots)))}
    skills: list[Skill] = []
    problems: list[Problem] = []
    first: dict[str, SkillSource] = {}
    ours = sorted((s for s in sources if s.root in ranks), key=lambda s: (ranks[s.root], s.path), reverse=True)
    for source in reversed({source.path: source for source in ours}.values()):
        skill, found = read_skill_file(source, spec.fallback_description)
        problems += found
        if skill is None:
            continue
        other = first.setdefault(skill.slug.casefold(), source)
        if other is not source and other.root == source.root:
            problems.append(_duplicate(skill.slug, other, source))
        else:
            skills.append(skill if other is source else replace(skill, shadowed_by=other.path))
    return tuple(skills), tuple(problems)


def _errors(problems: Iterable[Problem]) -> list[Problem]:
    return [problem for problem in problems if problem.severity == "error"]


def _duplicate(slug: str, first: SkillSource, second: SkillSource) -> Problem:
    message = f"`{slug}` is the name of two skills in `{second.root}`"
    return Problem("duplicate-skill", message, f"the first is {first.name}; rename one of the folders", second.name)


def _missing(document: Document, **fields: str) -> Iterator[Problem]:
    for field, value in fields.items():
        if not value:
            hint = f"add `{field}:` to the front matter"
            yield document.problem((field,), "missing-key", f"`{field}` is missing", hint, key=True)


def _too_long(reader: SkillFields, name: str, description: str) -> Iterator[Problem]:
    for field, text, limit in (("name", name, MAX_NAME), ("description", description, MAX_DESCRIPTION)):
        if len(text) > limit:
            message = f"`{field}` has {len(text):,} characters; the specification allows {limit:,}"
            hint = "shorten it: other readers of this file may refuse it"
            path = reader.found[field]
            yield reader.document.problem(path, "long-text", message, hint, key=True, severity="warning")


def _bad_slug(source: SkillSource) -> Iterator[Problem]:
    slug = source.slug
    if not slug or not slug.isprintable() or slug != slug.strip() or set(slug) & set("/\\"):
        hint = "rename the folder: lower-case letters, digits and hyphens"
        yield Problem("skill-name", f"`{visible(slug)}` cannot be the name of a skill", hint, visible(source.name))


def _invisible(source: SkillSource, reader: SkillFields) -> Iterator[Problem]:
    """An error for each invisible character that an escape makes. Texts themselves are searched as all files are."""
    for path in reader.found.values():
        for character in dict.fromkeys(c for t in _strings(reader.value(path)) for _, c in find_invisible(t)):
            if character not in source.text:
                message = f"an escape makes an invisible character, U+{ord(character):04X}"
                hint = "remove the escape: models read what people cannot see"
                yield reader.document.problem(path, "invisible-character", message, hint)


def _strings(value: Json) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, (dict, list)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _strings(item)
