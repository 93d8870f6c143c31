"""Where the instructions of tools are placed: in the system prompt, or behind the result that found them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache, cached_property, partial
from itertools import groupby
from typing import Any, TypeAlias
from weakref import finalize

from cuecard.agent import PROTOCOLS, Agent, Section
from cuecard.config.values import fill
from cuecard.model import Appended, Call, CallTools, CountTokens, Cut, Discovery, Manifest, Segment, WithheldTool
from cuecard.model.prompt import BYTES, made_later, most_tokens
from cuecard.pipeline.cues import Due, due
from cuecard.pipeline.fingerprints import salted, sha256
from cuecard.pipeline.fit import Activation, Room, activate, step_room
from cuecard.pipeline.limits import within_budget
from cuecard.pipeline.request import CallRequest, StepRequest, check_texts
from cuecard.pipeline.segments import (
    PROBE,
    InstructionPlace,
    count_pieces,
    laid_out,
    make_segments,
    render_sections,
    said,
)
from cuecard.records import dataclass, replace


def make_block(
    kind: str, text: str, count: CountTokens, *, after: str | None = None, turn: int | None = None
) -> Appended:
    """The block; its id is derived from its text, so the same text has the same id.

    Args:
        kind: the beginning of the id.
        text: its text.
        count: how tokens are counted.
        after: the call id of the result that it follows.
        turn: the number of the user message that it belongs to.
    """
    digest = sha256(text)
    return Appended(after, text, f"{kind}-{digest[:12]}", made_later(partial(count, text)), digest, turn)


AHEAD = "found-ahead"
"""The beginning of the id of a block with the instructions of tools found ahead by the user's own words."""

CUES = "cues"
"""The beginning of the id of a block with cues for first results."""

TOOLS = "changed-tools"
"""The beginning of the id of a block that says which tools have gone or come back within a run."""

WITHHELD = "withheld-tools"
"""The beginning of the id of a block that only says which tools are not active."""


def tokens_of(segments: Iterable[Segment], appended: Iterable[Appended]) -> int:
    """The tokens of a system prompt and of blocks in the conversation."""
    return sum(segment.tokens for segment in segments) + sum(block.tokens for block in appended)


News: TypeAlias = Discovery | WithheldTool | Due
"""What a call must send after a result."""


@dataclass(frozen=True)
class Placement:
    """The two parts of a prompt: segments of the system prompt, and blocks in the conversation.

    `active` says which discovered tools it contains, `cuts` what was left out of sections, and `due` the cues triggered
    by first results of tools; `news` is all that the call has sent after results. `passing` are blocks that do not
    stay.
    """

    segments: tuple[Segment, ...]
    appended: tuple[Appended, ...]
    active: Activation
    cuts: tuple[Cut, ...] = ()
    due: tuple[Due, ...] = ()
    news: tuple[News, ...] = ()
    passing: tuple[Appended, ...] = ()

    @cached_property
    def made(self) -> list[tuple[Any, Manifest]]:
        """The last manifest of exactly this prompt, with what it was made of: steps that find nothing share it."""
        return []

    @property
    def blocks(self) -> tuple[Appended, ...]:
        """All blocks, in the order in which they are placed."""
        return (*self.appended, *self.passing)

    @property
    def shown(self) -> tuple[Discovery, ...]:
        """The active discovered tools, in order of discovery."""
        return self.active.shown

    @property
    def withheld(self) -> tuple[WithheldTool, ...]:
        """The tools that were found and are not active."""
        return self.active.withheld

    @property
    def tokens(self) -> int:
        """The tokens of both parts."""
        return tokens_of(self.segments, self.blocks)

    def salted(self, salt: str) -> Placement:
        """The same prompt with salted fingerprints, and block ids derived from them."""
        if not salt:
            return self
        segments = (replace(segment, sha256=salted(segment.sha256, salt)) for segment in self.segments)
        appended, passing = (tuple(_salted(e, salt) for e in part) for part in (self.appended, self.passing))
        return replace(self, segments=tuple(segments), appended=appended, passing=passing)


