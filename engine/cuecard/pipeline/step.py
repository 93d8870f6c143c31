"""A step, and its manifest, which is made when somebody looks at it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from functools import lru_cache, partial
from operator import attrgetter
from typing import Any, TypeAlias

from cuecard.agent import Section
from cuecard.model import (
    Call,
    Configuration,
    Cut,
    DeliveryChoice,
    Diagnostic,
    Discovery,
    LibraryOrigin,
    Manifest,
    Refusals,
    SectionRecord,
    SourceRow,
    Step,
    Tier,
    TokenSource,
    TokenTotals,
    ToolResult,
)
from cuecard.pipeline.cues import waiting
from cuecard.pipeline.fingerprints import salt_name, salted, sha256
from cuecard.pipeline.fit import cut_short, step_cuts
from cuecard.pipeline.limits import tokens_around
from cuecard.pipeline.messages import spoken_sections, with_system
from cuecard.pipeline.passing import ended_texts, section_of
from cuecard.pipeline.placement import AHEAD, CUES, TOOLS, WITHHELD, Placement, slots
from cuecard.pipeline.request import StepRequest
from cuecard.pipeline.results import render_result, result_text
from cuecard.pipeline.run import Verdict, verdict_of
from cuecard.pipeline.segments import PROBE, render_sections
from cuecard.records import replace

_REASONS = {"static": "never changes", "call": "values of this call", "step": "core tools and discovered tools"}

_BLOCKS = {
    WITHHELD: "no room for instructions",
    AHEAD: "found ahead by the user's message",
    TOOLS: "tools of the host have gone or come back",
    CUES: "cues for first results",
}
_CHANGED = "changed since the previous call"

_FIELDS = {
    kind: (
        attrgetter(*(field.name for field in fields(kind) if not field.metadata)),
        [field.name for field in fields(kind) if field.metadata],
    )
    for kind in (
        *(Configuration, LibraryOrigin, DeliveryChoice, SectionRecord, TokenTotals, TokenSource),
        *(Discovery, Cut, Diagnostic, SourceRow),
    )
}

_KEPT = 4096
"""The number of parts of manifests that are kept: most of those of a step are those of the step before."""

_section = lru_cache(_KEPT)(SectionRecord)


def make_manifest(
    request: StepRequest, placement: Placement, dropped: tuple[Cut, ...], read: Sequence[ToolResult]
) -> Manifest:
    """The manifest of a step: that of the step before, where it would say the same of the same prompt.

    Args:
        request: the request for the step.
        placement: the prompt, without a salt.
        dropped: the discoveries that were left out.
        read: the new results, where the model reads them as the agent file's `results` tell them.
    """
    less, wrong = _shortened(request, read)
    told = (dropped, less, (*request.found.diagnostics, *_homeless(placement), *wrong))
    basis = (request.call, request.agent, request.count, request.salt, told)
    for known, manifest in placement.made:
        if known == basis:
            return manifest
    manifest = _made(request, placement.salted(request.salt), *told)
    placement.made[:] = [(basis, manifest)]
    return manifest


def _made(
    request: StepRequest, placed: Placement, dropped: Iterable[Cut], less: Iterable[Cut], wrong: Iterable[Diagnostic]
) -> Manifest:
    """The manifest. With a salt, every fingerprint in it is salted; those in `placed` already are.

    Args:
        request: the request for the step.
        placed: the prompt.
        dropped: the discoveries that were left out.
        less: what was left out of results.
        wrong: what was wrong with results and blocks.
    """
    call, salt = request.call, request.salt
    known = _sections(request)
    spoken, record = tuple(_spoken(request, known)), call.record
    system, appended = (sum(each.tokens for each in place) for place in (placed.segments, placed.blocks))
    messages = sum(each.tokens for each in spoken)
    active = (*call.tools.initial, *(d.tool for d in placed.shown))
    cuts = (*dropped, *step_cuts(request, placed.withheld, system + appended), *placed.cuts)
    short = tuple(_cut_short(request))
    manifest = Manifest(
        configuration=_configuration(call.configuration, salt),
        delivery=call.delivery,
        active_tools=active,
        discovered=placed.shown,
        sections=(*_in_system(request, placed, known), *spoken, *_appended(placed), *_passing(request, placed, known)),
        protocols=tuple(_protocols(request, placed, {each.what for each in short})),
        total_tokens=system + messages + appended,
        tokens=TokenTotals(system, messages, appended, record.tokens),
        cuts=tuple(dict.fromkeys((*record.cuts, *cuts, *short, *_silent(request, active), *less))),
        diagnostics=tuple(dict.fromkeys((*record.diagnostics, *wrong))),
        sources=record.sources,
        trust=record.trust,
        inputs={name: salted(digest, salt) for name, digest in record.inputs.items()} if salt else record.inputs,
        salt=salt_name(salt),
        origins=request.agent.origins,
        definitions=_definitions(request, active),
    )
    return replace(manifest, sha256=salted(_fingerprint(manifest), salt))


def recorded_again(step: Step, call: Call, salt: str) -> Step:
    """The step with what is recorded of its call since."""
    return replace(step, call=call, record=partial(_with_cuts, step.record, call.record.cuts, salt))


def _with_cuts(record: Callable[[], Manifest], cuts: Sequence[Cut], salt: str) -> Manifest:
    made = record()
    made = replace(made, cuts=tuple(dict.fromkeys((*cuts, *made.cuts))))
    return replace(made, sha256=salted(_fingerprint(made), salt))


def _definitions(request: StepRequest, tools: Iterable[str]) -> dict[str, int]:
    """The tokens of the definitions of these tools, as far as they are known."""
    known = {tool: request.agent.catalogue.definition(tool) for tool in tools}
    return {tool: request.count(text) for tool, text in known.items() if text}


def _configuration(made: Configuration, salt: str) -> Configuration:
    return replace(made, sha256=salted(made.sha256, salt), catalogue=salted(made.catalogue, salt))


def _fingerprint(manifest: Manifest) -> str:
    """The fingerprint of every field in order of declaration, except those added later; mappings by sorted keys."""
    values = [*_COVERED(manifest), *([manifest.definitions] if manifest.definitions else [])]
    return hashlib.sha256(f"[{', '.join(map(_told, values))}]".encode()).hexdigest()


def _told(value: Any) -> str:
    """The value of a field as JSON, in parts that are known from the step before."""
    if isinstance(value, tuple):
        return f"[{', '.join(map(_part, value))}]"
    return _part(tuple(sorted(value.items())) if isinstance(value, Mapping) else value)


@lru_cache(_KEPT)
def _part(part: Any) -> str:
    return _ENCODER.encode(part)


_COVERED = attrgetter(*(each.name for each in fields(Manifest) if each.name not in {"sha256", "cache", "definitions"}))


def _flat(value: Any) -> Any:
    """The values of a record; fields that its format did not have at first count where they say something."""
    usual, later = _FIELDS[type(value)]
    return (*usual(value), *(told for name in later if (told := getattr(value, name))))


_ENCODER = json.JSONEncoder(default=_flat, check_circular=False)


def _cut_short(request: StepRequest) -> Iterator[Cut]:
    """Core tools whose instructions were cut by the budget of their section but that are active nevertheless."""
    agent, call, count = request.agent, request.call, request.count
    for section in [each for each in slots(agent, call) if each.spec.budget is not None][:1]:
        (text,) = render_sections(agent, [section], call.values, (), notice=PROBE)
        yield from cut_short(request, section, tokens_around(text, PROBE, agent.names, count))


def _silent(request: StepRequest, active: tuple[str, ...]) -> Iterator[Cut]:
    agent, protocols = request.agent, request.agent.protocols
    for name in active if protocols else ():
        if name not in protocols and not (agent.owns_search and name == agent.search_tool):
            yield Cut(name, "no instructions: active without a protocol")


_Known: TypeAlias = Mapping[str, Section]
"""The sections by id."""


def _sections(request: StepRequest) -> _Known:
    """The sections by id; the baseline may have another profile than the call."""
    configuration = request.call.configuration
    every = request.agent.edition()
    edition = request.agent.edition(configuration.profile, configuration.variant)
    return {section.id: section for section in (every if edition is every else (*every, *edition))}


def _shortened(request: StepRequest, results: Iterable[ToolResult]) -> tuple[list[Cut], list[Diagnostic]]:
    """What the agent file's `results` leave out of these results, and what was wrong with a template."""
    cuts, told, count = list[Cut](), list[Diagnostic](), request.count
    for result in results:
        made = render_result(request.agent, result, count)
        told += made.diagnostics
        whole = result_text(result.result)
        if made.left_out:
            size = f"{made.left_out:,} of {made.whole:,} {made.unit} left out"
        elif made.rule and len(made.text) < len(whole):
            size = f"{len(made.text):,} of {len(whole):,} characters told"
        else:
            continue
        reason = f"result {result.call_id or ''}".rstrip() + f" shortened by `results` ({made.rule}): {size}"
        cuts.append(Cut(result.tool, reason, max(0, count(whole) - count(made.text))))
    return cuts, told


