"""The sections of one call: which are included, what fills them, their texts, and what did not fit."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import field
from datetime import datetime

from cuecard.agent import CHOICE, CONTENT, PROTOCOLS, Agent, Section
from cuecard.agent.sections.conditions import ConditionFacts, holds, told
from cuecard.model import Appended, CallInputs, Cut, Diagnostic, Json, Segment, SourceRow, Turn, WithheldTool
from cuecard.model.messages import Role
from cuecard.model.prompt import most_tokens
from cuecard.pipeline.fit import excess
from cuecard.pipeline.history.units import message_text
from cuecard.pipeline.limits import within_budget
from cuecard.pipeline.passing import ephemeral_block, section_block
from cuecard.pipeline.placement import tokens_of
from cuecard.pipeline.request import CallRequest, StepRequest
from cuecard.pipeline.segments import (
    PROBE,
    InstructionPlace,
    ShrinkingPrompt,
    authored,
    count_pieces,
    gated_sections,
    laid_out,
    make_segments,
    render_sections,
)
from cuecard.records import dataclass, replace
from cuecard.sources.content import Content, SourceInput
from cuecard.sources.gates import gates_of
from cuecard.template import trusted
from cuecard.template.guards.gate import report
from cuecard.template.rules import TOOL


@dataclass(frozen=True, slots=True)
class CallSections:
    """The sections of a call.

    Attributes:
        segments: the system prompt.
        bodies: the text of each section by id; excluded sections, and those in `passing`, are missing.
        spoken: sections that are separate messages: role, id and text.
        values: the values of the call with the content from sources.
        cuts: what was left out, and why.
        diagnostics: problems of sources.
        sources: the files and other sources that were used.
        trust: how often each kind of hostile text was neutralised.
        passing: blocks of the turn alone.
    """

    segments: tuple[Segment, ...]
    bodies: Mapping[str, str]
    spoken: tuple[tuple[Role, str, str], ...]
    values: Mapping[str, Json]
    cuts: tuple[Cut, ...]
    diagnostics: tuple[Diagnostic, ...]
    sources: tuple[SourceRow, ...]
    trust: Mapping[str, int]
    passing: tuple[Appended, ...] = ()


@dataclass(slots=True)
class _Notes:
    cuts: list[Cut] = field(default_factory=list)
    diagnostics: list[Diagnostic] = field(default_factory=list)
    sources: list[SourceRow] = field(default_factory=list)

    def copy(self) -> _Notes:
        return _Notes([*self.cuts], [*self.diagnostics], [*self.sources])


@dataclass(frozen=True)
class SectionsDraft:
    """The sections of a call as far as the instructions of its tools do not change them.

    Attributes:
        request: what the call is prepared from.
        there: the tools that exist for the call.
        present: the included sections, in order.
        values: the values of the call with the content from sources.
        made: the text of each section without instructions, within its budget.
        trust: what the gate neutralised in each.
        cut: what the budget of each cut.
        notes: what was left out so far, and what is known of sources.
    """

    request: CallRequest
    there: Sequence[str]
    present: tuple[Section, ...]
    values: Mapping[str, Json]
    made: Mapping[str, str]
    trust: Mapping[str, Mapping[str, int]]
    cut: Mapping[str, tuple[Cut, ...]]
    notes: _Notes

    @property
    def _slots(self) -> list[Section]:
        return [section for section in self.present if PROTOCOLS in section.reads]

    @property
    def _apart(self) -> list[Section]:
        """The sections whose text goes into a block of its own, which does not stay."""
        return [section for section in self.present if self.request.apart and not section.stays]

    def ask(self, tools: Sequence[str], more: str = "") -> InstructionPlace:
        """The place of instructions beside those of these tools and `more`, and the tokens of the prompt until then."""
        slots = self._slots
        texts = render_sections(self.request.agent, slots, self.values, tools, notice=PROBE + more)
        probed = tuple(zip(slots, texts, strict=True))
        made = {**self.made, **{section.id: text for section, text in probed}}
        kept = self._lasting()
        bodies = [made[section.id] for section in kept]
        pieces = [text for text in laid_out(self.request.agent, kept, bodies) if text]
        count, apart = self.request.count, [each for each in self._apart if each.spec.priority is None]
        used = sum(count_pieces(pieces, count)) + sum(b.tokens for b in _passing(self.request, apart, self.made))
        asked = InstructionPlace.of("".join(pieces), used, count)
        return asked.within(self.request.agent, probed, count)

    def takes(self, asked: InstructionPlace, tools: Sequence[str]) -> Callable[[str], int]:
        """The tokens of a tool's instructions beside those of `tools`, for which the sections were asked."""
        agent = self.request.agent
        tokens = asked.counter(agent, self.request.count, lambda more: self.ask(tools, more))
        return lambda tool: tokens(agent.protocols[tool].text)

    def _lasting(self) -> list[Section]:
        """The sections of the system prompt that are not dropped in favour of instructions."""
        apart = {section.id for section in self._apart}
        system = [s for s in self.present if s.spec.role == "system" and s.id not in apart]
        slots = [section for section in self._slots if section.spec.role == "system"]
        ranks = _ranks(system)
        last = max((ranks[slot.id] for slot in slots), default=None) if all(s.id in ranks for s in slots) else None
        return [s for s in system if s.id not in ranks or (last is not None and ranks[s.id] >= last)]

    def completed(self, tools: Sequence[str], unlisted: Collection[str] = ()) -> CallSections:
        """The sections of the call with the instructions of these tools, in which no list has those of `unlisted`.

        Raises:
            TemplateRenderError: when a section cannot be rendered with these values.
        """
        if unlisted:
            return self._listing(unlisted).completed(tools)
        agent, notes, present = self.request.agent, self.notes.copy(), self.present
        made, cut, trust = dict(self.made), dict(self.cut), dict(self.trust)
        gated = gated_sections(agent, self._slots, self.values, tools)
        for section in self._slots:
            text, trust[section.id] = gated[section.id]
            made[section.id], cut[section.id] = within_budget(section, text, agent.names, self.request.count)
        bodies = {section.id: made[section.id] for section in present}
        notes.cuts += [each for section in present for each in cut[section.id]]
        segments, passing = _fit(self.request, present, self._apart, bodies, notes)
        spoken = tuple(
            (section.spec.role, section.id, bodies[section.id])
            for section in present
            if section.spec.role != "system" and bodies.get(section.id)
        )
        found = tuple(notes.cuts), tuple(notes.diagnostics), tuple(notes.sources)
        return CallSections(segments, bodies, spoken, self.values, *found, report(agent.gate, trust.values()), passing)

    def _listing(self, unlisted: Collection[str]) -> SectionsDraft:
        """The draft with lists of fewer tools: what was counted for them is at least what they take then."""
        agent, count = self.request.agent, self.request.count
        lists = [section for section in self.present if section.spec.tools]
        there = [name for name in self.there if name not in unlisted]
        filled = _filled(lists, _Notes(), lambda: _given(self.request, authored(agent, self.values), there))
        values = {**self.values, **filled}
        made, trust, cut = dict(self.made), dict(self.trust), dict(self.cut)
        fixed = [section for section in lists if PROTOCOLS not in section.reads]
        gated = gated_sections(agent, fixed, values, ())
        for section in fixed:
            text, trust[section.id] = gated[section.id]
            made[section.id], cut[section.id] = within_budget(section, text, agent.names, count)
        return replace(self, there=there, values=values, made=made, trust=trust, cut=cut)


