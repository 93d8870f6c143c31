"""SKILL.md files, by the Agent Skills specification (agentskills.io): front matter in YAML, then instructions.

`name` and `description` are the specification's. The other keys are read here or under its `metadata`, in any of the
spellings `requires_env`, `requires-env` and `requiresEnv`; unknown keys are ignored.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from cuecard.config.documents.document import Document
from cuecard.config.documents.sources import SkillSource
from cuecard.config.sections.skills_spec import SkillsSpec
from cuecard.config.skills.fields import SkillFields, is_field
from cuecard.config.skills.front_matter import read_front, split_front
from cuecard.errors import Problem, SpecError, visible
from cuecard.model import Json
from cuecard.model.tools import Skill
from cuecard.template import find_invisible

_SLUG = re.compile("[a-z0-9]+(?:-[a-z0-9]+)*")
MAX_NAME, MAX_DESCRIPTION = 64, 1024
"""The maximum lengths in characters from the specification; exceeding one is a warning."""


def read_skill_file(source: SkillSource, fallback: str | None = None) -> tuple[Skill | None, list[Problem]]:
    """The skill of one file, and its problems; None if it cannot be used.

    Args:
        source: the file.
        fallback: the description for a skill that has none. If given, a missing name is replaced by the slug, and
            problems of the front matter are warnings; otherwise, both are errors.
    """
    front = split_front(source.text, source.name)
    problems = [front.problem] if front.problem else []
    document = Document(source.name, source.text, {})
    if front.yaml is not None:
        try:
            document, problems = read_front(front.yaml, source.name, is_field)
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
    problems += [*reader.problems, *_too_long(reader, name, description), *_off_the_specification(reader, slug, name)]
    if fallback is not None:
        problems = [replace(problem, severity="warning") for problem in problems]
    problems += [*_bad_slug(source), *_invisible(source, reader)]
    return (None if _errors(problems) else skill), problems


def make_skills(sources: Iterable[SkillSource], spec: SkillsSpec) -> tuple[tuple[Skill, ...], tuple[Problem, ...]]:
    """Every usable skill, by root and path, and every problem; the order of `sources` does not matter.

    Files of roots that the spec does not name are ignored; a file in two roots belongs to the first. Of skills with
    equal slugs (ignoring case), the one with the first root and path counts; the others are `shadowed_by` it. An
    unusable skill is left out with a warning, as is a second one with the same name within one root. If the spec is
    `strict`, these are errors.
    """
    ranks = {root: rank for rank, root in reversed(list(enumerate(spec.roots)))}
    skills: list[Skill] = []
    problems: list[Problem] = []
    first: dict[str, SkillSource] = {}
    ours = sorted((s for s in sources if s.root in ranks), key=lambda s: (ranks[s.root], s.path), reverse=True)
    for source in reversed({source.path: source for source in ours}.values()):
        skill, found = read_skill_file(source, spec.fallback_description)
        if not spec.strict and (skill is None or find_invisible(source.text)):
            skill, found = None, [left_out(problem) for problem in found]
        problems += found
        if skill is None:
            continue
        other = first.setdefault(skill.slug.casefold(), source)
        is_double = other is not source and other.root == source.root
        if is_double:
            problems.append(_duplicate(skill.slug, other, source, strict=spec.strict))
        if not (is_double and spec.strict):
            skills.append(skill if other is source else replace(skill, shadowed_by=other.path))
    return tuple(skills), (*problems, *_without_skills(spec, ours))


def left_out(problem: Problem) -> Problem:
    """The same as a warning: one bad skill does not affect the others."""
    if problem.severity == "warning":
        return problem
    advice = "\n".join(filter(None, (problem.hint, "the skill is skipped; `strict: true` makes this an error")))
    return replace(problem, severity="warning", advice=advice)


def _without_skills(spec: SkillsSpec, sources: Sequence[SkillSource]) -> Iterator[Problem]:
    """A problem for each root without skills; files that were found but are not skills have their own problems."""
    for root in sorted({*spec.roots}.difference(source.root for source in sources)):
        message = f"`{visible(root)}` contains no readable skill"
        hint = "add folders with a SKILL.md, or remove it from `roots`"
        yield Problem("no-skills", message, hint, visible(root), severity="error" if spec.strict else "warning")


def _errors(problems: Iterable[Problem]) -> list[Problem]:
    return [problem for problem in problems if problem.severity == "error"]


def _duplicate(slug: str, first: SkillSource, second: SkillSource, *, strict: bool) -> Problem:
    message = f"two skills in `{second.root}` are named `{slug}`"
    hint = f"the first is {first.name}; rename one of the folders"
    problem = Problem("duplicate-skill", message, hint, second.name)
    return problem if strict else left_out(problem)


def _missing(document: Document, **fields: str) -> Iterator[Problem]:
    for field, value in fields.items():
        if not value:
            hint = f"add `{field}:` to the front matter"
            yield document.problem((field,), "missing-key", f"`{field}` is missing", hint, key=True)


def _too_long(reader: SkillFields, name: str, description: str) -> Iterator[Problem]:
    for field, text, limit in (("name", name, MAX_NAME), ("description", description, MAX_DESCRIPTION)):
        if len(text) > limit:
            message = f"`{field}` has {len(text):,} characters; the specification allows {limit:,}"
            hint = "shorten it: other tools may reject this file"
            path = reader.found[field]
            yield reader.document.problem(path, "long-text", message, hint, key=True, severity="warning")


def _off_the_specification(reader: SkillFields, slug: str, name: str) -> Iterator[Problem]:
    """Warnings for a folder's name, and for a `name` that should equal it but does not; titles are allowed."""
    hint = (
        "use lower-case letters, digits and single hyphens, the same for folder and `name`: other tools reject "
        "anything else"
    )
    if not _SLUG.fullmatch(slug):
        message = f"`{visible(slug)}` is not a valid name in the Agent Skills specification"
        yield Problem("skill-name", message, f"rename the folder: {hint}", reader.document.name, severity="warning")
    if name and name != slug and not re.search(r"[\sA-Z]", name):
        message = f"`name` is `{visible(name)[:MAX_NAME]}`, but the folder is `{visible(slug)}`"
        path = reader.found["name"]
        yield reader.document.problem(path, "skill-name", message, hint, severity="warning")


def _bad_slug(source: SkillSource) -> Iterator[Problem]:
    slug = source.slug
    if not slug or not slug.isprintable() or slug != slug.strip() or set(slug) & set("/\\"):
        hint = "rename the folder: lower-case letters, digits and hyphens"
        yield Problem("skill-name", f"`{visible(slug)}` is not a valid skill name", hint, visible(source.name))


def _invisible(source: SkillSource, reader: SkillFields) -> Iterator[Problem]:
    """An error for each invisible character written as an escape; others are found as in all files."""
    for path in reader.found.values():
        for character in dict.fromkeys(c for t in _strings(reader.value(path)) for _, c in find_invisible(t)):
            if character not in source.text:
                message = f"an escape sequence produces an invisible character, U+{ord(character):04X}"
                hint = "remove the escape: people cannot see the character, but models read it"
                yield reader.document.problem(path, "invisible-character", message, hint)


def _strings(value: Json) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, (dict, list)):
        for item in (*value, *value.values()) if isinstance(value, dict) else value:
            yield from _strings(item)