def active_tools(
    request: StepRequest,
    discovered: Sequence[Discovery],
    last: Activation | None = None,
    room: Callable[..., Room] | None = None,
) -> Activation:
    """Which of these tools are active, each decided once; decisions of the call's `last` step stay.

    `room` gives the room in the call, if it is known already. Where tokens are not ready to be counted, they are only
    if one for each byte would not fit.
    """
    room = room or partial(room_for, request)
    if getattr(request.count, "ready", True) or (last and last.room and not last.most):
        return activate(request, discovered, room, last)
    begun = replace(last, room=last.most) if last else None
    sure = activate(replace(request, count=BYTES), discovered, partial(room, at_most=True), begun)
    if last and sure is begun:
        return last
    if sure.withheld != (last.withheld if last else request.call.tools.withheld):
        return activate(request, discovered, room, last)

    def left() -> Room:
        return (activate(request, discovered, room).room or room)()

    return replace(sure, room=cache(left), most=sure.room) if sure.room else sure


def room_for(request: StepRequest, *, at_most: bool = False) -> Room:
    """The room for tools that are decided within a call; with `at_most` as if every byte were a token."""
    return room_within(_at_most(request) if at_most else request)


def _at_most(request: StepRequest) -> StepRequest:
    """The request as it would be if every byte were a token."""
    prompt = request.call.prompt
    segments = tuple(Segment(s.id, s.text, s.tier, most_tokens(s.text), s.sha256, s.stable) for s in prompt.segments)
    sent, passing = (
        tuple(
            Appended(b.after_call_id, b.text, b.id, most_tokens(b.text), b.sha256, b.turn, b.lifetime) for b in blocks
        )
        for blocks in (prompt.sent, prompt.passing)
    )
    call = replace(request.call, prompt=replace(prompt, segments=segments, sent=sent, passing=passing))
    return replace(request, call=call, count=BYTES)


def place(request: StepRequest, active: Activation, last: Placement | None = None) -> Placement:
    """The prompt with the instructions of active tools, under the call's delivery; what its `last` step placed stays.

    Withheld tools are named where their instructions would be.
    """
    cues, passing = due(request, active.shown), request.call.prompt.passing
    if last and last.shown == active.shown and last.withheld == active.withheld and last.due == cues:
        return last if last.passing == passing else replace(last, passing=passing)
    if request.call.delivery.rebuilds:
        return _rewrite(request, active)
    news, blocks = _news(request, active, cues), request.call.prompt.sent
    new = news
    if last and _goes_on(last.news, news):
        new, blocks = news[len(last.news) :], last.appended
    appended = _append(request, new, blocks)
    return Placement(request.call.prompt.segments, appended, active, due=cues, news=news, passing=passing)


def lacks_room(request: StepRequest) -> bool:
    """Whether the prompt of a call has no room for the notice about the tools that are not active from its start."""
    return room_within(request).overdrawn


def room_within(request: StepRequest) -> Room:
    """The room for tools that are decided within a call, and what its sections show of them."""
    return _room_in_prompt(request) if request.call.delivery.rebuilds else _room_in_messages(request)


class CallRooms:
    """The room in each call that has had a step, as long as the call exists: it cannot change, and has many steps.

    `ask` gives the room in a call, with `at_most` as if every byte were a token.
    """

    def __init__(self, ask: Callable[..., Room]) -> None:
        self._ask, self._rooms = ask, dict[int, Callable[..., Room]]()

    def of(self, call: Call) -> Callable[..., Room]:
        """The room in a call whose texts fit their fingerprints.

        Raises:
            InputError: when the call was edited.
        """
        known = self._rooms.get(id(call))
        if known is None:
            check_texts(call, "call")
            known = self._rooms[id(call)] = cache(partial(self._ask, replace(call)))  # of a copy: the call may go
            finalize(call, self._rooms.pop, id(call), None).atexit = False
        return known


def _room_in_prompt(request: StepRequest) -> Room:
    agent, asked = request.agent, _ask_prompt(request)
    withheld = request.call.tools.withheld
    notice = withheld_notice(agent, request.call.tools, withheld)
    tokens = asked.counter(agent, request.count, lambda more: _ask_prompt(request, more))
    room = Room(
        asked.has_place(edition(request)),
        cache(lambda tool: tokens(agent.protocols[tool].text)),
        _named(request, tokens),
        times=asked.times or 1,
        noticed=frozenset((0, each.lacks_definition) for each in withheld if each.told),
    )
    return step_room(request, room, asked.tokens + (tokens(notice) if notice else 0), asked.sections)


