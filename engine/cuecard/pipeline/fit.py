"""What fits: the one place where a budget is compared with a cost.

Costs are tokens of whole pieces, known before anything is placed, and they add: the instructions of a tool, the opening
and closing of the message or section around them, and the notice about tools that are not active. So one pass decides,
for calls, for steps, and for what a search may announce: a tool is active if its whole instructions fit into the room
that is left; several at once are, if all of theirs do. No text is looked at here.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple, TypeAlias

from cuecard.agent.agent import Agent
from cuecard.agent.sections.section import Section
from cuecard.model import Cut, Discovery, WithheldTool
from cuecard.model.tools import DEFINITIONS
from cuecard.pipeline.request import CallRequest, StepRequest
from cuecard.records import dataclass, replace

NOT_SHOWN = "no section of this call shows its instructions"


class Budget(NamedTuple):
    """What is left of a budget, and the reason for whatever does not fit into it."""

    reason: str
    left: int


_NOWHERE = Budget(NOT_SHOWN, 0)


class Offer(NamedTuple):
    """A tool that was found and is not decided yet.

    Attributes:
        tool: its name.
        tokens: those of its whole instructions; 0 if it has none.
        after_call_id: the search result that named it first.
        message: which message will contain them; 0 for the system prompt.
        paid: whether it has its room among the instructions already.
        there: whether it exists for the call; otherwise, its instructions only keep their room.
        definition: the tokens of its definition where a budget limits those; 0 if it is not known.
    """

    tool: str
    tokens: int
    after_call_id: str | None = None
    message: int = 0
    paid: bool = False
    there: bool = True
    definition: int = 0

    @property
    def costs(self) -> bool:
        """Whether it takes room anywhere."""
        return bool(self.tokens or self.definition)


class Room(NamedTuple):
    """What is left for the instructions of tools, and what they take.

    Attributes:
        shown: whether a section of the call has a place for them.
        takes: the tokens of a tool's instructions in the prompt, with its cues that are still to come.
        named: the tokens that one more tool adds to the notice about inactive ones, and whether it begins the notice;
            None where that is said elsewhere.
        opening: the tokens of the opening and closing of a message.
        times: how often the prompt shows instructions.
        protocols: the budget of instructions; None if there is none.
        definitions: the budget of definitions.
        total: the budget of the whole prompt.
        section: the budget of the section of instructions, of which the notice takes only what they leave.
        noticed: the messages that contain a notice, each with whether that is about definitions.
    """

    shown: bool
    takes: Callable[[str], int]
    named: Callable[[WithheldTool, bool], int] | None = None
    opening: int = 0
    times: int = 1
    protocols: Budget | None = None
    total: Budget | None = None
    section: Budget | None = None
    noticed: frozenset[tuple[int, bool]] = frozenset()
    definitions: Budget | None = None

    @property
    def overdrawn(self) -> bool:
        """Whether the whole prompt exceeds its budget without any more tools."""
        return self.total is not None and self.total.left < 0


class Fit(NamedTuple):
    """The decisions about offers, in their order: the active tools, and the others with the reasons.

    `room` gives the room that they left.
    """

    active: tuple[str, ...]
    withheld: tuple[WithheldTool, ...]
    room: Callable[[], Room]


def first_fit(offers: Iterable[Offer], room: Room, *, anew: bool = False) -> Fit:
    """Each tool whose whole instructions fit into what is left is active.

    Args:
        offers: the tools, in the order in which they get room.
        room: the room for them.
        anew: whether they are for a new system prompt, which keeps the tools that were used last: after one for which
            it has no room, there are no others. Each then takes its part of the budget of instructions, active or not.
    """
    left, active, withheld = _Remainder(room), list[str](), list[WithheldTool]()
    for tool, tokens, after, message, paid, there, definition in offers:
        asked = 0 if paid else tokens
        lacks = left.take(asked, definition, (tool,) if there and tokens else (), {message})
        if not lacks:
            active.append(tool)
            continue
        if anew and lacks is not room.protocols and lacks is not room.definitions:
            left.protocols -= asked
            left.full = None if lacks is _NOWHERE else lacks
        lost = WithheldTool(tool, after, lacks.reason, definition if lacks is room.definitions else tokens)
        withheld.append(left.tell(lost, message))
    return Fit(tuple(active), tuple(withheld), left.room)


class _Remainder:
    """What is left of a room while tools are decided; `full` is the budget that has none for any more instructions."""

    __slots__ = ("_of", "definitions", "full", "noticed", "opened", "protocols", "section", "total")

    def __init__(self, room: Room) -> None:
        self._of = room
        self.full: Budget | None = None
        budgets = (room.protocols, room.definitions, room.total, room.section)
        self.protocols, self.definitions, self.total, self.section = map(_tokens, budgets)
        self.opened, self.noticed = set[int](), {*room.noticed}

    def take(self, asked: int, definition: int, placed: Collection[str], messages: AbstractSet[int]) -> Budget | None:
        """Take the room for a tool, or for several at once; or else take nothing, and give the budget that lacks room.

        Args:
            asked: the tokens that they need of the budget of instructions.
            definition: those of their definitions.
            placed: those of them whose instructions need a place.
            messages: the messages that will contain those.
        """
        if asked > self.protocols:
            return self._of.protocols
        if definition > self.definitions:
            return self._of.definitions
        if placed and (lacks := self._place(placed, messages)):
            return lacks
        self.protocols, self.definitions = self.protocols - asked, self.definitions - definition
        return None

    def _place(self, tools: Collection[str], messages: AbstractSet[int]) -> Budget | None:
        room = self._of
        if self.full:
            return self.full
        takes = sum(map(room.takes, tools)) if room.total or room.section else 0
        needed, once = takes + room.opening * len(messages - self.opened), takes // room.times
        if needed > self.total:
            return room.total
        if once > self.section:
            return room.section
        if not room.shown:
            return _NOWHERE
        self.total, self.section = self.total - needed, self.section - once
        self.opened |= messages
        return None

    def tell(self, lost: WithheldTool, message: int) -> WithheldTool:
        """A tool that is not active: told if the prompt has room for that, which is taken."""
        room, notice = self._of, (message, lost.lacks_definition)
        if not (room.named and room.total):
            return lost
        needed = room.named(lost, notice not in self.noticed) + (0 if message in self.opened else room.opening)
        if needed > self.total:
            return replace(lost, told=False)
        self.total -= needed
        self.opened.add(message)
        self.noticed.add(notice)
        return lost

    def room(self) -> Room:
        """The room that is left."""
        room = self._of
        return room._replace(
            protocols=room.protocols and Budget(room.protocols.reason, self.protocols),
            definitions=room.definitions and Budget(room.definitions.reason, self.definitions),
            total=room.total and Budget(room.total.reason, self.total),
            section=room.section and Budget(room.section.reason, self.section),
            noticed=frozenset(self.noticed),
        )


def _tokens(budget: Budget | None) -> int:
    return sys.maxsize if budget is None else budget.left


@dataclass(frozen=True, slots=True)
class Decisions:
    """A conversation's binding decisions since its last baseline, including its last step.

    Attributes:
        told: the tools that were announced to the model.
        kept: those that already have room, even if they did not exist when the system prompt was made.
        withheld: those that are not active.
    """

    told: frozenset[str] = frozenset()
    kept: frozenset[str] = frozenset()
    withheld: tuple[WithheldTool, ...] = ()


NOTHING_DECIDED = Decisions()


def call_offers(request: CallRequest, known: Sequence[str], there: Collection[str], decided: Decisions) -> list[Offer]:
    """The tools that are decided with a call, in the order in which they get room: core tools, then the most recently
    used. The core tools that the agent file names itself have their room already.

    Args:
        request: what the call is prepared from.
        known: the tools that belong in its prompt, in order of discovery.
        there: the tools that exist for the call.
        decided: the decisions to keep.
    """
    if not known:
        return []
    gone, core = {each.tool for each in decided.withheld}, request.agent.core_names
    done = gone.union(request.agent.named, (request.agent.search_tool,))
    open_ = [name for name in known if name not in done]
    new = [name for name in open_ if name in there and name not in decided.told]
    used = recent_first([n for n in new if n not in core], request.found.called, request.found.named)
    first = (*(name for name in new if name in core), *used)
    asked = (*first, *(name for name in open_ if name not in there and name not in decided.kept))
    kept = decided.kept | core
    defined = _definitions(request, (name for name in asked if name not in kept))
    offers = [Offer(name, cost(request, name), paid=name in kept, there=name in there) for name in asked]
    return [each._replace(definition=defined.get(each.tool, 0)) for each in offers]


Limited: TypeAlias = Sequence[tuple[Section, int]]
"""Sections of instructions with budgets of their own, each with the tokens that it needs for others than those."""


def call_room(request: CallRequest, room: Room, used: int, limited: Limited, decided: Decisions | None) -> Room:
    """The room for the tools of a call within its budgets.

    Args:
        request: what the call is prepared from.
        room: what its sections show, and what that takes.
        used: the tokens of the prompt without these tools.
        limited: the sections that must contain them, if each has a budget.
        decided: the decisions to keep; None where every tool is active, regardless of the budget of instructions.
    """
    taken = decided.kept.difference(each.tool for each in decided.withheld) if decided else None
    return _within(request, room, used, limited, taken)


def step_room(request: StepRequest, room: Room, used: int, limited: Limited = ()) -> Room:
    """The room for the tools that are decided within a call; the arguments are those of `call_room`."""
    return _within(request, room, used, limited, {*request.call.tools.earlier, *request.call.tools.sent})


def _within(
    request: CallRequest | StepRequest, room: Room, used: int, limited: Limited, taken: Collection[str] | None
) -> Room:
    """The room within the budgets; `taken` are the tools that have theirs already, None where those have no budget."""
    protocols, definitions = (None, None) if taken is None else _of_tools(request, taken)
    limit, section = request.agent.budget.total, _of_sections(limited)
    total = None if limit is None else Budget(f"budget.total: {limit} tokens", limit - used)
    return room._replace(protocols=protocols, definitions=definitions, total=total, section=section)


def _of_tools(request: CallRequest | StepRequest, taken: Collection[str]) -> tuple[Budget | None, Budget | None]:
    """The budgets of instructions and of definitions without what these tools take, and core tools of the second."""
    limits, core = request.agent.budget, request.agent.core_names
    protocols = definitions = None
    if limits.protocols is not None:
        used = sum(cost(request, tool) for tool in taken if tool not in core)
        protocols = Budget(f"budget.protocols: {limits.protocols} tokens", limits.protocols - used)
    if limits.definitions is not None:
        used = sum(_definitions(request, core.union(taken)).values())
        definitions = Budget(f"{DEFINITIONS}{limits.definitions} tokens", limits.definitions - used)
    return protocols, definitions


def _of_sections(limited: Limited) -> Budget | None:
    if not limited:
        return None
    name, limit = limited[0][0].id, limited[0][0].spec.budget
    left = max((section.spec.budget or 0) - tokens for section, tokens in limited)
    return Budget(f"budget of the section `{name}`: {limit} tokens", left)


def as_told(withheld: Sequence[WithheldTool], room: Room, *, anew: bool) -> tuple[WithheldTool, ...]:
    """The tools that are not active as a call names them: first those without room among the instructions; of the
    others, a new baseline names the least recently used first.
    """
    of_protocols = room.protocols.reason if room.protocols else None
    first = [each for each in withheld if each.reason == of_protocols]
    rest = [each for each in withheld if each.reason != of_protocols]
    return (*first, *(reversed(rest) if anew else rest))


@dataclass(frozen=True, slots=True)
class Activation:
    """Which discovered tools are active in a step, in order of discovery, and which are not.

    `done` are the names of all of them, and `room` gives what they left, if a tool was decided within the call; `most`
    gives the same as if every byte were a token, as long as they were decided so.
    """

    shown: tuple[Discovery, ...]
    withheld: tuple[WithheldTool, ...]
    done: frozenset[str]
    room: Callable[[], Room] | None = None
    most: Callable[[], Room] | None = None


def activate(
    request: StepRequest, discovered: Sequence[Discovery], ask: Callable[[], Room], last: Activation | None = None
) -> Activation:
    """Which discovered tools are active, each decided once.

    Tools discovered before the call come first, the most recently used ones first, followed by those discovered during
    the run, in order of discovery. Decisions by earlier steps, or by calls since the last baseline, stay.

    Args:
        request: the request for the step.
        discovered: every existing tool that was discovered, in order of first discovery.
        ask: gives the room for tools that are not decided; called only if there are any.
        last: the decisions of the call's last step.
    """
    tools, first = request.call.tools, last is None
    if last is None:
        sent = tuple([each for each in discovered if each.tool in tools.sent_names]) if tools.sent else ()
        done = frozenset([*[each.tool for each in sent], *[each.tool for each in tools.withheld]])
        last = Activation(sent, tools.withheld, done)
    done = last.done
    new = [discovery for discovery in discovered if discovery.tool not in done] if done else discovered
    if not new:
        return last
    room = (last.room or ask)()
    fit = _all_at_once(request, new, room) or first_fit(_step_offers(request, new), room)
    late: Sequence[Discovery] = discovered if first else new
    if fit.withheld or (first and last.withheld):  # else all of them are active
        active = {*fit.active, *tools.sent} if first else {*fit.active}
        late = [discovery for discovery in late if discovery.tool in active]
    shown = tuple(late) if first else (*last.shown, *late)
    done = done.union(fit.active, [each.tool for each in fit.withheld])
    return Activation(shown, (*last.withheld, *fit.withheld), done, fit.room)


def _all_at_once(request: StepRequest, new: Sequence[Discovery], room: Room) -> Fit | None:
    """Every tool, if there is room for all of them, as there mostly is; otherwise each has to be decided."""
    names, protocols, messages = [each.tool for each in new], request.agent.protocols, _messages(request, new)
    count = request.count.__call__  # a bound method is called in half the time of an object
    costs = {name: count(protocols[name].text) for name in names if name in protocols}
    placed = [name for name, tokens in costs.items() if tokens]
    defined, left = sum(_definitions(request, names).values()), _Remainder(room)
    lacks = left.take(sum(costs.values()), defined, placed, {messages.get(name, 0) for name in placed})
    return None if lacks else Fit(tuple(names), (), left.room)


def _step_offers(request: StepRequest, new: Sequence[Discovery]) -> list[Offer]:
    """The undecided tools, in the order of decision."""
    tools, messages = request.call.tools, _messages(request, new)
    before = {discovery.tool for discovery in tools.discovered}
    early = {discovery.tool: discovery for discovery in new if discovery.tool in before}
    first = recent_first(early, tools.called, tools.named)
    order = (*[early[name] for name in first], *[each for each in new if each.tool not in early])
    defined = _definitions(request, [each.tool for each in order])
    offers = [Offer(d.tool, cost(request, d.tool), d.after_call_id, messages.get(d.tool, 0)) for d in order]
    return [each._replace(definition=defined.get(each.tool, 0)) for each in offers]


def _messages(request: StepRequest, new: Sequence[Discovery]) -> dict[str, int]:
    """Which message contains each of these tools: one per result, or two if cues come between; numbers above 0."""
    if request.call.delivery.rebuilds:  # they are in the system prompt
        return {}
    found, ends = request.found.tools, {answer.behind for answer in request.found.answers}
    missing, numbers, place = {discovery.tool for discovery in new}, dict[str, int](), len(found)
    while missing and place:  # from the end, where most new tools are
        last, after = place, found[place - 1].after_call_id
        place -= 1
        while place and found[place - 1].after_call_id == after and place not in ends:
            place -= 1
        together = [discovery.tool for discovery in found[place:last]]
        numbers |= dict.fromkeys(together, last)
        missing.difference_update(together)
    return numbers


def cost(request: CallRequest | StepRequest, tool: str) -> int:
    """The tokens of a tool's instructions; 0 if it has none."""
    protocol = request.agent.protocols.get(tool)
    return request.count(protocol.text) if protocol else 0