def unlisted_tools(agent: Agent, withheld: Iterable[WithheldTool], *, every: bool) -> frozenset[str]:
    """The tools that no list of a call has, because they are not active and no search can change that.

    Args:
        agent: the agent.
        withheld: the tools of the call that are not active.
        every: whether every tool is active from the start.
    """
    return frozenset(each.tool for each in withheld if every or each.tool in agent.core_names)


def draft_sections(
    request: CallRequest, values: Mapping[str, Json], there: Sequence[str], names: Collection[str]
) -> SectionsDraft:
    """The sections of a call before it is decided which tools are active.

    Args:
        request: what the call is prepared from.
        values: its inputs and built-in values, checked and cleaned.
        there: the tools that exist for the call.
        names: the same, to look names up in.

    Raises:
        InputError: when the turn names a profile or a variant that does not exist.
        TemplateRenderError: when a section cannot be rendered with these values.
    """
    notes, agent, turn = _Notes(), request.agent, request.turn
    sections = agent.edition(turn.profile, turn.variant)
    facts = ConditionFacts(values, names, turn.model)
    present, chosen = _there(sections, facts, notes)
    notes.cuts += _not_chosen(agent, turn, sections)
    filled = {**values, **chosen, **_filled(present, notes, lambda: _given(request, authored(agent, values), there))}
    fixed = [section for section in present if PROTOCOLS not in section.reads]  # what no tool changes
    gated = gated_sections(agent, fixed, filled, ())
    saying = {section.id for section in fixed if not section.waits and gated[section.id][0].strip()}
    present = _not_in_vain(present, replace(facts, saying=saying), notes)
    notes.cuts += _silent(present, {name: text for name, (text, _) in gated.items()}, agent)
    made, cut, trust = dict[str, str](), dict[str, tuple[Cut, ...]](), dict[str, Mapping[str, int]]()
    for section in present:
        text, trust[section.id] = gated.get(section.id, ("", {}))  # in the order of the prompt, also those to come
        made[section.id], cut[section.id] = within_budget(section, text, agent.names, request.count)
    return SectionsDraft(request, there, tuple(present), filled, made, trust, cut, notes)