def _ask_prompt(request: StepRequest, more: str = "") -> InstructionPlace:
    """The place of instructions in the system prompt beside those of the call, and its tokens until then."""
    agent, call, count = request.agent, request.call, request.count
    sections, stepwise = _stepwise(request)
    texts = render_sections(agent, stepwise, call.values, call.tools.initial, notice=PROBE + more)
    probed = [each for each in zip(stepwise, texts, strict=True) if PROTOCOLS in each[0].reads]
    bodies = {section.id: call.prompt.shown.get(section.id, "") for section in sections}
    for section, text in zip(stepwise, texts, strict=True):
        bodies[section.id] = within_budget(section, text, agent.names, count)[0]
    bodies |= {section.id: text for section, text in probed}
    pieces = [text for text in laid_out(agent, sections, list(bodies.values())) if text]
    return InstructionPlace.of("".join(pieces), sum(count_pieces(pieces, count)), count).within(agent, probed, count)


def _room_in_messages(request: StepRequest) -> Room:
    prompt, message = request.call.prompt, BlockCosts.of(request)
    named = _named(request, message.tokens if message.asked.shown else request.count)
    room = Room(message.asked.has_place(edition(request)), cache(message.takes), named, message.asked.tokens)
    return step_room(request, room, tokens_of(prompt.segments, prompt.blocks) + message.waits())


@dataclass(frozen=True, slots=True)
class BlockCosts:
    """What a block with the sections of instructions takes, in tokens.

    `tokens` counts a text in it, and `cues` says whether cues for first results come in such blocks, too.
    """

    request: StepRequest
    asked: InstructionPlace
    tokens: CountTokens
    cues: bool

    @classmethod
    def of(cls, request: StepRequest) -> BlockCosts:
        """The blocks of a call."""
        asked, agent, call = _ask_message(request), request.agent, request.call
        tokens = asked.counter(agent, request.count, lambda more: _ask_message(request, more))
        return cls(request, asked, tokens, bool(agent.spec.tools.cues.on_result) and call.delivery.name == "append")

    def takes(self, tool: str) -> int:
        """The tokens of a tool's instructions, with its cues that are still to come."""
        protocol = self.request.agent.protocols[tool]
        first = self.tokens(protocol.first)
        return first + self.asked.tokens + self.tokens(protocol.later) if self.cues and protocol.later else first

    def waits(self) -> int:
        """The tokens of the cues that earlier calls have left to come."""
        if not self.cues:
            return 0
        known = map(self.request.agent.protocols.get, self.request.call.tools.waiting)
        return sum(self.asked.tokens + self.tokens(each.later) for each in known if each and each.later)


def _ask_message(request: StepRequest, more: str = "") -> InstructionPlace:
    agent, call, there = request.agent, request.call, slots(request.agent, request.call)
    text = said(there, render_sections(agent, there, call.values, (), notice=PROBE + more))
    return InstructionPlace.of(text, request.count(text), request.count)


def _named(request: StepRequest, takes: Callable[[str], int]) -> Callable[[WithheldTool, bool], int]:
    words, tools = request.agent.spec.words, request.call.tools

    def tokens(lost: WithheldTool, first: bool) -> int:  # noqa: FBT001 - `Room.named` calls it by position
        one = [replace(lost, told=True)]
        return takes(
            withheld_notice(request.agent, tools, one) if first else words.marks.between + words.quoted(lost.tool)
        )

    return tokens


def _news(request: StepRequest, active: Activation, cues: tuple[Due, ...]) -> tuple[News, ...]:
    """What this call must send about discovered tools, in order of discovery, and about their first results."""
    tools, shown = request.call.tools, active.shown
    told = tuple(each for each in shown if each.tool not in tools.sent_names) if tools.sent else shown
    unfit = active.withheld[len(tools.withheld) :]
    if not (unfit or cues):
        return told
    order = {discovery.tool: place for place, discovery in enumerate(request.found.tools)}
    places = [(order[each.tool], 0) for each in told] + [(order[each.tool], 0) for each in unfit]
    places += [(each.behind - 1, 1) for each in cues]
    news: list[News] = [*told, *unfit, *cues]
    return tuple(news[at] for at in sorted(range(len(news)), key=places.__getitem__))


def _goes_on(before: tuple[News, ...], now: tuple[News, ...]) -> bool:
    """Whether the new parts get separate blocks: no earlier block follows the same result."""
    goes_on = now[: len(before)] == before
    same = before and len(now) > len(before) and before[-1].after_call_id == now[len(before)].after_call_id
    return goes_on and not same


def _salted(block: Appended, salt: str) -> Appended:
    digest, name = salted(block.sha256, salt), block.id.removesuffix(block.sha256[:12])
    return replace(block, sha256=digest, id=block.id if name == block.id else f"{name}{digest[:12]}")


