"""A section of the compiled agent, and what the engine itself supplies to sections."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import TypeAlias

from cuecard.config.sections.condition import ConditionSpec
from cuecard.config.sections.section_spec import SectionSpec
from cuecard.model import Json, Tier
from cuecard.records import dataclass
from cuecard.sources.content import Fill
from cuecard.template.guards.layout_guard import LayoutGuard

WORKING_MEMORY, CURRENT_DATE, PROTOCOLS = "workingMemory", "currentDate", "activeProtocols"
SUMMARY = "conversationSummary"

BUILT_IN: Mapping[str, Tier] = {WORKING_MEMORY: "call", CURRENT_DATE: "call", SUMMARY: "call", PROTOCOLS: "step"}
"""The placeholders that the engine fills itself, and how often each may change."""

UPDATE = "context-update"
"""What the id of a block begins with that says what changed since the conversation began, in every language."""

CONTENT = "content:"
"""What stands before a section's id in the values of a call: what its source has made of the call."""

CHOICE = "choice:"
"""What stands before a section's id in the values of a call: which of its texts it has there."""

Render: TypeAlias = Callable[[Mapping[str, Json]], str]
"""A text as a function of the values of a call."""


@dataclass(frozen=True, slots=True)
class Section:
    """A named part of the prompt, whoever wrote it: an element of a template, or an entry of a list.

    Attributes:
        spec: how it is configured: its id, role, condition, priority, budget.
        tier: how often it may change.
        reads: the inputs and built-in values that its text, its condition and its source read.
        source: where its text is written, as `file:line`.
        render: its text.
        label: how errors call it, such as `<identity>`.
        heading: what stands before it in the prompt.
        leads: the groups that it stands in, the outermost first, each with what stands before its first section.
        stable: on which side of the layout's boundary it is.
        fill: its source.
        own: what begins each entry of its source, so that no data in the section can pose as the next one.
        frame: whether it is a tag of the root element: always there, and no section to anybody.
        choices: when each of its texts counts, None for always, and where that text is written.
        values: all values of a call that it depends on, by name: those that it reads, what its source has made, the
            date of a clock.
    """

    spec: SectionSpec
    tier: Tier
    reads: frozenset[str]
    source: str
    render: Render
    label: str = ""
    heading: str = ""
    leads: tuple[tuple[str, str], ...] = ()
    stable: bool = True
    fill: Fill | None = None
    own: LayoutGuard | None = None
    frame: bool = False
    choices: tuple[tuple[ConditionSpec | None, str], ...] = ()
    values: tuple[str, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        # Found once: every manifest tells it.
        made = {CONTENT + self.id} if self.fill else set[str]()
        date = {CURRENT_DATE} if self.spec.clock else set[str]()
        chosen = {CHOICE + self.id} if self.choices else set[str]()
        object.__setattr__(self, "values", tuple(sorted(self.reads | made | date | chosen)))

    def written_at(self, values: Mapping[str, Json]) -> str:
        """Where its text in this call is written."""
        chosen = values.get(CHOICE + self.id)
        return self.choices[chosen][1] if isinstance(chosen, int) and chosen < len(self.choices) else self.source

    @property
    def id(self) -> str:
        """Its name, unlike that of any other section."""
        return self.spec.id
