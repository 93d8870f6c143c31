"""Texts that live for one turn or one request: blocks beside those that stay, and what is left when they have ended."""

from __future__ import annotations

from collections.abc import Iterable

from cuecard.agent import Agent, Section
from cuecard.errors import InputError, Problem
from cuecard.model import Appended, Call, CallPrompt, CountTokens, Cut, EndedText
from cuecard.pipeline.placement import make_block
from cuecard.pipeline.segments import said
from cuecard.records import replace

PASSING = "turn-text:"
"""The beginning of the id of a block with a text of one turn or one request; the section's id follows."""

EPHEMERAL = "ephemeral"
"""What names the text of `Turn.ephemeral`, among sections."""

_KNOWN_AGAIN = 64
"""Of how many texts whose messages were dropped the fingerprints stay, for hosts that have kept one nevertheless."""

_ID_END = 13  # "-" and twelve digits


def section_block(section: Section, body: str, count: CountTokens) -> Appended:
    """The block of a section that does not stay, with its heading; it goes with the message of its turn."""
    block = make_block(f"{PASSING}{section.id}", said([section], [body]), count, turn=0)
    return replace(block, lifetime=section.lifetime, turn=None if section.lifetime == "step" else 0)


def ephemeral_block(text: str, count: CountTokens) -> Appended:
    """The block of the instruction that came with the turn."""
    text = text if text.endswith("\n") else f"{text}\n"
    return replace(make_block(f"{PASSING}{EPHEMERAL}", text, count, turn=0), lifetime="turn")


def section_of(block: Appended) -> str:
    """The section of such a block; `ephemeral` for that of the turn."""
    return block.id.removeprefix(PASSING)[:-_ID_END]


def of_turn(blocks: Iterable[Appended], turn: int) -> tuple[Appended, ...]:
    """The blocks with the number of their turn."""
    return tuple(block if block.turn is None else replace(block, turn=turn) for block in blocks)


def ended_texts(blocks: Iterable[Appended], turn: int | None) -> tuple[EndedText, ...]:
    """What remains of such blocks when they are no longer sent."""
    return tuple([EndedText(section_of(block), block.sha256, turn, block.after_call_id) for block in blocks])


def ended_before(previous: Call, *, kept: int | None) -> tuple[EndedText, ...]:
    """The texts that have ended with the previous call or before it.

    Args:
        previous: the previous call, after its last step.
        kept: if messages have been dropped since, how many of the user are left, the newest; turns are counted anew.
    """
    prompt = previous.prompt
    known = tuple(dict.fromkeys((*prompt.ended, *ended_texts(prompt.passing, previous.turn))))
    if kept is None:
        return known
    gone = previous.turn + 1 - kept
    there = [replace(each, turn=each.turn - gone) for each in known if each.turn is not None and each.turn >= gone]
    others = dict.fromkeys(replace(each, turn=None) for each in known if each.turn is None or each.turn < gone)
    return (*[*others][-_KNOWN_AGAIN:], *there)


def ended_cut(previous: Call) -> tuple[Cut, ...]:
    """The record of the texts that ended with the previous call, if there were any."""
    prompt = previous.prompt
    names = [section_of(block) for block in prompt.passing]
    names += [each.what for each in prompt.ended if previous.over and each.turn == previous.turn]
    if not names:
        return ()
    told = f"one-turn text ended: {', '.join(dict.fromkeys(names))}"
    return (Cut("baseline", told, sum(block.tokens for block in prompt.passing)),)


def one_turn_names(agent: Agent) -> frozenset[str]:
    """The sections of an agent that do not stay, in any profile and variant, and `ephemeral`."""
    return frozenset({EPHEMERAL, *(s.id for edition in agent.editions.values() for s in edition if not s.stays)})


def ended_call(agent: Agent, call: Call) -> Call:
    """The call after the end of its turn: the next one can continue from it, but it has no further steps."""
    if call.over:
        return call
    values = _lasting(agent)
    prompt = replace(call.prompt, passing=(), ended=ended_before(call, kept=None))
    if not call.delivery.places_blocks:  # the next call makes its system prompt anew
        prompt = _without(prompt, one_turn_names(agent))
    record = replace(call.record, inputs={n: digest for n, digest in call.record.inputs.items() if n in values})
    kept = {name: value for name, value in call.values.items() if name in values}
    return replace(call, prompt=prompt, values=kept, record=record, given=None, over=True)


def _lasting(agent: Agent) -> set[str]:
    """The values that sections read which stay, without those that are given for one turn or one request."""
    staying = (section for edition in agent.editions.values() for section in edition if section.stays)
    read = {name for section in staying for name in section.values}
    return read - {name for name, spec in agent.spec.inputs.items() if spec.lives != "conversation"}


def check_running(call: Call) -> None:
    """Refuse a call whose turn has ended.

    Raises:
        InputError: when it has ended.
    """
    if call.over:
        told = "the turn has ended: its one-turn texts are gone, so it has no further model requests"
        hint = "prepare the next user message; to go on within a turn, store it without `ended=True`"
        raise InputError(Problem("turn-ended", told, hint, "call"))


def _without(prompt: CallPrompt, sections: frozenset[str]) -> CallPrompt:
    shown = {name: body for name, body in prompt.shown.items() if name not in sections}
    segments = tuple(segment for segment in prompt.segments if segment.id not in sections)
    return replace(prompt, shown=shown, segments=segments, messages=())