def _homeless(placed: Placement) -> Iterator[Diagnostic]:
    if any(block.after_call_id is None and block.turn is None for block in placed.appended):
        told = "a search result has no call id, so its block moves to the end of each request; give each call an id"
        yield Diagnostic("missing_call_id", told)


def _in_system(request: StepRequest, placed: Placement, known: _Known) -> Iterator[SectionRecord]:
    for s in placed.segments:
        section = known.get(s.id)
        source, reads = (section.written_at(request.call.values), section.values) if section else ("", ())
        yield _section(s.id, s.tier, "system", source, _REASONS[s.tier], s.tokens, s.sha256, reads)


def _spoken(request: StepRequest, known: _Known) -> Iterator[SectionRecord]:
    """Sections that are separate messages; the host's messages are not part of a manifest."""
    if not request.call.prompt.messages:
        return
    for message in spoken_sections(request.call, known):
        section, text = known[message.id], str(message.content)
        source, reason = section.written_at(request.call.values), _REASONS[section.tier]
        digest, tokens = salted(sha256(text), request.salt), request.count(text)
        yield _section(message.id, section.tier, "message", source, reason, tokens, digest, section.values)


def _appended(placed: Placement) -> Iterator[SectionRecord]:
    found: dict[str | None, list[str]] = {}
    for discovery in placed.shown:
        found.setdefault(discovery.after_call_id, []).append(discovery.tool)
    unfit: dict[str | None, list[str]] = {}
    for each in placed.withheld:
        if each.told:
            unfit.setdefault(each.after_call_id, []).append(each.tool)
    for block in placed.appended:
        if block.turn is not None:
            reason = next((told for start, told in _BLOCKS.items() if block.id.startswith(start)), _CHANGED)
            if reason == _BLOCKS[WITHHELD] and any(each.lacks_definition for each in placed.withheld):
                reason = f"{reason} or definitions"
            source = f"call {block.turn + 1}"
        elif kind := next((start for start in (CUES, TOOLS) if block.id.startswith(start)), ""):
            source, reason = f"result {block.after_call_id}", _BLOCKS[kind]
        else:
            source = f"search result {block.after_call_id}" if block.after_call_id else "search result"
            told = (("discovered", found), ("no room for", unfit))
            there = ((what, tools[block.after_call_id]) for what, tools in told if block.after_call_id in tools)
            reason = "; ".join(f"{what}: {', '.join(names)}" for what, names in there)
        yield _section(block.id, "step", "appended", source, reason, block.tokens, block.sha256)


