"""The texts that an agent is made of, as they were read: the seam between the outside world and the pure core."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass

from cuecard.errors import Problem


@dataclass(frozen=True, slots=True)
class SourceText:
    """One file: `name` as errors show it, `path` relative to the agent file (equal on every machine), and its text."""

    name: str
    path: str
    text: str

    @property
    def stem(self) -> str:
        """The file's name without folders and endings: a partial is called by it."""
        return self.path.rpartition("/")[2].partition(".")[0]


@dataclass(frozen=True, slots=True)
class AgentSources:
    """Every text of one agent, and the problems met while reading them (a missing file, a wrong encoding)."""

    agent: SourceText
    template: SourceText | None = None
    partials: tuple[SourceText, ...] = ()
    instructions: tuple[SourceText, ...] = ()
    problems: tuple[Problem, ...] = ()

    def texts(self) -> Iterator[SourceText]:
        """All of them, agent file first."""
        yield self.agent
        yield from (self.template,) if self.template else ()
        yield from self.partials
        yield from self.instructions

    def sha256(self) -> str:
        """The fingerprint of the whole configuration, in hex: paths and contents, no machine-dependent names."""
        content = json.dumps([[source.path, source.text] for source in self.texts()])
        return hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()
