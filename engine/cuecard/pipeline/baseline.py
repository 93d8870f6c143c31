"""Why a conversation needs a new system prompt; otherwise, changes are announced in a block."""

from __future__ import annotations

from cuecard.agent import Agent
from cuecard.errors import InputError, Problem
from cuecard.model import Call, DeliveryChoice
from cuecard.pipeline.request import CallRequest

CHANGED = "configuration_changed"
"""The code of the diagnostic with which a turn reports that earlier messages were made from other files."""

LOST = "conversation_lost"
"""The code of the diagnostic with which a turn reports that nobody knows what was sent before."""

_ANEW = "the system prompt differs from the one sent before"
_COMPACTED = "compacted: the history was shortened, so the system prompt is rebuilt and includes what was discovered"


def baseline_reason(request: CallRequest, call: Call, previous: Call) -> str:
    """Why the system prompt differs from the one sent before; empty if it does not.

    Raises:
        InputError: when the given engine did not prepare the previous call.
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
    """Whether the system prompt is a new baseline for its tools, as far as is known before it is made."""
    previous = request.previous
    if previous is None or request.kept is not None or delivery.rebuilds or delivery.host == "system-only":
        return True
    if previous.delivery.name != delivery.name:
        return True
    return previous.configuration.sha256 != request.agent.sha256 and not appends(request)


def searched_before(request: CallRequest, delivery: DeliveryChoice) -> bool | None:
    """Whether the conversation has had a search tool since its last baseline; None where this call begins one."""
    previous = request.previous
    if previous is None or request.kept is not None or previous.delivery.name != delivery.name:
        return None
    return None if previous.configuration.sha256 != request.agent.sha256 else previous.tools.offers_search


def replaced_reason(request: CallRequest) -> str:
    """Why this call replaces one made from other files within the same run, or a lost one; empty if it does not."""
    if request.ended:
        return ""
    return next((found.message for found in request.turn.diagnostics if found.code in {CHANGED, LOST}), "")


def appends(request: CallRequest) -> bool:
    """Whether a change of the files is announced in a block, if possible."""
    return (request.turn.reload or request.agent.spec.reload) == "append"


def is_new_state(call: Call, previous: Call) -> bool:
    """Whether the files differ from those of the previous call."""
    return previous.configuration.sha256 != call.configuration.sha256


def _obstacle(request: CallRequest, call: Call, previous: Call) -> str:
    """The reason why a change cannot be announced in a block; empty if it can."""
    if request.ended is None:
        return "the engine that prepared the previous call is missing: pass it as `earlier` to `prepare_call`"
    if previous.delivery.name != call.delivery.name:
        return f"the delivery changed from {previous.delivery.name} to {call.delivery.name}"
    if previous.record.tokens != call.record.tokens:
        return "the token table changed"
    return _around(request.earlier, previous, request.agent, call)


def _around(before: Agent, previous: Call, agent: Agent, call: Call) -> str:
    """A change in the text around sections, which cannot be announced."""
    if before.layout != agent.layout:
        return "the layout of the sections changed"
    if before.spec.messages.order != agent.spec.messages.order:
        return "the order of the messages changed"
    return "" if _frame(before, previous) == _frame(agent, call) else "the root element of the template changed"


def _frame(agent: Agent, call: Call) -> dict[str, str]:
    """The tags of the root element: their texts if those never change, otherwise only that they exist."""
    edition = agent.edition(call.configuration.profile, call.configuration.variant)
    shown = call.prompt.shown
    return {s.id: shown.get(s.id, "") if s.tier == "static" else "" for s in edition if s.frame}


def _check_ended(request: CallRequest, previous: Call) -> None:
    made = previous.configuration.sha256
    if request.earlier.sha256 != made and request.ended:
        message = f"`earlier` did not prepare the previous call, which was made from configuration {made[:12]}"
        hint = "pass the engine that prepared it; `Pins.serve` finds it"
        raise InputError(Problem("other-engine", message, hint, "earlier"))
