"""Why a conversation needs a new system prompt; otherwise, changes are announced in a block."""

from __future__ import annotations

from cuecard.model import DeliveryChoice
from cuecard.pipeline.origin import is_mixed
from cuecard.pipeline.request import CallRequest

CHANGED = "configuration_changed"
"""The code of the diagnostic with which a turn reports that earlier messages were made from other files."""

LOST = "conversation_lost"
"""The code of the diagnostic with which a turn reports that nobody knows what was sent before."""

_ANEW = "the system prompt differs from the one sent before"
_COMPACTED = "compacted: the history was shortened, so the system prompt is rebuilt and includes what was discovered"
_APPENDED = "the conversation was made under `reload: append`, which was removed, and goes on under `next-call`"


def baseline_reason(request: CallRequest, delivery: DeliveryChoice) -> str:
    """Why the system prompt differs from the one sent before; empty if it does not, or if there is none before."""
    previous = request.previous
    if previous is None:
        return _replaced(request)
    if request.kept is not None:
        return request.lost or _COMPACTED
    if previous.configuration.reload == "append" or is_mixed(previous):
        return f"{_APPENDED}: {_ANEW}"
    if previous.configuration.sha256 != request.agent.sha256:
        return f"the configuration changed: {_ANEW}"
    if previous.delivery.name != delivery.name:
        return f"the delivery changed from {previous.delivery.name} to {delivery.name}: {_ANEW}"
    return _replaced(request)


def _replaced(request: CallRequest) -> str:
    """Why this call replaces one made from other files within the same run, or a lost one; empty if it does not."""
    return next((found.message for found in request.turn.diagnostics if found.code in {CHANGED, LOST}), "")