@dataclass(frozen=True, slots=True)
class Again:
    """Sections as they would be with other values.

    Attributes:
        bodies: the text of each section by id; excluded sections are missing.
        values: the content from their sources, and the choices of their texts, by name.
        cuts: what was left out of them, and why.
        diagnostics: problems of their sources.
        sources: the files and other sources that they used.
    """

    bodies: Mapping[str, str]
    values: Mapping[str, Json]
    cuts: tuple[Cut, ...]
    diagnostics: tuple[Diagnostic, ...]
    sources: tuple[SourceRow, ...]


def compose_again(request: StepRequest, sections: Sequence[Section], values: Mapping[str, Json]) -> Again:
    """Some sections of a call with other values of its inputs.

    Raises:
        TemplateRenderError: when one cannot be rendered with these values.
    """
    notes, agent, call = _Notes(), request.agent, request.call
    own = {name for section in sections for name in (CONTENT + section.id, CHOICE + section.id)}
    values = {name: value for name, value in values.items() if name not in own}
    saying = {name for name, body in call.prompt.shown.items() if body.strip()}
    facts = ConditionFacts(values, request.there, call.delivery.model, saying)
    there, chosen = _there(sections, facts, notes)
    present = _not_in_vain(there, facts, notes)
    filled = {**chosen, **_filled(present, notes, lambda: _given_again(request, authored(agent, values)))}
    made = gated_sections(agent, present, {**values, **filled}, call.tools.initial)
    bodies = {name: text for name, (text, _) in made.items()}
    notes.cuts += [Cut(section.id, "empty") for section in present if not bodies[section.id]]
    for section in present:
        bodies[section.id], cut = within_budget(section, bodies[section.id], agent.names, request.count)
        notes.cuts += cut
    return Again(bodies, filled, tuple(notes.cuts), tuple(notes.diagnostics), tuple(notes.sources))


def _there(
    sections: Sequence[Section], facts: ConditionFacts, notes: _Notes
) -> tuple[Sequence[Section], dict[str, Json]]:
    """The sections that have a text, as far as is known before others are rendered, and what their texts ask for."""
    there = [section for section in sections if section.waits or _is_there(section, facts, notes)]
    there = [section for section in there if _has_a_text(section, facts, notes)]
    known: dict[str, Json] = {TOOL + name: name in facts.tools for section in there for name in section.asked}
    return there, known | {CHOICE + each.id: _choice(each, facts) for each in there if each.choices}


