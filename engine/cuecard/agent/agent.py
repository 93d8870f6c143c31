"""The compiled agent, and the skills that a call of it may use."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import field, replace
from fnmatch import fnmatchcase
from functools import cached_property
from typing import NamedTuple, TypeAlias

from cuecard.agent.host_functions import NamedRanker
from cuecard.agent.results import ResultForms, form_of
from cuecard.agent.sections.layout import Layout
from cuecard.agent.sections.section import PROTOCOLS, Section, SkillsFill
from cuecard.agent.sections.selections import Edition
from cuecard.agent.specification import core_tools
from cuecard.catalogue.catalogue import Catalogue
from cuecard.config.agent_file import AgentFile, BudgetSpec
from cuecard.config.models_file import ModelsFile
from cuecard.config.values import is_pattern
from cuecard.errors import InputError, Problem, did_you_mean
from cuecard.model import CallTools, CountTokens, Cut, FileText, Json, Segment, Turn
from cuecard.model.prompt import LibraryOrigin
from cuecard.model.tools import Skill
from cuecard.records import dataclass
from cuecard.sources.memory import forget_rules
from cuecard.sources.skill_selection import usable_skills
from cuecard.sources.tools import Protocol
from cuecard.template.guards.gate import PromptGate

GatedText: TypeAlias = tuple[str, Mapping[str, int]]
"""The text of a section as a prompt shows it, and how often the gate neutralised what in it."""


class FixedPiece(NamedTuple):
    """What a fixed section was in a prompt, and will be wherever the same text precedes it.

    Attributes:
        section: the section.
        count: what counted its tokens.
        before: the end of the text before it, as far as it matters for them.
        text: its text, with what joins it to others.
        segment: the segment.
        end: the end of the text with it.
    """

    section: Section
    count: CountTokens
    before: str
    text: str
    segment: Segment
    end: str


@dataclass(frozen=True)
class Agent:
    """One assistant's prompt, compiled from its files: immutable, and identical for identical texts.

    Internal: hosts read the same facts as properties of `Engine`.

    Attributes:
        spec: the agent file.
        sha256: the fingerprint of all of its files.
        editions: the parts of the prompt in order, by profile and variant: the sections, and the tags of a template's
            root element around them.
        layout: how the sections are joined.
        catalogue: every tool the agent could use.
        core: the names of the core tools, including those that the files name and no catalogue knows.
        protocols: the rendered instructions by tool name.
        names: every element name that the prompt writes.
        warnings: the warnings of the file check.
        files: the file contents that sections show, by path.
        origins: which file wrote each value, if agent files, or an agent file and a template, are layered.
        models: the agent's own model profiles.
        tool_cuts: what was left out of a tool server's declarations, with reasons.
        gate: the gate that every text passes through on its way into a prompt.
        results: how tool results are rendered.
        ranker: how tools are ranked for searches, and where that is configured.
        library: which version of a library it is; None for files.
    """

    spec: AgentFile
    sha256: str
    editions: Mapping[Edition, tuple[Section, ...]]
    layout: Layout
    catalogue: Catalogue
    core: tuple[str, ...]
    protocols: Mapping[str, Protocol]
    names: frozenset[str]
    warnings: tuple[Problem, ...] = ()
    files: Mapping[str, FileText] = field(default_factory=dict)
    origins: Mapping[str, str] = field(default_factory=dict)
    models: ModelsFile | None = None
    tool_cuts: tuple[Cut, ...] = ()
    gate: PromptGate = PromptGate()
    ranker: NamedRanker = NamedRanker()
    results: ResultForms = ()
    library: LibraryOrigin | None = None

    def __repr__(self) -> str:
        """Its name and its state: whoever shows an engine does not want a prompt of thousands of tokens."""
        return f"Agent({self.spec.agent!r}, sha256={self.sha256[:12]!r})"

    @cached_property
    def sections(self) -> tuple[Section, ...]:
        """The sections of a call without profile and variant, in order."""
        return tuple(section for section in self.editions["", ""] if not section.frame)

    @cached_property
    def budget(self) -> BudgetSpec:
        """Its budgets."""
        return self.spec.budget

    @cached_property
    def core_names(self) -> frozenset[str]:
        """The core tools, to look names up in."""
        return frozenset(self.core)

    @cached_property
    def search_tool(self) -> str:
        """The name of the search tool."""
        return self.spec.tools.search.tool

    @cached_property
    def owns_search(self) -> bool:
        """Whether the search tool is the engine's own: neither a file nor the host describes it."""
        return self.search_tool not in self.catalogue

    @cached_property
    def named(self) -> tuple[str, ...]:
        """The core tools that the agent file names itself; patterns match the others."""
        return tuple(name for name in self.spec.tools.core if not is_pattern(name))

    @cached_property
    def searched(self) -> tuple[str, ...]:
        """The tools that a search may find: those of the catalogue that are not core tools."""
        out = {*self.core, self.search_tool}
        return tuple(name for name in self.catalogue if name not in out)

    @cached_property
    def pending(self) -> str:
        """The key by which results ask for confirmation; empty if nothing depends on it."""
        return self.spec.tools.cues.pending if self.spec.tools.cues.on_result else ""

    @cached_property
    def reads(self) -> Mapping[str, int]:
        """How much is read of the results of each of its own tools."""
        return {name: self.read_of(name, is_own=True) for name in (self.search_tool, *self.catalogue, *self.core)}

    def read_of(self, tool: str, *, is_own: bool) -> int:
        """How much is read of a tool's results: nothing (0), ids and names in them (1), all of them (2), or all of
        them, which a template then tells (3).
        """
        if tool == self.search_tool:
            return 2
        if form_of(self.results, tool):
            return 3
        memory = self.spec.memory
        named = memory.extract and any(fnmatchcase(tool, kind) for kind in memory.types if kind != "*")
        return int(bool(named or any(forget_rules(tool, memory)) or (memory.extract and is_own)))

    @property
    def protocol_place(self) -> str:
        """The section that contains the protocols, as a tag (`<tool-usage-instructions>`) or by its title."""
        section = next((section for section in self.sections if PROTOCOLS in section.reads), None)
        if section is None:
            return self.spec.words.search.prompt
        return f"`{section.spec.title}`" if section.spec.title else section.label

    def gated(self, section: Section, values: Mapping[str, Json]) -> GatedText:
        """The text of a section with these values, and what the gate neutralised in it; of a fixed one, made once.

        Raises:
            TemplateRenderError: when it cannot be rendered with these values.
        """
        known = self._fixed.get(id(section)) if section.fixed else None
        if known is not None:
            return known[1]
        text = self.layout.shown(section.render(values))
        made = self.gate.admit(text, section.own, raw=section.spec.trust == "author")
        if section.fixed:
            self._fixed[id(section)] = section, made  # it is kept, so that no other gets its id
        return made

    @cached_property
    def _fixed(self) -> dict[int, tuple[Section, GatedText]]:
        """The texts of fixed sections that have been made; two threads may make one, and both make the same."""
        return {}

    @cached_property
    def pieces(self) -> dict[int, FixedPiece]:
        """The pieces of prompts that fixed sections were last, by the identity of the section, made likewise."""
        return {}

    def existing(self, tools: CallTools) -> Collection[str]:
        """The tools that exist for a call, to look names up in: a whole catalogue can do that itself."""
        return self.catalogue.keys() if tools.available is self.catalogue.names else tools.available_names

    def edition(self, profile: str = "", variant: str = "") -> tuple[Section, ...]:
        """The parts of the prompt under a profile and a variant: its sections, and the frame around them.

        Raises:
            InputError: when there is no such profile or variant.
        """
        if (profile, variant) in self.editions:
            return self.editions[profile, variant]
        raise InputError(self.unknown_selection(profile, variant))

    def unknown_selection(self, profile: str, variant: str, access: str = "") -> list[Problem]:
        """The problem of an unknown profile, variant or access."""

        def hint(name: str, kind: str, known: Mapping[str, object]) -> str:
            return did_you_mean(name, known) or f"this agent has no {kind}{'' if kind == 'access' else 's'}"

        return [
            Problem("unknown-selection", f"there is no {kind} `{name}`", hint(name, kind, known), f"turn.{kind}")
            for kind, name, known in (
                ("profile", profile, self.spec.profiles),
                ("variant", variant, self.spec.variants),
                ("access", access, self.spec.access),
            )
            if name and name not in known
        ]

    def with_catalogue(self, catalogue: Catalogue, cuts: tuple[Cut, ...] = ()) -> Agent:
        """The same agent with more information about its tools, and what was left out of it."""
        core = core_tools(self.spec.tools, catalogue)
        told = tuple(dict.fromkeys((*self.tool_cuts, *cuts)))
        return replace(self, catalogue=catalogue, core=core, tool_cuts=told)


def usable_skills_of(agent: Agent, turn: Turn) -> tuple[Skill, ...]:
    """The skills of all sections of the turn's profile and variant, each slug once.

    Raises:
        InputError: when the turn names a profile or a variant that does not exist.
    """
    found: dict[str, Skill] = {}
    for section in agent.edition(turn.profile, turn.variant):
        if isinstance(section.fill, SkillsFill):
            skills, _ = usable_skills(section.fill.skills, section.fill.spec, turn.environment, turn.tools)
            for skill in skills:
                found.setdefault(skill.slug, skill)
    return tuple(found.values())