def _definitions(request: CallRequest | StepRequest, tools: Iterable[str]) -> dict[str, int]:
    """The tokens of the definitions of these tools as far as they are known, if a budget limits them; else none."""
    agent = request.agent
    if agent.budget.definitions is None:
        return {}
    return {tool: request.count(agent.catalogue.definition(tool)) for tool in tools}


def recent_first(tools: Iterable[str], called: Sequence[str], named: Sequence[str]) -> tuple[str, ...]:
    """The tools in the order in which they get room.

    Called tools come first, beginning with the last called; then those named by a search, beginning with the last
    named; then all others, beginning with the last.

    Args:
        tools: their names, in order of discovery.
        called: tools that were called, the one with the oldest last result first.
        named: tools that searches named, ending with the best hit of the latest search.
    """
    calls, names = ({name: place for place, name in enumerate(each)} for each in (called, named))
    ranked = sorted(enumerate(tools), key=lambda each: (calls.get(each[1], -1), names.get(each[1], -1), each[0]))
    return tuple(name for _, name in reversed(ranked))


def without_room(request: CallRequest, tools: Iterable[str], limit: int) -> tuple[str, ...]:
    """Which discovered tools a new system prompt does not keep where it may keep so many: those used least recently.

    Args:
        request: what the call is prepared from.
        tools: the discovered tools, in order of discovery; core tools take no room.
        limit: how many it keeps.
    """
    core, found = request.agent.core_names, request.found
    open_ = [name for name in dict.fromkeys(tools) if name not in core]
    lost = frozenset(recent_first(open_, found.called, found.named)[limit:])
    return tuple(name for name in open_ if name in lost)


