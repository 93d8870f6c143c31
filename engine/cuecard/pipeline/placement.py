"""Where the protocols of discovered tools are placed: in the system prompt, or after the search result that found
them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import groupby
from typing import TypeAlias

from cuecard.agent import PROTOCOLS, Agent, Section
from cuecard.config.values.placeholders import fill
from cuecard.model import Appended, Call, Cut, Discovery, Segment, Withheld
from cuecard.pipeline.block import make_block
from cuecard.pipeline.cues import Due, due
from cuecard.pipeline.fingerprints import salted
from cuecard.pipeline.limits import within_budget
from cuecard.pipeline.request import StepRequest
from cuecard.pipeline.segments import make_segments, render_sections, said
from cuecard.records import dataclass
from cuecard.template.guards.guard import escape_text

AHEAD = "found-ahead"
"""The beginning of the id of a block with the instructions of tools found ahead by the user's own words."""

CUES = "cues"
"""The beginning of the id of a block with cues for first results."""

WITHHELD = "withheld-tools"
"""The beginning of the id of a block that only says which tools are not active."""


@dataclass(frozen=True, slots=True)
class Placed:
    """The two parts of a prompt: segments of the system prompt, and blocks in the conversation.

    `shown` are the discovered tools whose protocols it contains, `withheld` those that are not active, `cuts` what was
    left out, and `due` the cues triggered by first results of tools. `passing` are blocks that do not stay.
    """

    segments: tuple[Segment, ...]
    appended: tuple[Appended, ...]
    shown: tuple[Discovery, ...]
    withheld: tuple[Withheld, ...] = ()
    cuts: tuple[Cut, ...] = ()
    due: tuple[Due, ...] = ()
    passing: tuple[Appended, ...] = ()

    @property
    def blocks(self) -> tuple[Appended, ...]:
        """All blocks, in the order in which they are placed."""
        return (*self.appended, *self.passing)

    @property
    def tokens(self) -> int:
        """The tokens of both parts."""
        return sum(each.tokens for part in (self.segments, self.appended, self.passing) for each in part)

    @property
    def system(self) -> str:
        """The system prompt."""
        return "".join(segment.text for segment in self.segments)

    def salted(self, salt: str) -> Placed:
        """The same prompt with salted fingerprints, and block ids derived from them."""
        if not salt:
            return self
        segments = (replace(segment, sha256=salted(segment.sha256, salt)) for segment in self.segments)
        appended, passing = (tuple(_salted(e, salt) for e in part) for part in (self.appended, self.passing))
        return replace(self, segments=tuple(segments), appended=appended, passing=passing)


News: TypeAlias = Discovery | Withheld | Due
"""What a call must send after a result."""


def place(
    request: StepRequest,
    shown: tuple[Discovery, ...],
    withheld: tuple[Withheld, ...] = (),
    last: Placed | None = None,
) -> Placed:
    """The prompt with these discovered tools, under the call's delivery; what its `last` step placed stays.

    Withheld tools are named where their instructions would be.
    """
    cues, passing = due(request, shown), request.call.prompt.passing
    if last and last.shown == shown and last.withheld == withheld and last.due == cues:
        return last if last.passing == passing else replace(last, passing=passing)
    if request.call.delivery.rebuilds:
        return _rewrite(request, shown, withheld)
    new = _new(request, shown, withheld, cues)
    blocks = request.call.prompt.sent
    if last and _goes_on(before := _new(request, last.shown, last.withheld, last.due), new):
        new, blocks = new[len(before) :], last.appended
    appended = _append(request, new, blocks)
    return Placed(request.call.prompt.segments, appended, shown, withheld, due=cues, passing=passing)


def _new(
    request: StepRequest, shown: tuple[Discovery, ...], withheld: tuple[Withheld, ...], cues: tuple[Due, ...]
) -> tuple[News, ...]:
    """What this call must send about discovered tools, in order of discovery, and about their first results."""
    tools = request.call.tools
    told = tuple(each for each in shown if each.tool not in tools.sent) if tools.sent else shown
    unfit = withheld[len(tools.withheld) :]
    if not (unfit or cues):
        return told
    order = {discovery.tool: place for place, discovery in enumerate(request.found.tools)}

    def place_of(each: News) -> tuple[int, int]:
        return (each.behind - 1, 1) if isinstance(each, Due) else (order[each.tool], 0)

    return tuple(sorted((*told, *unfit, *cues), key=place_of))


