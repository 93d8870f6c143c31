"""A section with its source: what fills it, what its text may read, and how both are rendered."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from cuecard.agent.sections.body import SkillsFill
from cuecard.agent.sections.conditions import asks_the_call
from cuecard.agent.sections.file_matches import check_matches
from cuecard.agent.world import World
from cuecard.config.sections.section_keys import SOURCES
from cuecard.config.sections.section_spec import SectionSpec
from cuecard.config.skills.skill_file import make_skills
from cuecard.errors import CuecardError, Problem
from cuecard.sources.clock import ClockSource
from cuecard.sources.content import Fill
from cuecard.sources.facts import compile_facts
from cuecard.sources.files.files import compile_files
from cuecard.sources.rows import compile_rows
from cuecard.sources.skills.skills import SkillsSource
from cuecard.sources.tools.tool_list import compile_tool_list
from cuecard.template import Escaping, clean, trusted, without_controls
from cuecard.template.syntax.nodes import Comment, Content, Mustache, Path, Statement

_LOCAL = {"clock": ("datetime", "date", "time", "timezone")}
"""The names that a source supplies to its section's text, besides `content`."""

_MARKS: Escaping = "marks"
"""How sources print data: marked, for the gate that checks the assembled section."""

_DEFAULT = {"clock": "{{{datetime}}}"}
"""The default text of a section with a source; `{{{content}}}` for all others."""


def source_of(spec: SectionSpec) -> str:
    """The key of a section's source; empty if it has only a text."""
    return next((name for name in SOURCES if getattr(spec, name) is not None), "")


def default_text(spec: SectionSpec) -> str:
    """The text of a section, or its default."""
    return spec.text if spec.text is not None else _DEFAULT.get(source_of(spec), "{{{content}}}")


def local_names(spec: SectionSpec) -> tuple[str, ...]:
    """The names other than inputs that the text of a section may read."""
    source = source_of(spec)
    return ("content", *_LOCAL.get(source, ())) if source else ()


def is_around(spec: SectionSpec, text: Iterable[Statement]) -> bool:
    """Whether a text is nothing but fixed text around the content of its source, so that it goes where that is blank.

    A text with blocks or other values decides for itself what it says then, and a source with `empty` or `otherwise`
    says something in its place.
    """
    source = getattr(spec, source_of(spec), None)
    if source is None or source.model_fields_set & {"empty", "otherwise"}:
        return False
    return all(isinstance(node, (Content, Comment)) or _prints(node, local_names(spec)) for node in text)


def _prints(node: Statement, names: Sequence[str]) -> bool:
    """Whether a statement prints one of these names and does nothing else."""
    head = node.call.head if isinstance(node, Mustache) and not node.call.has_arguments else None
    return isinstance(head, Path) and head.is_simple and head.original in names


def inputs_of(fill: Fill | None) -> Sequence[str]:
    """The inputs that a source reads."""
    return sorted(fill.inputs) if fill else ()


def is_constant(spec: SectionSpec) -> bool:
    """Whether source and condition depend on nothing but the inputs they read."""
    changing = source_of(spec) not in {"", "files"} or (spec.files is not None and spec.files.supplied)
    changing = changing or any(choice.condition for choice in spec.choose or ())
    return not changing and not (spec.when and asks_the_call(spec.when))


def fill_of(spec: SectionSpec, world: World) -> tuple[Fill | None, Sequence[Problem]]:
    """The compiled source of a section, and its problems."""
    try:
        return _compiled(spec, world)
    except CuecardError as error:
        return None, error.problems


def _is_told(problem: Problem, before: Sequence[Problem]) -> bool:
    """Whether a root has no skills because it does not exist, which was reported already."""
    missing = {each.message for each in before if each.code == "missing-file"}
    return problem.code == "no-skills" and f"`{problem.name}` is not a folder" in missing


def _compiled(spec: SectionSpec, world: World) -> tuple[Fill | None, Sequence[Problem]]:
    name = f"sections.{spec.id}"
    printed = trusted if spec.trust == "author" else str
    if spec.files:
        own = printed if spec.files.supplied else trusted
        unmatched = tuple(check_matches(spec.files, f"{name}.files", world))
        return compile_files(spec.files, f"{name}.files", escaping=_MARKS, printed=own, foreign=printed), unmatched
    if spec.tools:
        seen = world.spec.tools.visibility
        # A tool server may have written the descriptions.
        return compile_tool_list(spec.tools, f"{name}.tools", escaping=_MARKS, visibility=seen, printed=printed), ()
    if spec.skills:
        skills, problems = make_skills(world.sources.skills, spec.skills)
        problems = tuple(problem for problem in problems if not _is_told(problem, world.sources.problems))
        partials = {file.stem: file.text for file in world.sources.partials}
        source = SkillsSource(spec.skills, name=f"{name}.skills", partials=partials, escaping=_MARKS, printed=_cleaned)
        return SkillsFill(spec.skills, skills, source.reads, source.fill(skills)), problems
    return _of_values(spec, name, printed), ()


def _of_values(spec: SectionSpec, name: str, printed: Callable[[str], str]) -> Fill | None:
    """A source that reads only the values of a call."""
    if spec.facts:
        return compile_facts(spec.facts, f"{name}.facts", escaping=_MARKS, printed=printed)
    if spec.rows:
        return compile_rows(spec.rows, f"{name}.rows", escaping=_MARKS, printed=printed)
    return ClockSource(spec.clock) if spec.clock else None


def _cleaned(text: str) -> str:
    """Data without invisible and control characters."""
    return str(clean(without_controls(text))[0])
