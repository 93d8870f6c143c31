"""The input for compiling sections: everything read from an agent's files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Literal, TypeAlias

from cuecard.agent.memo import Memo
from cuecard.config.agent_file import AgentFile
from cuecard.config.documents.texts import AgentSources
from cuecard.config.documents.yaml_text import Document
from cuecard.records import dataclass
from cuecard.template import Helper, Limits

Printing: TypeAlias = Literal["text", "names"]
"""How `{{{x}}}` prints data in an agent's templates: every `<` escaped, or only before the prompt's own elements."""


@dataclass(frozen=True, slots=True)
class World:
    """An agent's parsed files: its agent file as written and as validated, all texts, and the elements in them.

    `helpers` are the host's functions by name; `removed` maps removed sections of lower files to the place that removed
    them, as `file:line:column`.
    """

    document: Document
    spec: AgentFile
    sources: AgentSources
    memo: Memo
    names: frozenset[str]
    removed: Mapping[str, str] = field(default_factory=dict)
    helpers: tuple[tuple[str, Helper], ...] = ()

    @property
    def limits(self) -> Limits:
        """The limits for rendering a section."""
        return Limits(self.spec.limits.work, self.spec.limits.output)

    @property
    def escaping(self) -> Printing:
        """How `{{{x}}}` prints data."""
        return self.spec.template.escaping if self.spec.template else self.spec.layout.escaping
