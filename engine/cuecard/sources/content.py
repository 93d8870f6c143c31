"""What a source is given, and what it answers."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import field
from datetime import datetime
from typing import Protocol

from cuecard.model import Cut, Diagnostic, FileText, Json, SourceRow, ToolCard
from cuecard.model.turn import Gates
from cuecard.records import dataclass
from cuecard.template import TrustedText, trusted
from cuecard.template.guards.marks import unmarked


@dataclass(frozen=True, slots=True)
class SourceInput:
    """What a source may use for one call.

    Attributes:
        values: inputs and built-in values by name, cleaned.
        now: the time, with its zone.
        tools: the tools that exist for the call, in catalogue order; None if unknown.
        files: the files that were read when the agent was opened, by path.
        supplied: those that the host supplies with the turn, by path.
        gates: what switches tools on and off.
        environment: the names of environment variables that are set, for skills that need some; None if unknown.
        message: the text of the current message; empty if there is none.
        taken: how much of a shared total earlier sections have used, by the name of the total (`FilesSpec.account`).
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
    """The text of a section, without heading and separator; may be empty.

    Attributes:
        text: the section's text.
        cuts: what was left out, and why.
        diagnostics: problems of a source that did not stop the prompt.
        sources: one row for each file or other source that was used.
        values: the values that the section's own text may read besides `content`.
        taken: how much of a shared total it used, in the unit of that total.
    """

    text: str
    cuts: tuple[Cut, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    sources: tuple[SourceRow, ...] = ()
    values: Mapping[str, str] = field(default_factory=dict)
    taken: int = 0


class Fill(Protocol):
    """A compiled section source: produces the content for a call from nothing but what it is given.

    It fetches nothing: the content comes from the agent's files, or from the host with the turn.
    """

    @property
    def inputs(self) -> Collection[str]:
        """The inputs and built-in values that it reads."""

    def __call__(self, given: SourceInput) -> Content:
        """The content for one call."""


def joined(text: str, more: str) -> str:
    """The text followed by an author's text; the result is trusted only if the first one is."""
    return trusted(text + more) if isinstance(text, TrustedText) else text + more


def one_line(text: str) -> str:
    """The text on one line: line breaks and runs of white space become one space."""
    return " ".join(text.split())


def is_blank(text: str) -> bool:
    """Whether a rendered text has nothing but white space, which counts as nothing in every source."""
    return not unmarked(text).strip()
