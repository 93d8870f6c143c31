"""What sections are compiled from: everything that was read of an agent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from cuecard.agent.memo import Memo
from cuecard.config.agent_file import AgentFile
from cuecard.config.documents.texts import AgentSources
from cuecard.config.documents.yaml_text import Document


@dataclass(frozen=True, slots=True)
class World:
    """An agent's files, read: its agent file as written and as validated, all texts, the elements that they write."""

    document: Document
    spec: AgentFile
    sources: AgentSources
    memo: Memo
    names: frozenset[str]

    @property
    def escaping(self) -> Literal["text", "names"]:
        """How `{{{x}}}` prints data."""
        return self.spec.template.escaping if self.spec.template else self.spec.layout.escaping