def _passing(request: StepRequest, placed: Placement, known: _Known) -> Iterator[SectionRecord]:
    """The texts of this turn or this request alone; a section that has changed within the turn has several."""
    call, named = request.call, set[str]()
    for block in placed.passing:
        name, lives = section_of(block), "turn" if block.lifetime == "turn" else "request"
        section = known.get(name)
        source, reads = (section.written_at(call.values), section.values) if section else ("turn.ephemeral", ())
        since = f", from result {block.after_call_id} on" if block.after_call_id else ""
        tier: Tier = section.tier if section else "call"
        reason, again = f"for this {lives} only{since}", name in named
        named.add(name)
        yield _section(block.id if again else name, tier, "appended", source, reason, block.tokens, block.sha256, reads)


def _protocols(request: StepRequest, placed: Placement, cut: Collection[str]) -> Iterator[SectionRecord]:
    agent, call, shown = request.agent, request.call, placed.shown
    said = {tool for each in placed.due for tool in each.tools}
    partly = waiting(request, placed.shown).keys() - said if call.delivery.name == "append" else set[str]()
    place: Mapping[str, str] = {d.tool: d.after_call_id or "" for d in shown}
    for name in (*call.tools.initial, *place):
        protocol = agent.protocols.get(name)
        if protocol is None or name in cut:
            continue
        if name in agent.core_names:
            reason = "core tool"
        elif name in place and name in call.tools.ahead:
            reason = _BLOCKS[AHEAD]
        elif name in place:
            reason = f"discovered by {place[name] or 'a search without an id'}"
        else:
            reason = "every tool, from the start" if call.delivery.shows_all else "discovered earlier"
        text = protocol.first if name in partly else protocol.text
        digest, tokens = salted(protocol.sha256, request.salt), request.count(text)
        source = agent.catalogue[name].source
        if name in place and not call.delivery.rebuilds:
            yield _section(name, "step", "appended", source, reason, tokens, digest)
        else:
            yield _section(name, "step", "system", source, reason, tokens, digest)