def _not_in_vain(sections: Sequence[Section], facts: ConditionFacts, notes: _Notes) -> list[Section]:
    """The sections without those that waited for others, which say something."""
    return [section for section in sections if not section.waits or _is_there(section, facts, notes)]


def _filled(present: Sequence[Section], notes: _Notes, give: Callable[[], SourceInput]) -> dict[str, Json]:
    """The content from the sources of sections, as values of the call."""
    contents = _contents(present, give)
    for content in contents.values():
        notes.cuts += content.cuts
        notes.diagnostics += content.diagnostics
        notes.sources += content.sources
    return {CONTENT + name: _local(content) for name, content in contents.items()}


def _contents(present: Sequence[Section], give: Callable[[], SourceInput]) -> dict[str, Content]:
    """The content of the sources, in order: of a shared total, each section gets what the previous ones left."""
    filling = [(section, section.fill) for section in present if section.fill]
    contents: dict[str, Content] = {}
    taken: dict[str, int] = {}
    if not filling:
        return contents
    given = give()
    for section, fill in filling:
        content = fill(replace(given, taken=taken))
        account = section.spec.files.account if section.spec.files else ""
        if account:
            taken = {**taken, account: taken.get(account, 0) + content.taken}
        contents[section.id] = content
    return contents


def _is_there(section: Section, facts: ConditionFacts, notes: _Notes) -> bool:
    condition = section.spec.when
    if condition is None or holds(condition, facts):
        return True
    notes.cuts.append(Cut(section.id, f"when: {told(condition)}"))
    return False


def _has_a_text(section: Section, facts: ConditionFacts, notes: _Notes) -> bool:
    if not section.choices or _choice(section, facts) is not None:
        return True
    notes.cuts.append(Cut(section.id, "choose: no condition holds"))
    return False


def _choice(section: Section, facts: ConditionFacts) -> int | None:
    """The text selected for the section; None for none."""
    conditions = (condition for condition, _ in section.choices)
    return next((at for at, each in enumerate(conditions) if each is None or holds(each, facts)), None)


def _not_chosen(agent: Agent, turn: Turn, sections: Sequence[Section]) -> list[Cut]:
    if not (turn.profile or turn.variant):
        return []
    chosen = {section.id for section in sections}
    by = " and ".join(f"{kind} {name}" for kind, name in (("profile", turn.profile), ("variant", turn.variant)) if name)
    return [Cut(section.id, f"left out by {by}") for section in agent.sections if section.id not in chosen]


def _given(request: CallRequest, values: Mapping[str, Json], there: Sequence[str]) -> SourceInput:
    agent, turn = request.agent, request.turn
    cards = tuple(agent.catalogue[name] for name in there) if _knows_tools(request) else None
    files, (gates, _), environment = agent.files, gates_of(agent.spec, turn), turn.environment
    return SourceInput(values, request.now, cards, files, turn.files, gates, environment, said_in(turn))


def _knows_tools(request: CallRequest) -> bool:
    return request.turn.tools is not None or bool(request.agent.catalogue)


def _given_again(request: StepRequest, values: Mapping[str, Json]) -> SourceInput:
    agent, call, given = request.agent, request.call, request.call.given
    if given is None:
        raise RuntimeError("a call keeps what the sources of its sections read")
    tools = call.tools
    unlisted = unlisted_tools(agent, tools.withheld, every=call.delivery.shows_all)
    there = [name for name in tools.available if name not in unlisted]
    cards = tuple(agent.catalogue[name] for name in there) if given.knows_tools else None
    now, files, gates = datetime.fromisoformat(given.now), agent.files, given.gates
    return SourceInput(values, now, cards, files, given.files, gates, given.environment, given.said)


