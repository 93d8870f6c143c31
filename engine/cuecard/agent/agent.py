"""The compiled agent, what hosts may know of it, and the skills that a call of it may use."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import field, replace
from fnmatch import fnmatchcase
from functools import cached_property
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

from cuecard.agent.host_functions import NamedRanker
from cuecard.agent.results import ResultForms, form_of
from cuecard.agent.sections.layout import Layout
from cuecard.agent.sections.section import PROTOCOLS, Section, SkillsFill
from cuecard.agent.sections.selections import Edition
from cuecard.agent.specification import core_tools
from cuecard.catalogue.catalogue import Catalogue
from cuecard.config.agent_file import AgentFile, BudgetSpec, InputSpec
from cuecard.config.models_file import ModelsFile
from cuecard.config.values import is_pattern
from cuecard.config.words_spec import WordsSpec
from cuecard.errors import InputError, Problem, did_you_mean
from cuecard.model import CallTools, CountTokens, Cut, FileText, Json, ReloadPolicy, Segment, ToolCard, Turn
from cuecard.model.prompt import LibraryOrigin
from cuecard.model.tools import Skill
from cuecard.records import dataclass
from cuecard.sources.memory import forget_rules
from cuecard.sources.skill_selection import usable_skills
from cuecard.sources.tools import Protocol
from cuecard.template.guards.gate import PromptGate

GatedText: TypeAlias = tuple[str, Mapping[str, int]]
"""The text of a section as a prompt shows it, and how often the gate neutralised what in it."""


class KeptText(NamedTuple):
    """What a section was, and will be with the same values; it keeps the section, so that no other gets its id."""

    section: Section
    values: Sequence[Json]
    made: GatedText


class KeptPiece(NamedTuple):
    """What a section was in a prompt, and will be wherever it has the same text, and the same precedes it.

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

    @cached_property
    def lists(self) -> tuple[str, ...]:
        """Its own tools of whose results only names and ids are read, and which may say what is gone."""
        return tuple(name for name, how in self.reads.items() if how == 1 and self.forgets(name))

    def forgets(self, tool: str) -> bool:
        """Whether a rule of `memory.forget` is for this tool."""
        return any(forget_rules(tool, self.spec.memory))

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
        return int(bool(named or self.forgets(tool) or (memory.extract and is_own)))

    @property
    def protocol_place(self) -> str:
        """The section that contains the protocols, as a tag (`<tool-usage-instructions>`) or by its title."""
        section = next((section for section in self.sections if PROTOCOLS in section.reads), None)
        if section is None:
            return self.spec.words.search.prompt
        return f"`{section.spec.title}`" if section.spec.title else section.label

    def gated(self, section: Section, values: Mapping[str, Json]) -> GatedText:
        """The text of a section with these values, and what the gate neutralised in it, made once until they change.

        Those of the last three values are kept: a section of instructions is filled with those of a call, asked for the
        place of others, and filled with those.

        Raises:
            TemplateRenderError: when it cannot be rendered with these values.
        """
        printed = None if section.prints is None else [values.get(name) for name in section.prints]
        kept = () if printed is None else self._texts.get(id(section), ())
        for at, known in enumerate(kept):
            if known.values == printed:
                if at:
                    self._texts[id(section)] = (known, *kept[:at], *kept[at + 1 :])
                return known.made
        text = self.layout.shown(section.render(values))
        made = self.gate.admit(text, section.own, raw=section.spec.trust == "author")
        if printed is not None and all(isinstance(value, str) for value in printed):
            self._texts[id(section)] = (KeptText(section, printed, made), *kept[:2])
        return made

    @cached_property
    def _texts(self) -> dict[int, tuple[KeptText, ...]]:
        """The last texts of each section; where two threads make one, either will do."""
        return {}

    @cached_property
    def pieces(self) -> dict[int, KeptPiece]:
        """The piece of a prompt that each section was last, by the identity of the section, made likewise."""
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


class AgentFacts:
    """What hosts may know of an agent, each fact as a property."""

    agent: Agent

    @property
    def name(self) -> str:
        """The agent's name."""
        return self.agent.spec.agent

    @property
    def sha256(self) -> str:
        """The fingerprint of all of the agent's files, in hex; `configuration.sha256` of calls."""
        return self.agent.sha256

    @property
    def tools(self) -> Mapping[str, ToolCard]:
        """The catalogue: every tool the agent could use, by name."""
        return self.agent.catalogue

    @property
    def tool_cuts(self) -> tuple[Cut, ...]:
        """What `with_tools` left out or truncated in a tool server's declarations, with reasons."""
        return self.agent.tool_cuts

    @property
    def core_tools(self) -> tuple[str, ...]:
        """The names of the tools that are active from the first step on, with the search tool where it can find any."""
        core, search = self.agent.core, self.search_tool
        return (search, *core) if self.agent.searched and search not in core else core

    @property
    def search_tool(self) -> str:
        """The name of the search tool: its results, and no others, discover tools."""
        return self.agent.search_tool

    @property
    def instructions(self) -> Mapping[str, str]:
        """The instructions of each tool that has any, as a prompt shows them, by tool name."""
        return MappingProxyType({name: protocol.text for name, protocol in self.agent.protocols.items()})

    @property
    def inputs(self) -> Mapping[str, InputSpec]:
        """The inputs that a turn supplies, by name: `type`, `default`, `required`, `trust` and `description`."""
        return MappingProxyType(self.agent.spec.inputs)

    @property
    def profiles(self) -> tuple[str, ...]:
        """The valid values of `Turn.profile`."""
        return tuple(self.agent.spec.profiles)

    @property
    def variants(self) -> tuple[str, ...]:
        """The valid values of `Turn.variant`."""
        return tuple(self.agent.spec.variants)

    @property
    def access(self) -> tuple[str, ...]:
        """The valid values of `Turn.access`."""
        return tuple(self.agent.spec.access)

    @property
    def sections(self) -> tuple[str, ...]:
        """The ids of the sections of a call without profile and variant, in order."""
        return tuple(section.id for section in self.agent.sections)

    @property
    def words(self) -> WordsSpec:
        """The texts that the engine itself sends to the model: `words` in the agent file."""
        return self.agent.spec.words

    @property
    def encoding(self) -> str:
        """The name of the encoding used to count tokens."""
        return self.agent.spec.tokens.encoding

    @property
    def reload(self) -> ReloadPolicy:
        """When changes of watched files reach a conversation."""
        return self.agent.spec.reload

    @property
    def warnings(self) -> tuple[Problem, ...]:
        """The warnings from checking the files."""
        return self.agent.warnings


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
