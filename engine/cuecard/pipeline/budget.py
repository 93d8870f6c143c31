"""What fits: discovered protocols within their budgets, and a record of each that does not.

The newest go first: what an earlier step has shown stays, so that the prompt only ever grows by appending.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from cuecard.config.agent_file import BudgetSpec
from cuecard.model import CountTokens, Cut, Discovery
from cuecard.pipeline.placement import Delivered
from cuecard.sources.protocols import Protocol

Deliver = Callable[[tuple[Discovery, ...]], Delivered]
"""The prompt with these discovered tools."""


def fit(
    discovered: tuple[Discovery, ...],
    deliver: Deliver,
    budget: BudgetSpec,
    protocols: Mapping[str, Protocol],
    count: CountTokens,
    *,
    sent: Collection[str] = (),
    earlier: Collection[str] = (),
) -> tuple[Delivered, tuple[Discovery, ...], tuple[Cut, ...]]:
    """The prompt with as many discovered protocols as fit, in order of discovery, which those are, and the cuts.

    What was `sent` already stays: it cannot be taken back. Tools discovered `earlier`, whose protocols stand in the
    system prompt, count towards the budget of protocols.
    """
    used = sum(_cost(name, protocols, count) for name in earlier) if budget.protocols is not None else 0
    shown, cuts = _within(discovered, used, budget.protocols, protocols, count)
    delivered = deliver(shown)
    while budget.total is not None and delivered.tokens > budget.total and shown and shown[-1].tool not in sent:
        over = f"budget.total: {delivered.tokens} of {budget.total} tokens"
        cuts.append(Cut(shown[-1].tool, over, _cost(shown[-1].tool, protocols, count)))
        shown = shown[:-1]
        delivered = deliver(shown)
    if budget.total is not None and delivered.tokens > budget.total:
        over_by = delivered.tokens - budget.total
        cuts.append(Cut("budget.total", "nothing more can be left out; the prompt is over its budget", over_by))
    return delivered, shown, tuple(cuts)


def _within(
    discovered: tuple[Discovery, ...],
    used: int,
    limit: int | None,
    protocols: Mapping[str, Protocol],
    count: CountTokens,
) -> tuple[tuple[Discovery, ...], list[Cut]]:
    cuts: list[Cut] = []
    for index, discovery in enumerate(discovered):
        used += _cost(discovery.tool, protocols, count)
        if limit is not None and used > limit:
            over = f"budget.protocols: {limit} tokens"
            cuts = [Cut(d.tool, over, _cost(d.tool, protocols, count)) for d in discovered[index:]]
            return discovered[:index], cuts
    return discovered, cuts


def _cost(tool: str, protocols: Mapping[str, Protocol], count: CountTokens) -> int:
    protocol = protocols.get(tool)
    return count(protocol.text) if protocol else 0
