"""A section: its body, and the values that the engine itself fills in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TypeAlias

from cuecard.agent.sections.conditions import sections_asked
from cuecard.config.sections.section_spec import ConditionSpec, SectionSpec
from cuecard.config.sections.skills_spec import SkillsSpec
from cuecard.model import Json, Lifetime, Tier
from cuecard.model.tools import Skill
from cuecard.records import dataclass
from cuecard.sources.content import Content, Fill, SourceInput, is_blank
from cuecard.template import trusted_value
from cuecard.template.guards.layout import LayoutGuard
from cuecard.template.guards.marks import shown_value
from cuecard.template.rules import TOOL

WORKING_MEMORY, CURRENT_DATE, PROTOCOLS = "workingMemory", "currentDate", "activeProtocols"
SUMMARY = "conversationSummary"

BUILT_IN: Mapping[str, Tier] = {WORKING_MEMORY: "call", CURRENT_DATE: "call", SUMMARY: "call", PROTOCOLS: "step"}
"""The placeholders that the engine fills itself, and how often each may change."""

UPDATE = "context-update"
"""The beginning of the id of a block about changes since the conversation began, in every language."""

CONTENT = "content:"
"""The prefix of a section's id in the values of a call, for the content from its source."""

CHOICE = "choice:"
"""The prefix of a section's id in the values of a call, for the choice of its text."""

Render: TypeAlias = Callable[[Mapping[str, Json]], str]
"""A text as a function of the values of a call."""


@dataclass(frozen=True)
class Section:
    """A named part of the prompt: an element of a template, or an entry of a list.

    Attributes:
        spec: its configuration: id, role, condition, priority, budget.
        tier: how often it may change.
        reads: the inputs and built-in values that its text, condition and source read.
        source: where its text is written, as `file:line`.
        render: renders its text.
        label: its name in errors, such as `<identity>`.
        heading: the text before it in the prompt.
        leads: the groups around it, the outermost first, each with its heading.
        stable: whether it is before the layout's boundary.
        fill: its source.
        own: the beginning of each entry of its source, so that no data can imitate the next one.
        lifetime: how long its text stays in the conversation.
        frame: whether it is a tag of the root element, which is always included and not a section for users.
        choices: the condition of each of its texts, None for always, and where the text is written.
        prints: the values of which its text is made, by their names, where it does nothing but print them; otherwise
            None.
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
    lifetime: Lifetime = "conversation"
    frame: bool = False
    choices: tuple[tuple[ConditionSpec | None, str], ...] = ()
    prints: tuple[str, ...] | None = None

    @cached_property
    def id(self) -> str:
        """Its unique name."""
        return self.spec.id

    @cached_property
    def values(self) -> tuple[str, ...]:
        """The names of all values of a call that it depends on: those that it reads, the content from its source, the
        date of a clock.
        """
        made = {CONTENT + self.id} if self.fill else set[str]()
        date = {CURRENT_DATE} if self.spec.clock else set[str]()
        chosen = {CHOICE + self.id} if self.choices else set[str]()
        return tuple(sorted(self.reads | made | date | chosen))

    @cached_property
    def waits(self) -> bool:
        """Whether it depends on the text of other sections if it is included."""
        return self.spec.when is not None and any(sections_asked(self.spec.when))

    @cached_property
    def asked(self) -> tuple[str, ...]:
        """The tools whose existence its text asks for."""
        return tuple(name.removeprefix(TOOL) for name in self.reads if name.startswith(TOOL))

    def written_at(self, values: Mapping[str, Json]) -> str:
        """Where its text for this call is written."""
        chosen = values.get(CHOICE + self.id) if self.choices else None
        return self.choices[chosen][1] if isinstance(chosen, int) and chosen < len(self.choices) else self.source

    @property
    def stays(self) -> bool:
        """Whether its text remains in the conversation."""
        return self.lifetime == "conversation"


@dataclass(frozen=True, slots=True)
class SectionBody:
    """The text of a section as a function of the values of a call, including the content from its source."""

    text: Render
    id: str
    trusted: bool

    def __call__(self, values: Mapping[str, Json]) -> str:
        """Render the section's body.

        Raises:
            TemplateRenderError: when the text cannot be rendered with these values.
        """
        # Its data was marked when it was made; the rest is trusted again, as a call may have travelled as JSON.
        if (own := values.get(CONTENT + self.id)) is not None:
            values = {**values, **trusted_value(own)}
        return self.text(shown_value(values) if self.trusted else values)


@dataclass(frozen=True, slots=True)
class SectionChoice:
    """The alternative texts of a section, of which a call has one."""

    texts: tuple[Render, ...]
    id: str

    def __call__(self, values: Mapping[str, Json]) -> str:
        """Render the text selected for the call."""
        chosen = values[CHOICE + self.id]
        return self.texts[chosen if isinstance(chosen, int) else 0](values)


@dataclass(frozen=True, slots=True)
class Around:
    """A fixed text around the content of a source, which is nothing without that content."""

    text: Render

    def __call__(self, values: Mapping[str, Json]) -> str:
        """Render the text, unless the content is blank."""
        return "" if is_blank(str(values["content"])) else self.text(values)


@dataclass(frozen=True, slots=True)
class SkillsFill:
    """A skills source with its skills."""

    spec: SkillsSpec
    skills: tuple[Skill, ...]
    inputs: frozenset[str]
    fill: Callable[[SourceInput], Content]

    def __call__(self, given: SourceInput) -> Content:
        """The list of skills for one call."""
        return self.fill(given)
