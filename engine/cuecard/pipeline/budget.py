"""What fits: discovered protocols within their budgets, and a record of each that does not.

The newest go first: what an earlier step has shown stays, so that the prompt only ever grows by appending.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from cuecard.model import Cut, Discovery
from cuecard.pipeline.placement import Placed, place
from cuecard.pipeline.request import StepRequest


@dataclass(frozen=True, slots=True)
class Fitted:
    """The prompt with as many discovered protocols as fit, and what was cut."""

    placed: Placed
    cuts: tuple[Cut, ...]

    @property
    def shown(self) -> tuple[Discovery, ...]:
        """The discovered tools whose protocols fit, in order of discovery."""
        return self.placed.shown


def fit(request: StepRequest, discovered: tuple[Discovery, ...], last: Placed | None = None) -> Fitted:
    """The prompt of a step with as many of these tools as its budgets hold.

    What was sent already stays: it cannot be taken back. Tools discovered earlier, whose protocols stand in the system
    prompt, count towards the budget of protocols. Blocks that the call's `last` step has made are not made again.
    """
    agent, budget, tools = request.agent, request.agent.spec.budget, request.call.tools

    def cost(tool: str) -> int:
        protocol = agent.protocols.get(tool)
        return request.count(protocol.text) if protocol else 0

    used = sum(map(cost, tools.earlier)) if budget.protocols is not None else 0
    shown, cuts = _within(discovered, used, budget.protocols, cost)
    placed = place(request, shown, last)
    while budget.total is not None and placed.tokens > budget.total and shown and shown[-1].tool not in tools.sent:
        over = f"budget.total: {placed.tokens} of {budget.total} tokens"
        cuts.append(Cut(shown[-1].tool, over, cost(shown[-1].tool)))
        shown = shown[:-1]
        placed = place(request, shown, last)
    if budget.total is not None and placed.tokens > budget.total:
        over_by = placed.tokens - budget.total
        cuts.append(Cut("budget.total", "nothing more can be left out; the prompt is over its budget", over_by))
    return Fitted(placed, (*cuts, *placed.cuts))


def _within(
    discovered: tuple[Discovery, ...], used: int, limit: int | None, cost: Callable[[str], int]
) -> tuple[tuple[Discovery, ...], list[Cut]]:
    if limit is None:
        return discovered, []
    for index, discovery in enumerate(discovered):
        used += cost(discovery.tool)
        if used > limit:
            over = f"budget.protocols: {limit} tokens"
            return discovered[:index], [Cut(d.tool, over, cost(d.tool)) for d in discovered[index:]]
    return discovered, []
