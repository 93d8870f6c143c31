"""What a call says about tools that were found before it but are not active."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace

from cuecard.config.values.placeholders import fill
from cuecard.model import Call, Withheld
from cuecard.pipeline.block import make_block
from cuecard.pipeline.placement import WITHHELD, Placed, place, withheld_notice
from cuecard.pipeline.request import CallRequest, StepRequest


def tell_withheld(request: CallRequest, call: Call, planned: Iterable[Withheld]) -> Call:
    """The call with a block after its user message that names the tools that were not withheld before but are now.

    Under `rewrite`, the section of instructions names them at every step; if the host cannot append messages, only the
    manifest does.

    Args:
        request: what the call is prepared from.
        call: the call, as the next one of its conversation.
        planned: the newly withheld tools, as far as they were known before its first step.
    """
    if call.delivery.rebuilds:
        return _with_room_to_say(request, call)
    if call.delivery.host == "system-only":
        return call
    new = tuple(planned)
    notice, total = withheld_notice(request.agent, new), request.agent.spec.budget.total
    if not notice:
        return call
    text = fill(request.agent.spec.words.notices.update, {"turn": str(call.turn + 1), "text": notice})
    block = make_block(WITHHELD, text, request.count, turn=call.turn)
    before = Placed(call.prompt.segments, call.prompt.sent, (), passing=call.prompt.passing).tokens
    if total is not None and before + block.tokens > total:
        return _untold(call, new)
    return replace(call, prompt=replace(call.prompt, sent=(*call.prompt.sent, block)))


def _with_room_to_say(request: CallRequest, call: Call) -> Call:
    """The call, naming these tools in its system prompt only if the whole prompt has room for that."""
    total, withheld = request.agent.spec.budget.total, call.tools.withheld
    if total is None or not withheld:
        return call
    step = StepRequest(request.agent, call, request.found, request.count)
    return _untold(call, withheld) if place(step, (), withheld).tokens > total else call


def _untold(call: Call, tools: Collection[Withheld]) -> Call:
    withheld = tuple(replace(each, told=each.told and each not in tools) for each in call.tools.withheld)
    return replace(call, tools=replace(call.tools, withheld=withheld))
