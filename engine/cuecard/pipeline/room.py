"""Room for tools that were found before a call and belong to its system prompt: the budget of protocols.

At a new baseline nothing that was decided before binds. There the tools that were used longest ago go first.
"""

from __future__ import annotations

from collections.abc import Sequence

from cuecard.model import Withheld
from cuecard.pipeline.recency import recent_first
from cuecard.pipeline.request import CallRequest
from cuecard.records import dataclass


@dataclass(frozen=True, slots=True)
class Decided:
    """What a conversation has decided since its last baseline, its last step with it: that binds.

    Attributes:
        told: the tools that the model was told about.
        kept: those that have their room already, also where they did not exist when the system prompt was made.
        withheld: those that are not active.
    """

    told: frozenset[str] = frozenset()
    kept: frozenset[str] = frozenset()
    withheld: tuple[Withheld, ...] = ()


NOTHING_DECIDED = Decided()


def withheld_tools(
    request: CallRequest, known: Sequence[str], there: Sequence[str], decided: Decided
) -> tuple[Withheld, ...]:
    """Those of these tools that are not active, because the budget of protocols has no room for them.

    Args:
        request: what the call is prepared from.
        known: the tools, in order of discovery.
        there: the tools that exist for the call.
        decided: what stays as it is.
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