def given_of(request: CallRequest) -> CallInputs | None:
    """What steps of the call need to fill sources again; None if no input that they read may change within the turn."""
    agent, turn = request.agent, request.turn
    inputs = agent.spec.inputs
    stepwise = {name for name, spec in inputs.items() if spec.tier == "step"}
    if not any(section.fill and section.reads & stepwise for section in agent.edition(turn.profile, turn.variant)):
        return None
    known, (gates, _) = _knows_tools(request), gates_of(agent.spec, turn)
    return CallInputs(request.now.isoformat(), known, turn.files, gates, turn.environment, said_in(turn))


def said_in(turn: Turn) -> str:
    """The user's words, as sources read them."""
    return message_text(turn.message) if turn.message else turn.query


def _local(content: Content) -> dict[str, Json]:
    """The names that a section's text reads from its source, with data marked."""
    return {"content": trusted(content.text), **{name: trusted(text) for name, text in content.values.items()}}


def _silent(present: Sequence[Section], bodies: Mapping[str, str], agent: Agent) -> list[Cut]:
    cuts = [Cut(s.id, "empty") for s in present if PROTOCOLS not in s.reads and not bodies[s.id]]
    if agent.protocols and not any(PROTOCOLS in section.reads for section in present):
        cuts.append(Cut(PROTOCOLS, "no section of this call shows tool instructions"))
    return cuts


def _fit(
    request: CallRequest,
    present: Sequence[Section],
    apart: Sequence[Section],
    bodies: dict[str, str],
    notes: _Notes,
) -> tuple[tuple[Segment, ...], tuple[Appended, ...]]:
    """The segments within the budget of the whole prompt, and the blocks of the turn alone; the sections that do not
    fit, and those `apart` in such blocks, are removed from `bodies`.
    """
    agent, beside = request.agent, {section.id for section in apart}
    system = [section for section in present if section.spec.role == "system" and section.id not in beside]

    def made() -> tuple[tuple[Segment, ...], tuple[Appended, ...]]:
        segments = make_segments(agent, system, [bodies[s.id] for s in system], request.count)
        return segments, _passing(request, apart, bodies)

    prompt = made()
    most = sum([most_tokens(each.text) for part in prompt for each in part])
    if excess(agent, most) and excess(agent, tokens := tokens_of(*prompt)):
        _drop(request, system, apart, bodies, tokens, notes)
        prompt = made()
    for section in apart:
        del bodies[section.id]
    return prompt


def _drop(
    request: CallRequest,
    system: Sequence[Section],
    apart: Sequence[Section],
    bodies: dict[str, str],
    tokens: int,
    notes: _Notes,
) -> None:
    """Empty sections that may be dropped, until the others are within the budget of the whole prompt."""
    agent, count = request.agent, request.count
    places = {section.id: place for place, section in enumerate(system)}
    left = ShrinkingPrompt(agent.layout, system, [bodies[s.id] for s in system], tokens, count)
    blocks = {s.id: section_block(s, bodies[s.id], count).tokens for s in apart if bodies[s.id]}
    for _, losing in sorted((rank, name) for name, rank in _ranks([*system, *apart]).items() if bodies[name]):
        if not excess(agent, left.tokens):
            break
        before, bodies[losing] = left.tokens, ""
        if losing in places:
            left.drop(places[losing])
        else:
            left.tokens -= blocks[losing]
        # With its heading and separator: what the prompt is shorter by.
        notes.cuts.append(Cut(losing, f"budget.total: {agent.spec.budget.total} tokens", before - left.tokens))


def _passing(request: CallRequest, apart: Sequence[Section], bodies: Mapping[str, str]) -> tuple[Appended, ...]:
    """The blocks of the turn alone: one for each section with a text, and one for the turn's own instruction."""
    count, said = request.count, request.turn.ephemeral
    blocks = (section_block(section, bodies[section.id], count) for section in apart if bodies[section.id])
    return (*blocks, *((ephemeral_block(said, count),) if request.apart and said.strip() else ()))


def _ranks(sections: Sequence[Section]) -> dict[str, tuple[int, int]]:
    """The sections that may be dropped, lowest first: those with the lowest priority, and of equals the last."""
    return {
        section.id: (section.spec.priority, -place)
        for place, section in enumerate(sections)
        if section.spec.priority is not None
    }