def make_step(
    request: StepRequest, dropped: tuple[Cut, ...], placed: Placement, read: Sequence[ToolResult] = ()
) -> Step:
    """The step.

    Args:
        request: the request for the step.
        dropped: the discoveries that were left out.
        placed: the prompt with the instructions of active tools.
        read: the new results, where the model reads them as the agent file's `results` tell them.
    """
    call, prompt = request.call, request.call.prompt
    record = partial(make_manifest, request, placed, dropped, read)
    is_same, placed = placed.segments is prompt.segments, placed.salted(request.salt)
    discovered = placed.shown
    system = prompt.system if is_same else "".join([segment.text for segment in placed.segments])
    active = (*call.tools.initial, *[discovery.tool for discovery in discovered])
    verdict = verdict_of(call.run.limits, request.found.tally, active, request.agent.spec.words)
    return Step(
        system=system,
        segments=placed.segments,
        appended=placed.blocks,
        active_tools=active,
        initial_tools=call.tools.initial,
        discovered=discovered,
        messages=with_system(call, placed.segments, system),
        reminder=request.agent.spec.words.notices.reminder,
        refusals=_refusals(request, placed, verdict),
        found=request.found.tools,
        base_tools=call.tools.base,
        turns=call.prompt.turns,
        brought=call.tools.brought,
        origin=salted(call.prompt.origin or call.configuration.sha256, request.salt),
        looks_ahead=call.tools.looks_ahead,
        offers_search=call.tools.offers_search,
        ended=(*call.prompt.ended, *ended_texts([b for b in placed.passing if b.lifetime == "step"], call.turn)),
        stopped=verdict.stopped,
        forced_tool=verdict.forced,
        call=call,
        record=record,
    )


def _refusals(request: StepRequest, placed: Placement, verdict: Verdict) -> Refusals:
    agent, words = request.agent, request.agent.spec.words.tools
    texts = {False: words.withheld, True: words.withheld_definition}
    lost = [each for each in placed.withheld if each.tool in request.there] if placed.withheld else ()
    said = {each.tool: texts[each.lacks_definition].replace("{tool}", each.tool) for each in lost}
    for text, names in ((words.withdrawn, request.call.host.gone), (words.denied, request.call.tools.denied)):
        if names:
            said |= {name: text.replace("{tool}", name) for name in names}
    inactive = words.inactive
    if not request.call.tools.offers_search:
        said[agent.search_tool] = agent.spec.words.search.nothing_left
        if "{search}" in inactive or agent.search_tool in inactive:
            inactive = agent.spec.words.search.nothing_left
    limited = (verdict.limited, verdict.others, verdict.first, verdict.always)
    return Refusals(agent.catalogue.names, inactive, agent.search_tool, said, *limited)
