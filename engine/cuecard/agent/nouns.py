"""The compiled agent and its sections."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from cuecard.catalogue import Catalogue
from cuecard.config.agent_file import AgentFile
from cuecard.config.models_file import ModelsFile
from cuecard.config.sections.section_spec import SectionSpec
from cuecard.errors import InputError, Problem, did_you_mean
from cuecard.model import FileText, Json, Tier
from cuecard.sources.content import Fill
from cuecard.sources.protocols import Protocol
from cuecard.template.layout_guard import LayoutGuard

WORKING_MEMORY, CURRENT_DATE, PROTOCOLS = "workingMemory", "currentDate", "activeProtocols"
SUMMARY = "conversationSummary"

UPDATE = "context-update"
"""What the id of a block begins with that says what changed since the conversation began, in every language."""

BUILT_IN: Mapping[str, Tier] = {WORKING_MEMORY: "call", CURRENT_DATE: "call", SUMMARY: "call", PROTOCOLS: "step"}
"""The placeholders that the engine fills itself, and how often each may change."""


CONTENT = "content:"
"""What stands before a section's id in the values of a call: what its source has made of the call."""

Edition: TypeAlias = tuple[str, str]
"""A profile and a variant, by name; empty for none."""


@dataclass(frozen=True, slots=True)
class Section:
    """A named part of the prompt: how often it may change, what it reads, where it is written, and how it renders.

    `heading` stands before it in the prompt, `lead` before the first section of its group, and `stable` says on which
    side of the layout's boundary it is. `spec` is how it is configured in a list of sections, `fill` its source.
    `values` are all values of a call that it depends on, by name: those that it reads, what its source has made, the
    date of a clock.
    """

    id: str
    tier: Tier
    reads: frozenset[str]
    source: str
    render: Callable[[Mapping[str, Json]], str]
    heading: str = ""
    lead: str = ""
    stable: bool = True
    spec: SectionSpec | None = None
    fill: Fill | None = None
    values: tuple[str, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        # Found once: every manifest tells it.
        made = {CONTENT + self.id} if self.fill else set[str]()
        date = {CURRENT_DATE} if self.spec and self.spec.clock else set[str]()
        object.__setattr__(self, "values", tuple(sorted(self.reads | made | date)))


@dataclass(frozen=True, slots=True)
class Agent:
    """One assistant's prompt, compiled from its files: immutable, and the same for the same texts.

    Attributes:
        spec: the agent file.
        sha256: the fingerprint of all of its files.
        sections: the parts of the prompt, in order.
        catalogue: every tool the agent could use.
        protocols: the rendered instructions by tool name.
        names: every element name that the prompt writes.
        warnings: what the check found and let pass.
        editions: the sections by profile and variant, where a call may choose.
        files: what sections show of files, by path.
        guard: what keeps values from looking like the layout of a list of sections.
        origins: which file wrote each value, where agent files were laid over each other.
        models: the agent's own model profiles.
    """

    spec: AgentFile
    sha256: str
    sections: tuple[Section, ...]
    catalogue: Catalogue
    protocols: Mapping[str, Protocol]
    names: frozenset[str]
    warnings: tuple[Problem, ...] = ()
    editions: Mapping[Edition, tuple[Section, ...]] = field(default_factory=dict)
    files: Mapping[str, FileText] = field(default_factory=dict)
    origins: Mapping[str, str] = field(default_factory=dict)
    guard: LayoutGuard | None = None
    models: ModelsFile | None = None

    @property
    def protocol_place(self) -> str:
        """The section in which protocols stand, as a tag: `<tool-usage-instructions>`, or by its title."""
        section = next((section for section in self.sections if PROTOCOLS in section.reads), None)
        if section is None:
            return self.spec.words.search.prompt
        return f"<{section.id}>" if section.spec is None else f"`{section.spec.title or section.id}`"

    def edition(self, profile: str = "", variant: str = "") -> tuple[Section, ...]:
        """The sections of a profile and a variant.

        Raises:
            InputError: when there is none of that name.
        """
        problems = [
            Problem("unknown-selection", f"there is no {kind} `{name}`", did_you_mean(name, known), f"turn.{kind}")
            for kind, name, known in (
                ("profile", profile, self.spec.profiles),
                ("variant", variant, self.spec.variants),
            )
            if name and name not in known
        ]
        if problems:
            raise InputError(problems)
        return self.editions.get((profile, variant), self.sections)

    def with_catalogue(self, catalogue: Catalogue) -> Agent:
        """The same agent with more known about its tools."""
        return replace(self, catalogue=catalogue)