def _rewrite(request: StepRequest, active: Activation) -> Placement:
    """Render every step-tier section again, within its budget; the others stay as the call rendered them."""
    if not (active.shown or active.withheld) or not _stepwise(request)[1]:
        return Placement(request.call.prompt.segments, (), active)
    return rewritten(request, active)


def rewritten(request: StepRequest, active: Activation) -> Placement:
    """The system prompt with every step-tier section rendered again."""
    agent, call, shown, withheld = request.agent, request.call, active.shown, active.withheld
    sections, stepwise = _stepwise(request)
    tools, notice = (*call.tools.initial, *(d.tool for d in shown)), withheld_notice(agent, call.tools, withheld)
    rendered = render_sections(agent, stepwise, call.values, tools, notice=notice)
    texts = zip(stepwise, rendered, strict=True)
    fitted = {section.id: within_budget(section, text, agent.names, request.count) for section, text in texts}
    bodies = [fitted[s.id][0] if s.id in fitted else call.prompt.shown.get(s.id, "") for s in sections]
    segments = make_segments(agent, sections, bodies, request.count, call.prompt.segments)
    return Placement(segments, (), active, tuple(cut for _, cuts in fitted.values() for cut in cuts))


def _stepwise(request: StepRequest) -> tuple[list[Section], list[Section]]:
    """The sections of the system prompt, and those of them that are rendered at each step under `rewrite`."""
    sections = [section for section in edition(request) if section.spec.role == "system"]
    shown = request.call.prompt.shown
    return sections, [section for section in sections if section.tier == "step" and section.id in shown]


def _append(request: StepRequest, new: tuple[News, ...], before: tuple[Appended, ...]) -> tuple[Appended, ...]:
    """The earlier blocks, and one per result: the section for protocols, filled with only the new ones."""
    agent, call = request.agent, request.call
    there = slots(agent, call)
    blocks, protocols = list(before), agent.protocols
    for (after, is_due), group in groupby(new, key=lambda each: (each.after_call_id, type(each) is Due)):
        if is_due:
            blocks += [_cues(request, there, after, each.tools) for each in group if isinstance(each, Due) and there]
            continue
        found = list(group)
        unfit = [each for each in found if isinstance(each, WithheldTool)]
        tools = [each.tool for each in found if isinstance(each, Discovery) and each.tool in protocols]
        notice = withheld_notice(agent, call.tools, unfit) if unfit else ""
        text = notice if not there else _first(request, there, tools, notice)
        if notice or (tools and there):
            blocks.append(make_block(there[0].id if there else WITHHELD, text, request.count, after=after))
    return tuple(blocks)


def _first(request: StepRequest, there: Sequence[Section], tools: Sequence[str], notice: str) -> str:
    values = request.call.values
    return said(there, render_sections(request.agent, there, values, tools, notice=notice, form="first"))


def _cues(request: StepRequest, there: Sequence[Section], after: str | None, tools: Sequence[str]) -> Appended:
    text = cues_text(request.agent, request.call, there, tools)
    return make_block(CUES, text, request.count, after=after)


def cues_text(agent: Agent, call: Call, there: Sequence[Section], tools: Sequence[str]) -> str:
    """The cues for the first results of tools, in the section of instructions."""
    return said(there, render_sections(agent, there, call.values, tools, form="later"))


def withheld_notice(agent: Agent, tools: CallTools, withheld: Iterable[WithheldTool]) -> str:
    """The notices about tools that were found but are not active; empty if there are none.

    Args:
        agent: the agent, with its words.
        tools: those of the call that says it.
        withheld: the tools that are not active.
    """
    words = agent.spec.words
    notices = {False: words.notices.withheld_tools, True: words.notices.withheld_definitions}
    lost: dict[bool, list[str]] = {False: [], True: []}
    for each in withheld:
        if each.told:
            lost[each.lacks_definition and tools.tells_definitions].append(each.tool)
    return "".join(fill(notices[kind], {"tools": words.listed(names)}) for kind, names in lost.items() if names)


def slots(agent: Agent, call: Call) -> tuple[Section, ...]:
    """The sections of a call that contain protocols, in order."""
    edition = agent.edition(call.configuration.profile, call.configuration.variant)
    shown = call.prompt.shown
    return tuple([section for section in edition if PROTOCOLS in section.reads and section.id in shown])


def edition(request: StepRequest) -> tuple[Section, ...]:
    """The parts of the prompt that a call selected, shown or not."""
    configuration = request.call.configuration
    return request.agent.edition(configuration.profile, configuration.variant)


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
