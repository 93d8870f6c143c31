"""What a section source gets and makes: a text, and a record of all that went into it or stayed out."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import field
from datetime import datetime
from typing import Protocol

from cuecard.model import Cut, Diagnostic, FileText, Json, SourceRow, ToolCard
from cuecard.model.gates import Gates
from cuecard.records import dataclass


@dataclass(frozen=True, slots=True)
class Given:
    """What a source may look at for one call.

    Attributes:
        values: inputs and built-in values by name, cleaned.
        now: the time, with its zone.
        tools: the tools that exist for the call, in catalogue order; None when nobody says which.
        files: the files that were read when the agent was opened, by path.
        supplied: those that the host hands in with the turn, by path.
        gates: what switches tools on and off.
        environment: the names of environment variables that are set, for skills that need some; None if nobody knows.
        message: the text of the current message; empty when there is none.
        taken: how much of a total the sections before have taken, by the name of the total (`FilesSpec.account`).
    """

    values: Mapping[str, Json]
    now: datetime
    tools: tuple[ToolCard, ...] | None = None
    files: Mapping[str, FileText] = field(default_factory=dict)
    supplied: Mapping[str, FileText] = field(default_factory=dict)
    gates: Gates = field(default_factory=Gates)
    environment: tuple[str, ...] | None = None
    message: str = ""
    taken: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Content:
    """The text of a section, without heading and separator; empty when there is nothing to say.

    Attributes:
        text: what the section says.
        cuts: what was left out, and why.
        diagnostics: what was wrong with a source without stopping the prompt.
        sources: one row for each file or other source that was looked at.
        values: what the section's own text may read besides `content`.
        taken: how much it took of a total that several sections share, in the unit of that total.
    """

    text: str
    cuts: tuple[Cut, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    sources: tuple[SourceRow, ...] = ()
    values: Mapping[str, str] = field(default_factory=dict)
    taken: int = 0


class Fill(Protocol):
    """A section source, compiled: what it makes of a call. It looks at nothing but what it is given.

    It fetches nothing: what a source shows stands in the files of the agent, or the host hands it in with the turn.
    """

    @property
    def inputs(self) -> Collection[str]:
        """The inputs and built-in values that it reads."""

    def __call__(self, given: Given) -> Content:
        """The content for one call."""
