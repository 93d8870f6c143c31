"""A result of a tool as the text that a model reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, field

from cuecard.model.prompt import Diagnostic
from cuecard.model.values import Json
from cuecard.records import dataclass


@dataclass(frozen=True, slots=True)
class RenderedResult:
    """What to send as the result of a tool call, and what became of the result on the way.

    Attributes:
        text: what to send.
        tool: the tool.
        call_id: the id of the call, where the result has one.
        rule: the key of `results` in the agent file that counted; empty where none did.
        source: where its template is written, as `file:line`.
        left_out: how much was cut out of the result, in `unit`; 0 when all of it is there.
        whole: how long it was, in `unit`; 0 where no rule limits it.
        unit: what both count: `characters`, `lines` or `tokens`.
        trust: how often each kind of hostile text was neutralised.
        diagnostics: what went wrong and stopped nothing, such as a template that this result does not fit.
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
