"""Cues for first results without a call id: a block cannot be placed after such a result, so they come with a
message.
"""

from __future__ import annotations

from dataclasses import replace

from cuecard.model import Call
from cuecard.pipeline.block import make_block
from cuecard.pipeline.placement import CUES, cues_text, slots
from cuecard.pipeline.request import CallRequest


def tell_late_cues(request: CallRequest, call: Call) -> Call:
    """The call with a block after its user message that contains the cues for results without a call id."""
    if not call.tools.waiting:
        return call
    early = tuple(each for each in request.found.early if each.tool in call.tools.waiting)
    answers = (a.tool for a in request.found.answers if a.tool in call.tools.waiting and a.after_call_id is None)
    names, there = tuple(answers), slots(request.agent, call)
    still = tuple(name for name in call.tools.waiting if name not in names)
    call = replace(call, tools=replace(call.tools, waiting=still, early=early))
    if not (names and there):
        return call
    text = cues_text(request.agent, call, there, names)
    block = make_block(CUES, text, request.count, turn=call.turn)
    return replace(call, prompt=replace(call.prompt, sent=(*call.prompt.sent, block)))
