"""The sections of one call: which are included, what fills them, their texts, and what did not fit."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from datetime import datetime

from cuecard.agent import CHOICE, CONTENT, PROTOCOLS, Agent, Section
from cuecard.agent.sections.conditions import Facts, holds, sections_asked, told
from cuecard.model import Appended, CallGiven, CallTools, Cut, Diagnostic, Json, Segment, SourceRow, Turn
from cuecard.model.messages import Role
from cuecard.pipeline.history.text import text_of
from cuecard.pipeline.limits import within_budget
from cuecard.pipeline.passing import ephemeral_block, section_block
from cuecard.pipeline.request import CallRequest, StepRequest
from cuecard.pipeline.segments import authored, gated_sections, make_segments
from cuecard.records import dataclass
from cuecard.sources.content import Content, Given
from cuecard.template import trusted
from cuecard.template.backends.rules import TOOL
from cuecard.template.guards.gate import report


@dataclass(frozen=True, slots=True)
class Composed:
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


def compose(request: CallRequest, values: Mapping[str, Json], tools: CallTools) -> Composed:
    """The sections of a call.

    Args:
        request: what the call is prepared from.
        values: its inputs and built-in values, checked and cleaned.
        tools: the tools of the call.

    Raises:
        InputError: when the turn names a profile or a variant that does not exist.
        TemplateRenderError: when a section cannot be rendered with these values.
    """
    notes, agent, turn = _Notes(), request.agent, request.turn
    sections = agent.edition(turn.profile, turn.variant)
    facts = Facts(values, tools.available, turn.model)
    there, chosen = _there(sections, facts, notes)
    notes.cuts += _not_chosen(agent, turn, sections)
    filled = {**values, **chosen, **_filled(there, notes, lambda: _given(request, authored(agent, values), tools))}
    made = gated_sections(agent, there, filled, tools.initial)
    gated = {section.id: each for section, each in zip(there, made, strict=True)}
    saying = {section.id for section in there if not _waits(section) and gated[section.id][0].strip()}
    present = _not_in_vain(there, replace(facts, saying=saying), notes)
    bodies = {section.id: gated[section.id][0] for section in present}
    trust = report(agent.gate, (gated[section.id][1] for section in present))
    notes.cuts += _silent(present, bodies, agent)
    segments, passing = _fit(request, present, bodies, notes)
    spoken = tuple(
        (section.spec.role, section.id, bodies[section.id])
        for section in present
        if section.spec.role != "system" and bodies.get(section.id)
    )
    return Composed(
        segments,
        bodies,
        spoken,
        filled,
        tuple(notes.cuts),
        tuple(notes.diagnostics),
        tuple(notes.sources),
        trust,
        passing,
    )


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
    facts = Facts(values, call.tools.available, call.delivery.model, saying)
    there, chosen = _there(sections, facts, notes)
    present = _not_in_vain(there, facts, notes)
    filled = {**chosen, **_filled(present, notes, lambda: _given_again(request, authored(agent, values)))}
    made = gated_sections(agent, present, {**values, **filled}, call.tools.initial)
    bodies = {section.id: text for section, (text, _) in zip(present, made, strict=True)}
    notes.cuts += [Cut(section.id, "empty") for section in present if not bodies[section.id]]
    for section in present:
        bodies[section.id], cut = within_budget(section, bodies[section.id], agent.names, request.count)
        notes.cuts += cut
    return Again(bodies, filled, tuple(notes.cuts), tuple(notes.diagnostics), tuple(notes.sources))


def _there(sections: Sequence[Section], facts: Facts, notes: _Notes) -> tuple[Sequence[Section], dict[str, Json]]:
    """The sections that have a text, as far as is known before others are rendered, and what their texts ask for."""
    there = [section for section in sections if _waits(section) or _is_there(section, facts, notes)]
    there = [section for section in there if _has_a_text(section, facts, notes)]
    asked = {name for section in there for name in section.reads if name.startswith(TOOL)}
    known: dict[str, Json] = {name: name.removeprefix(TOOL) in facts.tools for name in asked}
    return there, known | {CHOICE + each.id: _choice(each, facts) for each in there if each.choices}


def _not_in_vain(sections: Sequence[Section], facts: Facts, notes: _Notes) -> list[Section]:
    """The sections without those that waited for others, which say something."""
    return [section for section in sections if not _waits(section) or _is_there(section, facts, notes)]


def _filled(present: Sequence[Section], notes: _Notes, give: Callable[[], Given]) -> dict[str, Json]:
    """The content from the sources of sections, as values of the call."""
    contents = _contents(present, give)
    for content in contents.values():
        notes.cuts += content.cuts
        notes.diagnostics += content.diagnostics
        notes.sources += content.sources
    return {CONTENT + name: _local(content) for name, content in contents.items()}


def _contents(present: Sequence[Section], give: Callable[[], Given]) -> dict[str, Content]:
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


def _is_there(section: Section, facts: Facts, notes: _Notes) -> bool:
    condition = section.spec.when
    if condition is None or holds(condition, facts):
        return True
    notes.cuts.append(Cut(section.id, f"when: {told(condition)}"))
    return False


def _waits(section: Section) -> bool:
    """Whether it depends on the text of other sections if this one is included."""
    return section.spec.when is not None and any(sections_asked(section.spec.when))


def _has_a_text(section: Section, facts: Facts, notes: _Notes) -> bool:
    if not section.choices or _choice(section, facts) is not None:
        return True
    notes.cuts.append(Cut(section.id, "choose: no condition holds"))
    return False


def _choice(section: Section, facts: Facts) -> int | None:
    """The text selected for the section; None for none."""
    conditions = (condition for condition, _ in section.choices)
    return next((at for at, each in enumerate(conditions) if each is None or holds(each, facts)), None)


def _not_chosen(agent: Agent, turn: Turn, sections: Sequence[Section]) -> list[Cut]:
    chosen = {section.id for section in sections}
    by = " and ".join(f"{kind} {name}" for kind, name in (("profile", turn.profile), ("variant", turn.variant)) if name)
    return [Cut(section.id, f"left out by {by}") for section in agent.sections if section.id not in chosen]


def _given(request: CallRequest, values: Mapping[str, Json], tools: CallTools) -> Given:
    agent, turn = request.agent, request.turn
    known = turn.tools is not None or len(agent.catalogue) > 0
    cards = tuple(agent.catalogue[name] for name in tools.available) if known else None
    files, gates, environment = agent.files, turn.gates, turn.environment
    return Given(values, request.now, cards, files, turn.files, gates, environment, said_in(turn))


def _given_again(request: StepRequest, values: Mapping[str, Json]) -> Given:
    agent, call, given = request.agent, request.call, request.call.given
    if given is None:
        raise RuntimeError("a call keeps what the sources of its sections read")
    cards = tuple(agent.catalogue[name] for name in call.tools.available) if given.knows_tools else None
    now, files, gates = datetime.fromisoformat(given.now), agent.files, given.gates
    return Given(values, now, cards, files, given.files, gates, given.environment, given.said)


def given_of(request: CallRequest) -> CallGiven | None:
    """What steps of the call need to fill sources again; None if no input that they read may change within the turn."""
    agent, turn = request.agent, request.turn
    inputs = agent.spec.inputs
    stepwise = {name for name, spec in inputs.items() if spec.tier == "step"}
    if not any(section.fill and section.reads & stepwise for section in agent.edition(turn.profile, turn.variant)):
        return None
    known = turn.tools is not None or len(agent.catalogue) > 0
    return CallGiven(request.now.isoformat(), known, turn.files, turn.gates, turn.environment, said_in(turn))


def said_in(turn: Turn) -> str:
    """The user's words, as sources read them."""
    return text_of(turn.message) if turn.message else turn.query


