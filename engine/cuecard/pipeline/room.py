"""Room in the protocol budget for tools that were found before a call and belong in its system prompt.

At a new baseline, earlier decisions no longer apply, and the least recently used tools are dropped first.
"""

from __future__ import annotations

from collections.abc import Sequence

from cuecard.model import Withheld
from cuecard.pipeline.recency import recent_first
from cuecard.pipeline.request import CallRequest
from cuecard.records import dataclass


@dataclass(frozen=True, slots=True)
class Decided:
    """A conversation's binding decisions since its last baseline, including its last step.

    Attributes:
        told: the tools that were announced to the model.
        kept: those that already have room, even if they did not exist when the system prompt was made.
        withheld: those that are not active.
    """

    told: frozenset[str] = frozenset()
    kept: frozenset[str] = frozenset()
    withheld: tuple[Withheld, ...] = ()


NOTHING_DECIDED = Decided()


def withheld_tools(
    request: CallRequest, known: Sequence[str], there: Sequence[str], decided: Decided
) -> tuple[Withheld, ...]:
    """The tools that are not active because the protocol budget has no room for them.

    Args:
        request: what the call is prepared from.
        known: the tools, in order of discovery.
        there: the tools that exist for the call.
        decided: the decisions to keep.
    """
    limit, gone = request.agent.spec.budget.protocols, decided.withheld
    if limit is None:
        return gone
    told = decided.kept - {each.tool for each in gone}
    used = sum(cost(request, tool) for tool in told if tool not in request.agent.spec.tools.core)
    new = recent_first([n for n in known if n in there and n not in told], request.found.called, request.found.named)
    left = []
    for tool in (*new, *(name for name in known if name not in there and name not in told)):
        tokens = cost(request, tool)
        if any(each.tool == tool for each in gone):
            continue
        if tokens and used + tokens > limit:
            left.append(Withheld(tool, None, f"budget.protocols: {limit} tokens", tokens))
        else:
            used += tokens
    return (*gone, *left)


def cost(request: CallRequest, tool: str) -> int:
    """The tokens of a tool's instructions; 0 if it has none."""
    protocol = request.agent.protocols.get(tool)
    return request.count(protocol.text) if protocol else 0
