"""Why a conversation's system prompt has to be made anew; where it need not be, what changed is said in a block."""

from __future__ import annotations

from cuecard.agent import Agent
from cuecard.errors import InputError, Problem
from cuecard.model import Call, DeliveryChoice
from cuecard.pipeline.request import CallRequest

CHANGED = "configuration_changed"
"""The code of the diagnostic by which a turn tells that what was sent before was made from other files."""

_ANEW = "the system prompt differs from the one sent before"
_COMPACTED = "compacted: the history was shortened, so the system prompt is rebuilt and includes what was discovered"


def baseline_reason(request: CallRequest, call: Call, previous: Call) -> str:
    """Why the system prompt is not the one sent before; empty where it is.

    Raises:
        InputError: when the engine that is said to have prepared the call before has not.
    """
    _check_ended(request, previous)
    if request.kept is not None:
        return request.lost or _COMPACTED
    if previous.delivery.name != call.delivery.name and not is_new_state(call, previous):
        changed = f"the delivery changed from {previous.delivery.name} to {call.delivery.name}"
        return f"{changed}: {_ANEW}"
    if not is_new_state(call, previous):
        return replaced_reason(request)
    if not appends(request) or call.delivery.rebuilds or call.delivery.host == "system-only":
        return f"the configuration changed: {_ANEW}"
    obstacle = _obstacle(request, call, previous)
    return f"the configuration changed, which `append` cannot announce ({obstacle}): {_ANEW}" if obstacle else ""


def begins_anew(request: CallRequest, delivery: DeliveryChoice) -> bool:
    """Whether the system prompt is a new baseline for the tools in it, as far as that is known before it is made."""
    previous = request.previous
    if previous is None or request.kept is not None or delivery.rebuilds or delivery.host == "system-only":
        return True
    if previous.delivery.name != delivery.name:
        return True
    return previous.configuration.sha256 != request.agent.sha256 and not appends(request)


def replaced_reason(request: CallRequest) -> str:
    """Why this call takes the place of one that other files have made within the same run; empty where it does not."""
    if request.ended:
        return ""
    return next((found.message for found in request.turn.diagnostics if found.code == CHANGED), "")


def appends(request: CallRequest) -> bool:
    """Whether a change of the files is said in a block, so far as it can be."""
    return (request.turn.reload or request.agent.spec.reload) == "append"


def is_new_state(call: Call, previous: Call) -> bool:
    """Whether the files are other ones than those of the call before."""
    return previous.configuration.sha256 != call.configuration.sha256


def _obstacle(request: CallRequest, call: Call, previous: Call) -> str:
    """What keeps a change from being said behind what was sent; empty when nothing does."""
    if request.ended is None:
        return "the engine that prepared the previous call is missing: pass it as `earlier` to `prepare_call`"
    if previous.delivery.name != call.delivery.name:
        return f"the delivery changed from {previous.delivery.name} to {call.delivery.name}"
    if previous.record.tokens != call.record.tokens:
        return "the token table changed"
    return _around(request.earlier, previous, request.agent, call)


def _around(before: Agent, previous: Call, agent: Agent, call: Call) -> str:
    """What stands around sections and cannot be announced, if it changed."""
    if before.layout != agent.layout:
        return "the layout of the sections changed"
    if before.spec.messages.order != agent.spec.messages.order:
        return "the order of the messages changed"
    return "" if _frame(before, previous) == _frame(agent, call) else "the root element of the template changed"


def _frame(agent: Agent, call: Call) -> dict[str, str]:
    """The tags of the root element: their texts where those never change, and else only that they are there."""
    edition = agent.edition(call.configuration.profile, call.configuration.variant)
    shown = call.prompt.shown
    return {s.id: shown.get(s.id, "") if s.tier == "static" else "" for s in edition if s.frame}


def _check_ended(request: CallRequest, previous: Call) -> None:
    made = previous.configuration.sha256
    if request.earlier.sha256 != made and request.ended:
        message = f"`earlier` did not prepare the previous call, which was made from configuration {made[:12]}"
        hint = "pass the engine that prepared it; `Pins.serve` finds it"
        raise InputError(Problem("other-engine", message, hint, "earlier"))
