"""The compiled agent and its sections."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from cuecard.errors import Problem
from cuecard.model import Json, Tier
from cuecard.sections.protocols import Protocol
from cuecard.spec.agent_file import AgentFile
from cuecard.tools import Catalogue

WORKING_MEMORY, CURRENT_DATE, PROTOCOLS = "workingMemory", "currentDate", "activeProtocols"

UPDATE = "context-update"
"""The element around what changed since the conversation began, under `append` delivery."""

BUILT_IN: Mapping[str, Tier] = {WORKING_MEMORY: "call", CURRENT_DATE: "call", PROTOCOLS: "step"}
"""The placeholders that the engine fills itself, and how often each may change."""


@dataclass(frozen=True, slots=True)
class Section:
    """A named part of the prompt: how often it may change, what it reads, where it is written, and how it renders."""

    id: str
    tier: Tier
    reads: frozenset[str]
    source: str
    render: Callable[[Mapping[str, Json]], str]


@dataclass(frozen=True, slots=True)
class Agent:
    """One assistant's prompt, compiled from its files: immutable, and the same for the same texts.

    `protocols` holds the rendered instructions by tool name, `names` every element name that the prompt writes;
    `warnings` is what the check found and let pass.
    """

    spec: AgentFile
    sha256: str
    sections: tuple[Section, ...]
    catalogue: Catalogue
    protocols: Mapping[str, Protocol]
    names: frozenset[str]
    warnings: tuple[Problem, ...] = ()

    @property
    def protocol_place(self) -> str:
        """The section in which protocols stand, as a tag: `<tool-usage-instructions>`."""
        return next((f"<{section.id}>" for section in self.sections if PROTOCOLS in section.reads), "the prompt")

    def with_catalogue(self, catalogue: Catalogue) -> Agent:
        """The same agent with more known about its tools."""
        return replace(self, catalogue=catalogue)
