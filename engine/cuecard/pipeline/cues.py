"""Cues that wait for a tool's first result: they are sent as a block after it, and never if the tool is not called."""

from __future__ import annotations

from collections.abc import Iterable

from cuecard.model import Discovery
from cuecard.pipeline.request import StepRequest
from cuecard.records import dataclass


@dataclass(frozen=True, slots=True)
class Due:
    """The cues of tools whose first results arrived in one batch.

    Attributes:
        after_call_id: the first of these results.
        tools: the tools, in the order of their results.
        behind: how many tools had been discovered by then.
    """

    after_call_id: str
    tools: tuple[str, ...]
    behind: int


def waiting(request: StepRequest, shown: Iterable[Discovery]) -> dict[str, None]:
    """The active tools of a call whose cues no earlier call has sent."""
    tools, protocols = request.call.tools, request.agent.protocols
    new = (each.tool for each in shown if each.tool not in tools.sent_names)
    return {name: None for name in (*tools.waiting, *new) if name in protocols and protocols[name].later}


def due(request: StepRequest, shown: Iterable[Discovery]) -> tuple[Due, ...]:
    """The cues that this call must send for first results, in order, once per batch."""
    if not request.found.answers or request.call.delivery.name != "append":
        return ()
    open_cues = waiting(request, shown)
    batches: dict[str, Due] = {}
    for answer in request.found.answers:
        if answer.tool in open_cues and answer.after_call_id is not None:
            key = f"batch {answer.batch}" if answer.batch is not None else f"call {answer.after_call_id}"
            said = batches.get(key, Due(answer.after_call_id, (), answer.behind))
            batches[key] = Due(said.after_call_id, (*said.tools, answer.tool), said.behind)
    return tuple(batches.values())