def _goes_on(before: tuple[News, ...], now: tuple[News, ...]) -> bool:
    """Whether the new parts get separate blocks: no earlier block follows the same result."""
    goes_on = now[: len(before)] == before
    same = before and len(now) > len(before) and before[-1].after_call_id == now[len(before)].after_call_id
    return goes_on and not same


def _salted(block: Appended, salt: str) -> Appended:
    digest, name = salted(block.sha256, salt), block.id.removesuffix(block.sha256[:12])
    return replace(block, sha256=digest, id=block.id if name == block.id else f"{name}{digest[:12]}")


def _rewrite(request: StepRequest, shown: tuple[Discovery, ...], withheld: tuple[Withheld, ...]) -> Placed:
    """Render every step-tier section again, within its budget; the others stay as the call rendered them."""
    agent, call = request.agent, request.call
    before = call.prompt.shown
    sections = [s for s in edition(request) if s.spec.role == "system"]
    stepwise = [section for section in sections if section.tier == "step" and section.id in before]
    if not (shown or withheld) or not stepwise:
        return Placed(call.prompt.segments, (), shown, withheld)
    tools, notice = (*call.tools.initial, *(d.tool for d in shown)), withheld_notice(agent, withheld)
    rendered = render_sections(agent, stepwise, call.values, tools, notice=notice)
    texts = zip(stepwise, rendered, strict=True)
    fitted = {section.id: within_budget(section, text, agent.names, request.count) for section, text in texts}
    bodies = [fitted[s.id][0] if s.id in fitted else before.get(s.id, "") for s in sections]
    segments = make_segments(agent, sections, bodies, request.count, call.prompt.segments)
    return Placed(segments, (), shown, withheld, tuple(cut for _, cuts in fitted.values() for cut in cuts))


def _append(request: StepRequest, new: tuple[News, ...], before: tuple[Appended, ...]) -> tuple[Appended, ...]:
    """The earlier blocks, and one per result: the section for protocols, filled with only the new ones."""
    agent, call = request.agent, request.call
    there = slots(agent, call)
    blocks = list(before)
    for (after, is_due), group in groupby(new, key=lambda each: (each.after_call_id, isinstance(each, Due))):
        if is_due:
            blocks += [_cues(request, there, after, each.tools) for each in group if isinstance(each, Due) and there]
            continue
        found = tuple(each for each in group if not isinstance(each, Due))
        unfit = [each for each in found if isinstance(each, Withheld)]
        tools = [each.tool for each in found if each.tool in agent.protocols and each not in unfit]
        notice = withheld_notice(agent, unfit) if unfit else ""
        text = notice if not there else _first(request, there, tools, notice)
        if notice or (tools and there):
            text = escape_text(text, call.prompt.withdrawn, mode="names")
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
    text = said(there, render_sections(agent, there, call.values, tools, form="later"))
    return escape_text(text, call.prompt.withdrawn, mode="names")


def withheld_notice(agent: Agent, withheld: Iterable[Withheld]) -> str:
    """The notice about tools that were found but are not active; empty if there are none."""
    told = [each.tool for each in withheld if each.told]
    words = agent.spec.words
    return fill(words.notices.withheld_tools, {"tools": words.listed(told)}) if told else ""


def slots(agent: Agent, call: Call) -> tuple[Section, ...]:
    """The sections of a call that contain protocols, in order."""
    edition = agent.edition(call.configuration.profile, call.configuration.variant)
    return tuple(section for section in edition if PROTOCOLS in section.reads and section.id in call.prompt.shown)


def edition(request: StepRequest) -> tuple[Section, ...]:
    """The parts of the prompt that a call selected, shown or not."""
    configuration = request.call.configuration
    return request.agent.edition(configuration.profile, configuration.variant)
