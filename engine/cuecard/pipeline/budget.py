"""What fits: the prompt of a step with its active tools, and a record of what the budgets left out."""

from __future__ import annotations

from cuecard.model import Cut, Discovery, Withheld
from cuecard.pipeline.activation import activate
from cuecard.pipeline.cues import waiting
from cuecard.pipeline.placement import Placed
from cuecard.pipeline.request import StepRequest
from cuecard.records import dataclass


@dataclass(frozen=True, slots=True)
class Fitted:
    """The prompt with the instructions of the active tools, what was cut, and the tools with pending cues."""

    placed: Placed
    cuts: tuple[Cut, ...]
    waiting: tuple[str, ...] = ()

    @property
    def shown(self) -> tuple[Discovery, ...]:
        """The active discovered tools, in order of discovery."""
        return self.placed.shown


def fit(request: StepRequest, discovered: tuple[Discovery, ...], last: Placed | None = None) -> Fitted:
    """The prompt of a step with the active ones of these tools, continuing from the call's `last` step.

    Whatever was sent already stays, since it cannot be taken back.
    """
    total = request.agent.spec.budget.total
    placed = activate(request, discovered, last)
    there = request.call.tools.available
    cuts = [Cut(w.tool, _reason(w), w.tokens) for w in placed.withheld if w.tool in there]
    if total is not None and placed.tokens > total:
        over_by = placed.tokens - total
        cuts.append(Cut("budget.total", "nothing more can be left out; the prompt is over its budget", over_by))
    return Fitted(placed, (*cuts, *placed.cuts), tuple(waiting(request, placed.shown)) if request.agent.pending else ())


def _reason(withheld: Withheld) -> str:
    return f"not active: {withheld.reason}{'' if withheld.told else ', with no room to say so'}"
