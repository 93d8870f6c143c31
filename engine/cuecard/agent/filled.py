"""A section with its source: what fills it, what its text may read, and how the two are printed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from cuecard.agent.conditions import asks_for_tools
from cuecard.agent.nouns import CONTENT
from cuecard.config.documents.texts import AgentSources
from cuecard.config.sections.section_spec import SOURCES, LayoutSpec, SectionSpec
from cuecard.config.sections.skills_spec import SkillsSpec
from cuecard.config.sections.tool_list_spec import VisibilitySpec
from cuecard.config.skills.skill_file import make_skills
from cuecard.errors import CuecardError, Problem
from cuecard.model import Json
from cuecard.model.skills import Skill
from cuecard.sources.clock import ClockSource
from cuecard.sources.content import Content, Fill, Given
from cuecard.sources.facts import compile_facts
from cuecard.sources.files.files import compile_files
from cuecard.sources.rows import compile_rows
from cuecard.sources.skills.skills import SkillsSource
from cuecard.sources.tools.tool_list import compile_tool_list
from cuecard.template import Template, clean, trusted, trusted_value, without_controls
from cuecard.template.guard import escape_text
from cuecard.template.layout_guard import LayoutGuard, guard_layout

_LOCAL = {"clock": ("datetime", "date", "time", "timezone")}
"""What a source supplies to its section's text, besides `content`."""

_DEFAULT = {"clock": "{{{datetime}}}"}
"""The text of a section with a source and no text of its own; `{{{content}}}` for all others."""


@dataclass(frozen=True, slots=True)
class Filled:
    """The text of a section as a function of the values of a call."""

    template: Template
    id: str
    trusted: bool

    def __call__(self, values: Mapping[str, Json]) -> str:
        """The section's body.

        Raises:
            TemplateRenderError: when the text cannot be rendered with these values.
        """
        # Escaped where it was made; marked again, because a call may have travelled as JSON.
        own = trusted_value(values.get(CONTENT + self.id, {}))
        everything = {**values, **own}
        return self.template.render(trusted_value(everything) if self.trusted else everything)


def source_of(spec: SectionSpec) -> str:
    """The key of what fills a section; empty when it is a text alone."""
    return next((name for name in SOURCES if getattr(spec, name) is not None), "")


def default_text(spec: SectionSpec) -> str:
    """The text of a section, or what stands for it."""
    return spec.text if spec.text is not None else _DEFAULT.get(source_of(spec), "{{{content}}}")


def local_names(spec: SectionSpec) -> tuple[str, ...]:
    """What the text of a section may read that is no input."""
    source = source_of(spec)
    return ("content", *_LOCAL.get(source, ())) if source else ()


def inputs_of(fill: Fill | None) -> Sequence[str]:
    """The inputs that a source reads."""
    return sorted(getattr(fill, "inputs", ()))


def is_constant(spec: SectionSpec) -> bool:
    """Whether source and condition, apart from the inputs they read, give the same for every call."""
    changing = source_of(spec) not in {"", "files"} or (spec.files is not None and spec.files.supplied)
    return not changing and not (spec.when and asks_for_tools(spec.when))


@dataclass(frozen=True, slots=True)
class World:
    """What sources are compiled with: the agent's files, layout and gates, and what keeps values from faking a layout.

    `names` are the elements that the agent's texts write.
    """

    sources: AgentSources
    layout: LayoutSpec
    visibility: VisibilitySpec
    guard: LayoutGuard
    names: frozenset[str] = frozenset()


def fill_of(spec: SectionSpec, world: World) -> tuple[Fill | None, Sequence[Problem]]:
    """The source of a section, compiled, and what is wrong with it.

    Args:
        spec: the section.
        world: what it is compiled with.
    """
    try:
        return _compiled(spec, world)
    except CuecardError as error:
        return None, error.problems


def _compiled(spec: SectionSpec, world: World) -> tuple[Fill | None, Sequence[Problem]]:
    name, escaping = f"sections.{spec.id}", world.layout.escaping
    printed = trusted if spec.trust == "author" else partial(_guarded, world)
    if spec.files:
        own = printed if spec.files.supplied else trusted
        return compile_files(spec.files, f"{name}.files", escaping=escaping, printed=own), ()
    if spec.tools:
        seen = world.visibility
        # A tool server may have written the descriptions.
        return compile_tool_list(spec.tools, f"{name}.tools", escaping=escaping, visibility=seen, printed=printed), ()
    if spec.skills:
        return _skills(spec.skills, f"{name}.skills", world)
    if spec.facts:
        return compile_facts(spec.facts, f"{name}.facts", escaping=escaping, printed=printed), ()
    if spec.rows:
        return compile_rows(spec.rows, f"{name}.rows", escaping=escaping, printed=printed), ()
    return ClockSource(spec.clock) if spec.clock else None, ()


@dataclass(frozen=True, slots=True)
class SkillsFill:
    """A source of skills with the skills themselves."""

    spec: SkillsSpec
    skills: tuple[Skill, ...]
    inputs: frozenset[str]
    fill: Fill

    def __call__(self, given: Given) -> Content:
        """The list of skills for one call."""
        return self.fill(given)


def _skills(spec: SkillsSpec, name: str, world: World) -> tuple[Fill, Sequence[Problem]]:
    skills, problems = make_skills(world.sources.skills, spec)
    partials = {file.stem: file.text for file in world.sources.partials}
    printed = partial(_guarded, world)
    source = SkillsSource(spec, name=name, partials=partials, escaping=world.layout.escaping, printed=printed)
    return SkillsFill(spec, skills, source.reads, source.fill(skills)), problems


def _guarded(world: World, text: str) -> str:
    """Data that can be neither a part of the layout nor an element of another section."""
    seen = str(clean(without_controls(text))[0])
    return escape_text(guard_layout(seen, world.guard)[0], world.names, mode=world.layout.escaping)
