"""The parts of a compiled section at run time: its text, and the skills that fill it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from cuecard.agent.sections.section import CHOICE, CONTENT, Render
from cuecard.config.sections.skills_spec import SkillsSpec
from cuecard.model import Json
from cuecard.model.skills import Skill
from cuecard.records import dataclass
from cuecard.sources.content import Content, Given
from cuecard.sources.text import is_blank
from cuecard.template import trusted_value
from cuecard.template.guards.marks import shown_value


@dataclass(frozen=True, slots=True)
class Body:
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
class Chosen:
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
    fill: Callable[[Given], Content]

    def __call__(self, given: Given) -> Content:
        """The list of skills for one call."""
        return self.fill(given)
