"""The news of a continued conversation, announced once with the next user message, as one text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from cuecard.agent import PROTOCOLS, Agent, Section
from cuecard.config.values import fill
from cuecard.config.words_spec import WordsSpec
from cuecard.model import Call
from cuecard.pipeline.layout import Leads
from cuecard.pipeline.limits import balanced
from cuecard.pipeline.placement import slots
from cuecard.pipeline.request import CallRequest
from cuecard.pipeline.segments import PROBE, places_in, render_sections, said
from cuecard.records import dataclass


@dataclass(frozen=True, slots=True)
class Unsaid:
    """Undecided tools that would be announced as restored, and a text that stands for their instructions, if any."""

    tools: tuple[str, ...] = ()
    probe: str = ""


NOTHING_UNSAID = Unsaid()


@dataclass(frozen=True, slots=True)
class ToolsInView:
    """What the model knows about tools.

    Attributes:
        tools: those that were announced to it, in order, with or without instructions.
        protocols: the fingerprints of the instructions that were sent last, by tool; empty for instructions in a
            withdrawn section.
        late: those that are announced only now, because they did not exist when they were found.
        unsaid: what might be announced too.
    """

    tools: tuple[str, ...]
    protocols: Mapping[str, str]
    late: tuple[str, ...] = ()
    unsaid: Unsaid = NOTHING_UNSAID


@dataclass(frozen=True, slots=True)
class News:
    """The text to send, empty if there is none, and the fingerprints of the instructions in it."""

    text: str
    protocols: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class _Change:
    """Two consecutive calls, and the instructions that the second must send: `new` ones, and a `probe` for others."""

    request: CallRequest
    call: Call
    previous: Call
    new: tuple[str, ...]
    probe: str = ""

    @property
    def gone(self) -> tuple[str, ...]:
        """The sections that are empty now but were not before."""
        placed = self.request.agent.spec.messages.sections
        gone = _gone(self.request.agent, self.previous, self.call)
        return tuple(name for name in gone if name not in placed)


def make_news(request: CallRequest, call: Call, previous: Call, told: ToolsInView) -> News:
    """Changed sections, new instructions, and what no longer holds.

    Args:
        request: what the call is prepared from.
        call: the call as it would be without a conversation.
        previous: the previous call.
        told: what the model knows about tools.
    """
    agent = request.agent
    lost = {section.id for section in slots(agent, previous)}.intersection(_gone(agent, previous, call))
    known = dict.fromkeys(told.protocols, "") if lost else told.protocols
    there, protocols = agent.existing(call.tools), agent.protocols
    tools = [name for name in dict.fromkeys((*told.tools, *call.tools.initial, *told.late)) if name in there]
    new = tuple(n for n in tools if n in protocols and known.get(n) != protocols[n].sha256)
    change = _Change(request, call, previous, new if slots(agent, call) else (), told.unsaid.probe)
    notices = _notices(change, (*told.tools, *told.late, *told.unsaid.tools))
    now = {**known, **{n: protocols[n].sha256 for n in change.new}}
    return News("".join([_sections(change), *notices]), now)


def _sections(change: _Change) -> str:
    """The changed sections; one that only contains protocols is sent with those that the model does not know yet."""
    agent, call = change.request.agent, change.call
    edition = agent.edition(call.configuration.profile, call.configuration.variant)
    placed = agent.spec.messages.sections  # sent with every call, so no change of them is announced
    there = [section for section in edition if section.id in call.prompt.shown and section.id not in placed]
    bodies = {**_changed(change, there), **dict(_protocols(change))}
    told = [section for section in there if bodies.get(section.id)]
    texts = (balanced(bodies[s.id], agent.names) if s.frame else bodies[s.id] for s in told)
    return said(told, list(texts))


def _changed(change: _Change, sections: Sequence[Section]) -> dict[str, str]:
    """The texts of sections, including protocols, whose text or heading differs from before."""
    before, now = change.previous.prompt.shown, change.call.prompt.shown
    headings = _headings(change.request.agent, change.previous)
    return {
        section.id: now[section.id]
        for section in sections
        if now[section.id] != before.get(section.id)
        or headings.get(section.id, (section.leads, section.heading)) != (section.leads, section.heading)
    }


def _headings(agent: Agent, call: Call) -> dict[str, tuple[Leads, str]]:
    edition = agent.edition(call.configuration.profile, call.configuration.variant)
    return {section.id: (section.leads, section.heading) for section in edition}


def _protocols(change: _Change) -> Iterator[tuple[str, str]]:
    """The text of the sections with protocols: of those that contain nothing else, if there are any."""
    agent, call, new, probe = change.request.agent, change.call, change.new, change.probe
    holding = slots(agent, call)
    alone = [section for section in holding if section.reads == {PROTOCOLS}]
    for section in alone:
        (text,) = render_sections(agent, [section], call.values, new, notice=probe)
        yield section.id, text if new or probe else ""
    for section in holding if not alone else ():
        before, now = change.previous.prompt.shown.get(section.id), call.prompt.shown[section.id]
        # If it says the same with the tools of before, only tools have gone or come.
        same = before in {now, *render_sections(agent, [section], call.values, change.previous.tools.initial)}
        if new or probe:
            tools = new if same else dict.fromkeys((*call.tools.initial, *new))
            (text,) = render_sections(agent, [section], call.values, tools, notice=probe)
            yield section.id, text
        elif same and before != now:
            yield section.id, ""


def _gone(agent: Agent, previous: Call, call: Call) -> tuple[str, ...]:
    """The sections that said something before and are closed now: not those that only have no instructions to show."""
    now = call.prompt.shown
    gone = {name: None for name, body in previous.prompt.shown.items() if body and not now.get(name)}
    for section in slots(agent, call) if gone else ():
        if section.id in gone and places_in(*render_sections(agent, [section], call.values, (), notice=PROBE)) != 0:
            del gone[section.id]
    return tuple(gone)


def _notices(change: _Change, told: Iterable[str]) -> Iterator[str]:
    """Notices about sections and tools that are gone, and about tools that are back."""
    words, gone = change.request.agent.spec.words, change.gone
    if gone:
        titles = {section.id: section.spec.title for section in change.request.agent.sections}
        listed = words.listed(titles.get(name) or name for name in gone)
        yield fill(words.notices.withdrawn_sections, {"sections": listed})
    agent, shown = change.request.agent, change.request.turn.tools_before
    now = agent.existing(change.call.tools)
    before = agent.existing(change.previous.tools) if shown is None else frozenset(shown)
    told = tuple(told)
    lost, back = [n for n in told if n in before and n not in now], [n for n in told if n not in before and n in now]
    yield from tool_notices(lost, back, words)


def tool_notices(lost: Sequence[str], back: Sequence[str], words: WordsSpec) -> Iterator[str]:
    """Notices about tools that are gone, and about tools that are back."""
    for notice, tools in ((words.notices.withdrawn_tools, lost), (words.notices.restored_tools, back)):
        if tools:
            yield fill(notice, {"tools": words.listed(tools)})
