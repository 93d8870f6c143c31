"""The sections of a new baseline with as many known tools as fit completely.

Besides the protocol budget (`room`), the budgets of the whole prompt and of sections apply. As there, the least
recently used tools are dropped first; core tools stay, since the prompt makes no sense without them.
"""

from __future__ import annotations

from collections.abc import Mapping

from cuecard.agent import PROTOCOLS
from cuecard.model import Json, Withheld
from cuecard.pipeline.recency import recent_first
from cuecard.pipeline.request import CallRequest
from cuecard.pipeline.room import cost
from cuecard.pipeline.sections import Composed, compose
from cuecard.pipeline.tools import ToolPlan
from cuecard.pipeline.whole import cut_out, section_limit


def compose_whole(
    request: CallRequest, values: Mapping[str, Json], plan: ToolPlan, *, anew: bool
) -> tuple[ToolPlan, Composed]:
    """The plan with the tools that fit, and the sections of the call.

    Args:
        request: the request for the call.
        values: the cleaned values of the call.
        plan: its tools.
        anew: whether the system prompt is a new baseline; otherwise, it was sent already and stays.

    Raises:
        TemplateRenderError: when a section cannot be rendered with these values.
    """
    made = compose(request, values, plan.tools)
    while anew:
        reason, excess = _excess(request, made, plan)
        left = _least_recent(request, plan, excess) if reason else ()
        if not left:
            break
        plan = plan.without(left, (Withheld(tool, None, reason, cost(request, tool)) for tool in left))
        made = compose(request, values, plan.tools)
    return plan, made


def _excess(request: CallRequest, made: Composed, plan: ToolPlan) -> tuple[str, int]:
    """The budget that is exceeded, and by how many tokens; an empty text if none is."""
    agent, turn = request.agent, request.turn
    total, tokens = agent.spec.budget.total, sum(segment.tokens for segment in made.segments)
    if total is not None and tokens > total:
        return f"budget.total: {total} tokens", tokens - total
    slots = [s for s in agent.edition(turn.profile, turn.variant) if PROTOCOLS in s.reads and s.id in made.bodies]
    limit = section_limit(slots)
    if limit and cut_out(agent, "".join(made.bodies[section.id] for section in slots), plan.tools.initial):
        cut = {section.id for section in slots}
        return limit, sum(each.tokens for each in made.cuts if each.what in cut)
    return "", 0


def _least_recent(request: CallRequest, plan: ToolPlan, excess: int) -> tuple[str, ...]:
    """The least recently used tools, with at least as many tokens of instructions as must be dropped, or all tools."""
    core, left = request.agent.spec.tools.core, list[str]()
    ranked = recent_first(plan.tools.initial, request.found.called, request.found.named)
    for tool in reversed(ranked):
        if excess <= 0 and left:
            break
        if tool not in core and (tokens := cost(request, tool)):
            left.append(tool)
            excess -= tokens
    return tuple(left)