def excess(agent: Agent, tokens: int) -> int:
    """How many tokens a prompt has beyond its whole budget; 0 if it is within."""
    total = agent.budget.total
    return 0 if total is None else max(0, tokens - total)


def step_cuts(request: StepRequest, withheld: Iterable[WithheldTool], tokens: int) -> Iterator[Cut]:
    """What the budgets left out of a step whose prompt has these tokens; what was sent already stays."""
    for each in withheld:
        if each.tool in request.there:
            told = "" if each.told else ", with no room to say so"
            yield Cut(each.tool, f"not active: {each.reason}{told}", each.tokens)
    if over := excess(request.agent, tokens):
        yield Cut("budget.total", "nothing more can be left out; the prompt is over its budget", over)


def is_within(limit: int, tokens: int) -> bool:
    """Whether a section is within its own budget."""
    return tokens <= limit


def lines_within(limit: int, lines: int, tokens: Callable[[int], int]) -> int:
    """How many of the first lines of a section fit into its own budget.

    Args:
        limit: the budget.
        lines: how many lines there are.
        tokens: those of the section if it is cut after so many lines.
    """
    low, high = 0, lines
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if is_within(limit, tokens(middle)) else (low, middle - 1)
    return low


def cut_short(request: StepRequest, section: Section, least: int) -> Iterator[Cut]:
    """The tools of the system prompt, in order, that stay although their section has no room for their instructions.

    Args:
        request: the request for the step.
        section: the section, with its budget.
        least: its tokens if it is cut before the first instructions.
    """
    limit, used = section.spec.budget, least
    for tool in request.call.tools.base if limit is not None else ():
        used += (tokens := cost(request, tool))
        if tokens and limit is not None and used > limit:
            yield Cut(tool, f"instructions cut: budget of the section `{section.id}`: {limit} tokens", tokens)
