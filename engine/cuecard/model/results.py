"""A result of a tool as the text that a model reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, field

from cuecard.model.prompt import Diagnostic
from cuecard.model.values import Json
from cuecard.records import dataclass


@dataclass(frozen=True, slots=True)
class RenderedResult:
    """The text to send as the result of a tool call, and what happened to the result on the way.

    Attributes:
        text: the text to send.
        tool: the tool's name.
        call_id: the id of the call, if the result has one.
        rule: the key of `results` in the agent file that applied; empty if none did.
        source: where its template is written, as `file:line`.
        left_out: how much of the result was cut out, in `unit`; 0 if nothing was.
        whole: the original length, in `unit`; 0 if no rule limits it.
        unit: the unit of both: `characters`, `lines` or `tokens`.
        trust: how often each kind of hostile text was neutralised.
        diagnostics: problems that did not stop it, such as a template that does not fit this result.
    """

    text: str
    tool: str
    call_id: str | None = None
    rule: str = ""
    source: str = ""
    left_out: int = 0
    whole: int = 0
    unit: str = "characters"
    trust: Mapping[str, int] = field(default_factory=dict)
    diagnostics: tuple[Diagnostic, ...] = ()

    def to_json(self) -> dict[str, Json]:
        """Plain JSON."""
        return {**asdict(self), "trust": dict(self.trust), "diagnostics": [asdict(each) for each in self.diagnostics]}