def _local(content: Content) -> dict[str, Json]:
    """The names that a section's text reads from its source, with data marked."""
    return {"content": trusted(content.text), **{name: trusted(text) for name, text in content.values.items()}}


def _silent(present: Sequence[Section], bodies: Mapping[str, str], agent: Agent) -> list[Cut]:
    cuts = [Cut(s.id, "empty") for s in present if not bodies[s.id] and PROTOCOLS not in s.reads]
    if agent.protocols and not any(PROTOCOLS in section.reads for section in present):
        cuts.append(Cut(PROTOCOLS, "no section of this call shows tool instructions"))
    return cuts


def _fit(
    request: CallRequest, present: Sequence[Section], bodies: dict[str, str], notes: _Notes
) -> tuple[tuple[Segment, ...], tuple[Appended, ...]]:
    """The segments within the budgets of sections and of the whole prompt, and the blocks of the turn alone; what does
    not fit, and what is in such a block, is removed from `bodies`.
    """
    agent, count = request.agent, request.count
    for section in present:
        bodies[section.id], cut = within_budget(section, bodies[section.id], agent.names, count)
        notes.cuts += cut
    apart = [section for section in present if request.apart and not section.stays]
    system = [section for section in present if section.spec.role == "system" and section not in apart]
    last = (ephemeral_block(request.turn.ephemeral, count),) if request.apart and request.turn.ephemeral.strip() else ()
    total = agent.spec.budget.total

    def made() -> tuple[tuple[Segment, ...], tuple[Appended, ...]]:
        blocks = (section_block(section, bodies[section.id], count) for section in apart if bodies[section.id])
        return make_segments(agent, system, [bodies[s.id] for s in system], count), (*blocks, *last)

    segments, passing = made()
    while total is not None and sum(s.tokens for s in segments) + sum(b.tokens for b in passing) > total:
        losing = _least((*system, *apart), bodies)
        if losing is None:
            break
        notes.cuts.append(Cut(losing, f"budget.total: {total} tokens", count(bodies[losing])))
        bodies[losing] = ""
        segments, passing = made()
    for section in apart:
        del bodies[section.id]
    return segments, passing


def _least(sections: Sequence[Section], bodies: Mapping[str, str]) -> str | None:
    """The section to drop first: the one with the lowest priority, or the last of equals."""
    ranked = [
        (section.spec.priority, -place, section.id)
        for place, section in enumerate(sections)
        if section.spec.priority is not None and bodies[section.id]
    ]
    return min(ranked)[2] if ranked else None
