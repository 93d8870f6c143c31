"""What a section source makes: a text, and a record of all that went into it or stayed out."""

from __future__ import annotations

from dataclasses import dataclass

from cuecard.model import Cut, Diagnostic, SourceRow


@dataclass(frozen=True, slots=True)
class Content:
    """The text of a section, without heading and separator; empty when there is nothing to say.

    Attributes:
        text: what the section says.
        cuts: what was left out, and why (promise 7).
        diagnostics: what was wrong with a source without stopping the prompt.
        sources: one row for each file or other source that was looked at.
    """

    text: str
    cuts: tuple[Cut, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    sources: tuple[SourceRow, ...] = ()
