"""Inputs that change between the requests of a turn: a changed text follows the last result, nothing before it moves.

Where nothing can be appended, the system prompt is made again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from cuecard.agent import Section
from cuecard.config.values import fill
from cuecard.errors import InputError, Problem
from cuecard.model import Appended, Call, CallPrompt, CallRecord, Json, ResultRecord, ToolResult
from cuecard.pipeline.fingerprints import fingerprints
from cuecard.pipeline.inputs import clean_again
from cuecard.pipeline.passing import PASSING, ended_texts, of_turn, section_block, section_of
from cuecard.pipeline.placement import edition, make_block
from cuecard.pipeline.request import StepRequest
from cuecard.pipeline.run import last_call_id
from cuecard.pipeline.sections import Again, compose_again
from cuecard.pipeline.segments import make_segments, said
from cuecard.records import dataclass, replace


def with_inputs(request: StepRequest, given: Mapping[str, Json], results: Sequence[ToolResult | ResultRecord]) -> Call:
    """The call with these values of its inputs from the next request on; itself if none differs.

    Args:
        request: the request for the step.
        given: values by name, checked.
        results: the last results, at least from the last one with a call id on.

    Raises:
        InputError: when the last result has no call id, so that nothing can be placed after it.
        TemplateRenderError: when a section cannot be rendered with these values.
    """
    call, agent = request.call, request.agent
    cleaned, removed = clean_again(agent, given)
    values = {name: value for name, value in cleaned.items() if value != call.values.get(name)}
    if not values:
        return call
    touched = [section for section in edition(request) if section.reads & values.keys()]
    before = compose_again(request, touched, call.values)
    after = compose_again(request, touched, {**call.values, **values})
    change = _Change(request, touched, before, after, _since(call, results))
    prompt = change.in_blocks() if call.delivery.places_blocks else change.in_system()
    kept = {name: value for name, value in call.values.items() if name not in before.values}
    record = _recorded(call.record, before, after, removed)
    record = replace(record, inputs={**record.inputs, **fingerprints({**values, **after.values})})
    return replace(call, prompt=prompt, values={**kept, **values, **after.values}, record=record)


def _since(call: Call, results: Sequence[ToolResult | ResultRecord]) -> str | None:
    """The last result of the run; None before its first."""
    if results and results[-1].call_id is None:
        told = "the last result has no call id, so that nothing can be placed after it"
        raise InputError(Problem("missing-call-id", told, "give each tool call an id", "inputs"))
    last = last_call_id(results)
    return None if call.prompt.turns and last == call.prompt.turns[-1] else last


def _recorded(record: CallRecord, before: Again, after: Again, removed: int) -> CallRecord:
    """The record with what is so now in place of what was so before."""
    return replace(
        record,
        cuts=(*(cut for cut in record.cuts if cut not in before.cuts), *after.cuts),
        diagnostics=(*(each for each in record.diagnostics if each not in before.diagnostics), *after.diagnostics),
        sources=(*(row for row in record.sources if row not in before.sources), *after.sources),
        trust={**record.trust, "invisible_removed": record.trust.get("invisible_removed", 0) + removed},
    )


@dataclass(frozen=True, slots=True)
class _Change:
    """Sections before and after a change of inputs, which came after the result `since`."""

    request: StepRequest
    sections: Sequence[Section]
    before: Again
    after: Again
    since: str | None

    def in_blocks(self) -> CallPrompt:
        """The prompt of the call with the changed texts as further blocks of the turn."""
        call = self.request.call
        old = {section.id for section in self.sections if section.lifetime == "step"}
        moved = [block for block in call.prompt.passing if section_of(block) in old]
        kept = tuple(block for block in call.prompt.passing if block not in moved)
        new = of_turn(self._blocks(), call.turn)
        ended = dict.fromkeys((*call.prompt.ended, *ended_texts(moved, call.turn)))
        # What moves with each request comes last: in front of it, nothing may change.
        passing = sorted((*kept, *new), key=lambda block: block.lifetime == "step")
        return replace(call.prompt, passing=tuple(passing), ended=tuple(ended))

    def in_system(self) -> CallPrompt:
        """The prompt of the call with the changed texts in its system prompt."""
        request, prompt = self.request, self.request.call.prompt
        gone = {section.id for section in self.sections} - self.after.bodies.keys()
        shown = {name: body for name, body in {**prompt.shown, **self.after.bodies}.items() if name not in gone}
        system = [section for section in edition(request) if section.spec.role == "system"]
        bodies = [shown.get(section.id, "") for section in system]
        segments = make_segments(request.agent, system, bodies, request.count, prompt.segments)
        return replace(prompt, shown=shown, segments=segments)

    def _blocks(self) -> Iterator[Appended]:
        words, count = self.request.agent.spec.words, self.request.count
        for section in self.sections:
            old, new = (made.bodies.get(section.id, "") for made in (self.before, self.after))
            if section.lifetime == "step" and new:
                yield section_block(section, new, count)
            if section.lifetime == "step" or old == new:
                continue
            title, text = words.quoted(section.spec.title or section.id), said([section], [new])
            if not new:
                text = fill(words.notices.withdrawn_sections, {"sections": title})
            elif old:
                text = fill(words.notices.replaced_section, {"section": title, "text": text})
            block = make_block(f"{PASSING}{section.id}", text, count, after=self.since)
            yield replace(block, lifetime="turn", turn=None if self.since else self.request.call.turn)
