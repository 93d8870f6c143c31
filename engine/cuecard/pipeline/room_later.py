"""Tools that a message adds to a continued conversation: active if the whole prompt has room for them.

The host names them (`Turn.discovered`), they did not exist when they were found, or under `frozen` they exist only now.
The protocol budget is known when tools are planned, but the size of the whole prompt only when the call is made.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from cuecard.model import Call, DeliveryChoice, Withheld
from cuecard.pipeline.activation import is_too_long
from cuecard.pipeline.baseline import begins_anew
from cuecard.pipeline.budget import Fitted
from cuecard.pipeline.call import CallParts, make_call
from cuecard.pipeline.composition import compose_whole
from cuecard.pipeline.continuation import continue_conversation, decided_before, earlier_tools, last_step
from cuecard.pipeline.history.record import Selected
from cuecard.pipeline.inputs import Values
from cuecard.pipeline.placement import Placed
from cuecard.pipeline.recency import recent_first
from cuecard.pipeline.request import CallRequest, StepRequest
from cuecard.pipeline.room import Decided, cost
from cuecard.pipeline.tools import plan_tools
from cuecard.records import dataclass


@dataclass(frozen=True, slots=True)
class Given:
    """The parts of a call that do not depend on its tools: history, values, delivery."""

    history: Selected
    values: Values
    delivery: DeliveryChoice


def make_with_room(request: CallRequest, given: Given) -> tuple[Call, tuple[Withheld, ...]]:
    """The call as the next one of its conversation, and the previously known tools that are not active.

    Raises:
        InputError: when the engine that is said to have prepared the call before has not.
        TemplateRenderError: when the template cannot be rendered with these values.
    """
    previous, decided, last = request.previous, None, None
    if previous and not begins_anew(request, given.delivery):
        last = last_step(request, previous)
        decided = decided_before(previous, last)
    plan = _Plan(given, decided, last)
    call, planned = _made(request, plan)
    if decided and _is_baseline(request, call):  # which is only known from the finished call
        return _made(request, _Plan(given))
    if decided is None or not _is_over(request, call):
        return call, planned
    new = _new(request, decided, (*call.tools.initial, *(each.tool for each in planned)))
    left = [*new]
    for tool in new:
        trial = [name for name in left if name != tool]
        if not _is_over(request, _made(request, plan, trial)[0]):
            left = trial
    return _made(request, plan, left) if left else (call, planned)


@dataclass(frozen=True, slots=True)
class _Plan:
    """The parts of a call, and what it continues from; without that, it is a new baseline."""

    given: Given
    decided: Decided | None = None
    last: Fitted | None = None


def _made(request: CallRequest, plan: _Plan, left: Sequence[str] = ()) -> tuple[Call, tuple[Withheld, ...]]:
    """The call without the tools for which the whole prompt has no room, and what is withheld."""
    given, decided = plan.given, plan.decided
    total = f"budget.total: {request.agent.spec.budget.total} tokens"
    unfit = tuple(Withheld(tool, None, total, cost(request, tool)) for tool in left)
    every = given.delivery.shows_all
    earlier = earlier_tools(request)
    if decided is None and request.previous:  # tools from messages follow no result that could announce them again
        earlier = tuple(dict.fromkeys((*earlier, *request.previous.tools.brought)))
    tools = plan_tools(request, earlier, every=every, decided=decided, unfit=unfit)
    tools, sections = compose_whole(request, given.values.values, tools, anew=decided is None)
    call = make_call(request, CallParts(given.history, given.values, given.delivery, tools, sections))
    known = {each.tool for each in decided.withheld} if decided else set[str]()
    planned = tuple(each for each in tools.tools.withheld if each.tool not in known)
    return continue_conversation(request, call, plan.last), planned


def _is_baseline(request: CallRequest, call: Call) -> bool:
    return request.previous is not None and call.prompt.segments is not request.previous.prompt.segments


def _is_over(request: CallRequest, call: Call) -> bool:
    """Whether the prompt exceeds its budget before anything is discovered in this call."""
    if request.agent.spec.budget.total is None:
        return False
    placed = Placed(call.prompt.segments, call.prompt.sent, (), passing=call.prompt.passing)
    return is_too_long(StepRequest(request.agent, call, request.found, request.count), placed)


def _new(request: CallRequest, decided: Decided, tools: Iterable[str]) -> tuple[str, ...]:
    """The tools that are decided with this call, in the order in which they get room."""
    known = {*request.agent.spec.tools.core, *decided.told, *(each.tool for each in decided.withheld)}
    new = [tool for tool in dict.fromkeys(tools) if tool not in known and cost(request, tool)]
    return recent_first(new, request.found.called, request.found.named)
