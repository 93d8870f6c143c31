"""How a call goes on from the one before, and when it begins with a new system prompt.

The whole state is in the previous call, which the host keeps; the engine keeps nothing. Occasionally, a conversation
gets a new baseline: a new system prompt with nothing appended yet. This loses the cache, so it only happens if it is
unavoidable, and a cut named `baseline` records each one with the reason.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import reduce

from cuecard.agent import UPDATE, Agent
from cuecard.config.values import fill
from cuecard.config.words_spec import WordsSpec
from cuecard.model import (
    Appended,
    Call,
    CallHost,
    CallTools,
    CountTokens,
    Cut,
    DeliveryChoice,
    ResultRecord,
    ToolResult,
    WithheldTool,
)
from cuecard.pipeline.cues import waiting
from cuecard.pipeline.fit import NOT_SHOWN, Decisions, Room, call_room, excess
from cuecard.pipeline.messages import as_before, with_system
from cuecard.pipeline.news import NOTHING_UNSAID, ToolsInView, Unsaid, make_news, tool_notices
from cuecard.pipeline.passing import ended_before, ended_cut, of_turn
from cuecard.pipeline.placement import (
    TOOLS,
    WITHHELD,
    BlockCosts,
    Placement,
    active_tools,
    lacks_room,
    make_block,
    place,
    rewritten,
    slots,
    tokens_of,
    withheld_notice,
)
from cuecard.pipeline.request import CallRequest, StepRequest, is_mixed
from cuecard.pipeline.run import last_call_id
from cuecard.pipeline.segments import PROBE, InstructionPlace
from cuecard.pipeline.tools import discover_more, restored_tools
from cuecard.records import dataclass, replace


@dataclass(frozen=True, slots=True)
class LastStep:
    """The previous call, what its last step sent, and the tools whose cues were then still to come."""

    call: Call
    placed: Placement
    waiting: tuple[str, ...] = ()

    @property
    def hidden(self) -> tuple[str, ...]:
        """The tools that were not active only because no section of that call shows instructions."""
        return tuple(each.tool for each in self.placed.withheld if each.reason == NOT_SHOWN)


def earlier_tools(request: CallRequest) -> tuple[str, ...]:
    """The discovered tools whose protocols belong in the system prompt of the next call, in order of first discovery.

    After a compaction, these are all discovered tools that fit, since the blocks that announced them are gone.
    """
    previous = request.previous
    if previous is None:
        return ()
    tools = previous.tools
    if request.kept is not None:
        return tuple(dict.fromkeys((*tools.earlier, *tools.sent, *_found(request), *_withheld(tools))))
    return tools.earlier


def _found(request: CallRequest) -> tuple[str, ...]:
    return tuple(discovery.tool for discovery in request.found.tools)


def _withheld(tools: CallTools) -> tuple[str, ...]:
    return tuple(each.tool for each in tools.withheld)


def begin_conversation(request: CallRequest, call: Call, reason: str) -> Call:
    """The call with a system prompt of its own.

    Args:
        request: what the call is prepared from.
        call: the call as it would be without an earlier conversation.
        reason: why it is a new baseline; empty if it is none.
    """
    call = _next(request, call)
    return _with_cut(call, Cut("baseline", reason)) if reason else call


def continue_conversation(request: CallRequest, call: Call, last: LastStep) -> Call:
    """The call as the next one of the conversation of `request.previous`, without a new baseline.

    Its segments are those of the conversation's first call. News for the model is sent as a block with the new user
    message: sections whose text changed (working memory, a new date, inputs), and tools that no longer exist.

    Args:
        request: what the call is prepared from.
        call: the call as it would be without an earlier conversation.
        last: the last step of the previous call.
    """
    return _appended(request, _next(request, call), last)


def _next(request: CallRequest, call: Call) -> Call:
    """The call with its place in the conversation, its own texts of one turn, and a record of those that have ended."""
    previous, turn = request.previous, _turn(request)
    prompt = replace(call.prompt, turns=_turns(request), passing=of_turn(call.prompt.passing, turn))
    if previous is None:
        return replace(call, turn=turn, prompt=prompt)
    prompt = replace(prompt, ended=ended_before(previous, kept=request.kept))
    return reduce(_with_cut, ended_cut(previous), replace(call, turn=turn, prompt=prompt))


def _turn(request: CallRequest) -> int:
    if request.kept is not None:
        return request.kept
    return request.previous.turn + 1 if request.previous else 0


def _turns(request: CallRequest) -> tuple[str | None, ...]:
    """For each user message so far, the last result before it; empty if there is none."""
    turn, previous = _turn(request), request.previous
    known = previous.prompt.turns if previous and turn else ()
    known = known[-turn:]  # after a compaction, the newest ones remain
    turns = (*(None for _ in range(turn - len(known))), *known, request.since)
    return ("", *turns[1:]) if request.kept is not None and turns[0] is None else turns


def decided_before(last: LastStep) -> Decisions:
    """What the conversation decided up to the last step of the previous call."""
    tools = last.call.tools
    told = frozenset((*tools.base, *tools.sent, *(each.tool for each in last.placed.shown)))
    return Decisions(told, told | {*tools.earlier}, _lasting(last))


def _with_cut(call: Call, cut: Cut) -> Call:
    return replace(call, record=replace(call.record, cuts=(*call.record.cuts, cut)))


def message_room(request: CallRequest, call: Call, last: LastStep, asked: Collection[str], decided: Decisions) -> Room:
    """The room for tools that come with a user message: of the whole prompt, and of instructions.

    Args:
        request: what the call is prepared from.
        call: the call without these tools, as it would be without an earlier conversation.
        last: the last step of the previous call.
        asked: the tools, all of which exist.
        decided: the decisions to keep.
    """
    agent, count = request.agent, request.count
    late = tuple(name for name in restored_tools(request) if name in asked)

    def ask(more: str = "") -> tuple[InstructionPlace, Call]:
        made = _appended(request, call, last, Unsaid(late, PROBE + more))
        told = made.prompt.sent[-1].text if made.prompt.sent else ""
        return InstructionPlace.of(told, tokens_of(made.prompt.segments, made.prompt.blocks), count), made

    there, made = ask()
    tokens = there.counter(agent, count, lambda more: ask(more)[0])
    waits = BlockCosts.of(StepRequest(agent, made, request.found, count)).waits() if made.tools.waiting else 0
    shown = there.has_place(agent.edition(request.turn.profile, request.turn.variant))
    every = call.delivery.shows_all
    return call_room(
        request,
        Room(shown, lambda tool: tokens(agent.protocols[tool].text)),
        there.tokens + waits,
        (),
        None if every else decided,
    )


def _appended(request: CallRequest, call: Call, last: LastStep, unsaid: Unsaid = NOTHING_UNSAID) -> Call:
    agent, previous = request.agent, last.call
    sent = tuple(dict.fromkeys((*previous.tools.sent, *(discovery.tool for discovery in last.placed.shown))))
    tools = dict.fromkeys((*previous.tools.base, *sent))
    late = tuple(name for name in restored_tools(request) if name in call.tools.initial_names)
    told = ToolsInView(tuple(tools), {**previous.tools.told, **_told_within(agent, previous, sent)}, late, unsaid)
    news = make_news(request, call, previous, told)
    untold = tuple(name for name in call.tools.initial if name not in tools)
    spoken = {section.id for section in agent.sections} | set(previous.prompt.shown)
    spoken -= {*agent.spec.messages.sections}  # those with their own place are sent again with every call
    prompt = replace(
        call.prompt,
        segments=previous.prompt.segments,
        origin=previous.prompt.origin or previous.configuration.sha256,
        sent=(*last.placed.appended, *_update(news.text, call.turn, request.count, agent.spec.words)),
        messages=as_before(call, previous, spoken),
    )
    now = replace(call.tools, base=previous.tools.base, sent=(*sent, *untold), told=news.protocols)
    searched = {discovery.tool for discovery in request.found.tools if discovery.after_call_id is not None}
    new = {name: call.turn for name in untold if name not in searched}
    now = replace(now, brought={**previous.tools.brought, **new}, looks_ahead=previous.tools.looks_ahead)
    now = replace(now, withheld=_still_withheld(last, call), waiting=_still_waiting(last, told, news.protocols))
    return replace(call, prompt=prompt, tools=now, host=previous.host)


def _still_withheld(last: LastStep, call: Call) -> tuple[WithheldTool, ...]:
    """The tools that were not active at the end of the previous call and are not active at the start of this one."""
    known = {each.tool: each for each in (*_lasting(last), *call.tools.withheld)}
    return tuple(each for each in known.values() if each.tool not in call.tools.initial_names)


def _lasting(last: LastStep) -> tuple[WithheldTool, ...]:
    """The tools that a call did not activate, except those that another call may show."""
    return tuple(each for each in last.placed.withheld if each.reason != NOT_SHOWN)


def _still_waiting(last: LastStep, told: ToolsInView, now: Mapping[str, str]) -> tuple[str, ...]:
    """The tools whose cues for a first result are still pending, without those whose instructions are sent again in
    full.
    """
    said = {tool for each in last.placed.due for tool in each.tools}
    return tuple(n for n in last.waiting if n not in said and now.get(n) == told.protocols.get(n))


def _told_within(agent: Agent, previous: Call, sent: tuple[str, ...]) -> Mapping[str, str]:
    """The fingerprints of what the steps of the previous call announced."""
    protocols = agent.protocols if slots(agent, previous) else {}
    return {
        name: protocols[name].sha256 for name in sent if name in protocols and name not in previous.tools.sent_names
    }


def last_step(request: CallRequest, previous: Call) -> LastStep:
    """What the last step of the previous call sent; its tools were discovered among those of that call."""
    step = StepRequest(request.agent, previous, request.found, request.count)
    found, _ = discover_more(step)
    placed = place(step, active_tools(step, found))
    return LastStep(previous, placed, tuple(waiting(step, placed.shown)))


def _update(body: str, turn: int, count: CountTokens, words: WordsSpec, kind: str = UPDATE) -> tuple[Appended, ...]:
    """One block, numbered, because the same text may have to be sent again later."""
    if not body:
        return ()
    text = fill(words.notices.update, {"turn": str(turn + 1), "text": body})
    return (make_block(kind, text, count, turn=turn),)


def tell_withheld(request: CallRequest, call: Call, new: Sequence[WithheldTool]) -> Call:
    """The call with a block after its user message that names the tools that were not withheld before but are now.

    Under `rewrite`, the section of instructions names them at every step; if the host cannot append messages, only the
    manifest does.

    Args:
        request: what the call is prepared from.
        call: the call, as the next one of its conversation.
        new: the newly withheld tools, as far as they were known before its first step.
    """
    if call.delivery.rebuilds:
        step = StepRequest(request.agent, call, request.found, request.count)
        return _untold(call, call.tools.withheld) if call.tools.withheld and lacks_room(step) else call
    notice = withheld_notice(request.agent, call.tools, new)
    if call.delivery.host == "system-only" or not notice:
        return call
    (block,) = _update(notice, call.turn, request.count, request.agent.spec.words, WITHHELD)
    before = tokens_of(call.prompt.segments, call.prompt.blocks)
    if excess(request.agent, before + block.tokens):
        return _untold(call, new)
    return replace(call, prompt=replace(call.prompt, sent=(*call.prompt.sent, block)))


def _untold(call: Call, tools: Collection[WithheldTool]) -> Call:
    untold = {each.tool for each in tools}
    withheld = tuple(replace(each, told=False) if each.tool in untold else each for each in call.tools.withheld)
    return replace(call, tools=replace(call.tools, withheld=withheld))


_TAKEN = "taken away: the host no longer has it"
_LATE = "came within the run: active from the next message on"


def with_tools(
    request: StepRequest, tools: Sequence[str], results: Sequence[ToolResult | ResultRecord], last: Placement | None
) -> Call:
    """The call with the tools that the host has from the next request on; itself if they are the same.

    What was placed so far stays, and a notice behind the last result tells what the model knows of and is gone, or is
    back. A turn that has left tools of the host out gets none that come within its run.

    Args:
        request: the request for the step.
        tools: the names of every tool of the host.
        results: the last results, at least from the last one with a call id on.
        last: the prompt of the call's last step.
    """
    call, there = request.call, dict.fromkeys(tools)
    if call.host.turn == call.turn and there.keys() == {*call.host.there}:
        return call
    change = _HostChange.of(request, tuple(there))
    call = replace(call, host=change.host)
    if not (change.lost or change.back or change.new):
        return call
    found = discover_more(request)[0]
    placed = place(request, active_tools(request, found, last.active if last else None), last)
    cuts = [cut for cut in call.record.cuts if cut.reason != _TAKEN or cut.what not in change.back]
    cuts += [Cut(name, _TAKEN) for name in change.lost if name not in {cut.what for cut in cuts}]
    call = replace(call, tools=change.tools())
    came = (name for name in (*change.new, *change.back) if name not in call.tools.initial_names)
    cuts += [Cut(name, _LATE) for name in came if call.delivery.shows_all]
    call = replace(call, record=replace(call.record, cuts=tuple(dict.fromkeys(cuts))))
    if call.delivery.rebuilds:
        changed = replace(request, call=call)
        segments = rewritten(changed, active_tools(changed, ())).segments
        messages = call.prompt.messages and with_system(call, segments, "".join(each.text for each in segments))
        return replace(call, prompt=replace(call.prompt, segments=segments, messages=messages))
    return _frozen_so_far(request, call, placed, change.notice(results, placed))


def with_placed(request: StepRequest, last: Placement | None) -> Call:
    """The call with what its steps have placed so far, so that nothing of it is decided again."""
    found = discover_more(request)[0]
    placed = place(request, active_tools(request, found, last.active if last else None), last)
    return _frozen_so_far(request, request.call, placed, ())


def _frozen_so_far(request: StepRequest, call: Call, placed: Placement, notice: tuple[Appended, ...]) -> Call:
    """The call with what its steps have placed so far as if an earlier call had, and a notice behind it."""
    agent, tools = request.agent, request.call.tools
    sent = tuple(dict.fromkeys((*tools.sent, *(discovery.tool for discovery in placed.shown))))
    said = {tool for each in placed.due for tool in each.tools}
    waits = tuple(name for name in waiting(request, placed.shown) if name not in said)
    told = {**tools.told, **_told_within(agent, request.call, sent)}
    now = replace(call.tools, sent=sent, told=told, withheld=placed.withheld, waiting=waits)
    notice = notice if call.delivery.places_blocks else ()
    return replace(call, tools=now, prompt=replace(call.prompt, sent=(*placed.appended, *notice)))


@dataclass(frozen=True, slots=True)
class _HostChange:
    """What a request changes of the tools of a call: those that the host has lost, has again, and has in addition."""

    request: StepRequest
    host: CallHost
    lost: tuple[str, ...]
    back: tuple[str, ...]
    new: tuple[str, ...]

    @classmethod
    def of(cls, request: StepRequest, there: tuple[str, ...]) -> _HostChange:
        """The change from what the request before told."""
        call, agent, host = request.call, request.agent, request.call.host
        known, own = frozenset(there), {*agent.catalogue, agent.search_tool}
        active = {*call.tools.available, *call.tools.initial}
        gone = tuple(name for name in host.there if name not in known)
        # Between two messages, the turn says which tools of the catalogue exist, and its news tell of those.
        lost = tuple(name for name in gone if name in active or name not in own)
        within, chosen = host.turn == call.turn, own - {agent.search_tool, *call.tools.denied}
        left_out = any(name in chosen and name not in active for name in host.there)
        # A result that named a tool that was away has been sent: only a message, or another prompt, can bring the tool.
        told = {*call.tools.sent, *call.tools.base, *(host.gone if call.delivery.rebuilds else ())}
        found = {each.tool for each in request.found.tools} - told
        again = own.difference(call.tools.denied, found) if within else ()
        back = tuple(name for name in host.gone if name in known and (name not in own or name in again))
        late = (n for n in there if within and not left_out and n in chosen and n not in active and n not in found)
        gone = (*(name for name in host.gone if name not in known), *gone)
        return cls(
            request,
            replace(host, there=there, gone=gone, turn=call.turn),
            lost,
            back,
            tuple(name for name in late if name not in back),
        )

    def tools(self) -> CallTools:
        """The tools of the call after it."""
        agent, tools = self.request.agent, self.request.call.tools
        there = {*tools.available, *self.back, *self.new}.difference(self.lost)
        unasked = {*agent.core, *tools.base, *tools.earlier, *tools.brought}
        if not self.request.call.delivery.rebuilds:  # the next message brings what was never told
            unasked.difference_update({*agent.protocols}.difference(tools.base, tools.sent))
        unasked.add(agent.search_tool)
        initial = (*(name for name in tools.initial if name not in self.lost), *(n for n in self.back if n in unasked))
        return replace(tools, available=tuple(name for name in agent.catalogue if name in there), initial=initial)

    def notice(self, results: Sequence[ToolResult | ResultRecord], placed: Placement) -> tuple[Appended, ...]:
        """The block that tells of it, as far as the model knows these tools."""
        call, agent = self.request.call, self.request.agent
        hidden = {*agent.catalogue}.difference(call.tools.base, call.tools.initial, call.tools.sent)
        hidden.difference_update((each.tool for each in placed.shown), (agent.search_tool,))
        lost, back = ([name for name in names if name not in hidden] for names in (self.lost, self.back))
        text = "".join(tool_notices(lost, back, agent.spec.words))
        since = last_call_id(results)
        since = None if call.prompt.turns and since == call.prompt.turns[-1] else since
        turn = None if since else call.turn
        return (make_block(TOOLS, text, self.request.count, after=since, turn=turn),) if text else ()


def with_front(call: Call, names: tuple[str, ...], lost: tuple[str, ...]) -> Call:
    """The call with the definitions that stand in front of its last request; itself if they are those of the request
    before.

    Others are a new beginning of all that a provider has cached, and no request can be without it: so it is named.

    Args:
        call: the call.
        names: the names of the definitions, in their order.
        lost: found, brought or announced tools whose definitions are not to be had, so that nothing can refer to them.
    """
    host = call.host
    if (names, lost) == (host.front, host.lost):
        return call
    told = replace(call, host=replace(host, front=names, lost=lost))
    if not host.front or call.delivery.rebuilds:
        return told
    there, before = {*names}, {*host.front}
    came = [*(name for name in names if name not in before), *(name for name in host.lost if name not in lost)]
    left = [name for name in host.front if name not in there]
    left += [name for name in lost if name not in host.lost and name in host.gone]
    if names == host.front and not (came or left):
        return told
    changes = [f"{_listed(some)} {verb}" for some, verb in ((came, "came"), (left, "left")) if some] or ["other order"]
    return _with_cut(told, Cut("baseline", f"the definitions in front of the request changed: {', '.join(changes)}"))


_FEW = 5
"""How many names of definitions a reason has."""


def _listed(names: Sequence[str]) -> str:
    names = [*dict.fromkeys(names)]
    more = f" and {len(names) - _FEW} more" if len(names) > _FEW else ""
    return ", ".join(f"`{name}`" for name in names[:_FEW]) + more


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
        return request.lost or _replaced(request) or _COMPACTED
    if previous.configuration.reload == "append" or is_mixed(previous):
        return f"{_APPENDED}: {_ANEW}"
    if previous.configuration.sha256 != request.agent.sha256:
        return f"the configuration changed: {_ANEW}"
    return _redelivered(previous.delivery, delivery) or _replaced(request)


def _redelivered(before: DeliveryChoice, now: DeliveryChoice) -> str:
    if before.name != now.name:
        return f"the delivery changed from {before.name} to {now.name}: {_ANEW}"
    if before.places_blocks is not now.places_blocks:  # under `frozen`, texts of one turn stand elsewhere now
        return f"the host changed from {before.host} to {now.host}: {_ANEW}"
    return ""


def _replaced(request: CallRequest) -> str:
    """Why this call replaces one made from other files within the same run, or a lost one; empty if it does not."""
    return next((found.message for found in request.turn.diagnostics if found.code in {CHANGED, LOST}), "")
