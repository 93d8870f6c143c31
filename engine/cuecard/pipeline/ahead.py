"""Tools found by the user's words."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import Field

from cuecard.catalogue.ranker import calibrated
from cuecard.catalogue.search import MAX_QUERY, SearchIndex
from cuecard.config.tools_spec import AheadSpec, SearchSpec
from cuecard.model import Call, Cut, Diagnostic, Discovery, Turn
from cuecard.model.messages import Message
from cuecard.pipeline.fit import Activation
from cuecard.pipeline.placement import AHEAD, active_tools, make_block, slots
from cuecard.pipeline.request import CallRequest, StepRequest
from cuecard.pipeline.segments import render_sections, said
from cuecard.pipeline.tools import discover_more
from cuecard.records import replace


def discover_ahead(request: CallRequest, call: Call) -> Call:
    """The call with the tools that its turn found ahead, active from the first step with their instructions.

    Under `append`, the instructions are sent once with the user's message; under `rewrite`, they are in the system
    prompt, like those of every discovered tool. A tool without room is not discovered, so that the model may still
    search for it.
    """
    found = _new(request, call)
    if not found:
        return _kept(request, call)
    known = tuple(d for d in call.tools.discovered if d.tool not in found)
    discovered = (*known, *(Discovery(name) for name in found))
    trial = replace(call, tools=replace(call.tools, discovered=discovered))
    step = StepRequest(request.agent, trial, replace(request.found, tools=discovered), request.count)
    decided = active_tools(step, discover_more(step)[0])
    active = {each.tool for each in decided.shown}
    there = tuple(name for name in found if name in active)
    call = _without_room(call, decided, found)
    if not there:
        return _kept(request, call)
    tools = replace(call.tools, discovered=(*known, *(Discovery(name) for name in there)))
    call = _kept(request, replace(call, tools=tools), there)
    return call if call.delivery.rebuilds else _told(request, call, there)


def _new(request: CallRequest, call: Call) -> tuple[str, ...]:
    """The tools found ahead that are neither known to the conversation nor withheld from it."""
    if not request.turn.ahead:
        return ()
    tools = call.tools
    known = {*tools.initial, *tools.sent, *(d.tool for d in request.found.tools), *(w.tool for w in tools.withheld)}
    asked, there = dict.fromkeys(request.turn.ahead), request.agent.existing(tools)
    return tuple(name for name in asked if name in there and name not in known)


def _kept(request: CallRequest, call: Call, new: Sequence[str] = ()) -> Call:
    before = request.previous.tools.ahead if request.previous else ()
    ahead = tuple(dict.fromkeys((*before, *new)))
    return replace(call, tools=replace(call.tools, ahead=ahead)) if ahead else call


def _without_room(call: Call, decided: Activation, found: Sequence[str]) -> Call:
    unfit = (each for each in decided.withheld if each.tool in found)
    cuts = tuple(Cut(w.tool, f"found ahead by the user's message, no room: {w.reason}", w.tokens) for w in unfit)
    return replace(call, record=replace(call.record, cuts=(*call.record.cuts, *cuts))) if cuts else call


def _told(request: CallRequest, call: Call, tools: tuple[str, ...]) -> Call:
    """The call with a block after its user message that contains the instructions of these tools."""
    agent, there = request.agent, slots(request.agent, call)
    late = tuple(name for name in tools if name in agent.protocols and agent.protocols[name].later)
    # A request has held the results of before: cues behind them would be news in the middle.
    early = tuple(each for each in request.found.early if each.tool in late)
    waits = replace(call.tools, waiting=(*call.tools.waiting, *late), early=(*call.tools.early, *early))
    call = replace(call, tools=waits)
    known = {name: agent.protocols[name].sha256 for name in tools if name in agent.protocols}
    now = replace(call.tools, sent=(*call.tools.sent, *tools), told={**call.tools.told, **known})
    now = replace(now, brought={**now.brought, **dict.fromkeys(tools, call.turn)})
    if not (known and there):
        return replace(call, tools=now)
    text = said(there, render_sections(agent, there, call.values, tools, form="first"))
    block = make_block(AHEAD, text, request.count, turn=call.turn)
    return replace(call, tools=now, prompt=replace(call.prompt, sent=(*call.prompt.sent, block)))


class _Surer(SearchSpec):
    confidence: float = Field(AheadSpec.usual().confidence, ge=0, le=1)


def look_ahead(index: SearchIndex, turn: Turn, spec: AheadSpec, search: SearchSpec) -> Turn:
    """The turn with the tools found by its words, best first; if there are none, diagnostics say why.

    Args:
        index: the index to search.
        turn: what the host knows about the call.
        spec: the maximum number of tools, and the required confidence.
        search: the settings of the model's own searches.
    """
    query = (turn.query or (_said(turn.message) if turn.message else "")).strip()
    if not query or len(query) > MAX_QUERY:
        why = f"the user's words are longer than {MAX_QUERY:,} characters" if query else _NOTHING
        return replace(turn, ahead=(), diagnostics=(*turn.diagnostics, Diagnostic("nothing_ahead", why)))
    # What neither place sets may come from a ranker with its own scale.
    written = {key: getattr(search, key) for key in search.model_fields_set if key != "confidence"}
    sure = {"confidence": spec.confidence} if "confidence" in spec.model_fields_set else {}
    asked = _Surer.model_validate({**written, **sure, "limit": spec.limit})
    index = replace(index, count=None)  # nobody reads what a miss would offer
    if turn.tools is not None:
        index = replace(index, hidden=index.names.difference(turn.tools))
    result, enough = index.search(query, spec.limit, spec=asked), calibrated(asked, index.ranker).confidence
    found = tuple(hit.tool for hit in result.hits if hit.score >= enough)
    return replace(turn, ahead=found, diagnostics=(*turn.diagnostics, *result.diagnostics))


_NOTHING = "the turn has neither a `query` nor a `message` with text, so nothing could be searched ahead"


def _said(message: Message) -> str:
    if isinstance(message.content, str):
        return message.content
    texts = (part.get("text") for part in message.content if part.get("type") == "text")
    return "\n".join(text for text in texts if isinstance(text, str))
