"""The end of a turn: what a host stores of a call after the answer, without the texts and values of that turn alone."""

from __future__ import annotations

from dataclasses import replace

from cuecard.agent import Agent
from cuecard.errors import InputError, Problem
from cuecard.model import Call, CallPrompt
from cuecard.pipeline.passing import ended_before, one_turn_names


def ended_call(agent: Agent, call: Call) -> Call:
    """The call after the end of its turn: the next one can continue from it, but it has no further steps."""
    if call.over:
        return call
    values = _lasting(agent)
    prompt = replace(call.prompt, passing=(), ended=ended_before(call, shortened=False))
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
        told = "the turn has ended: its one-turn texts are gone, so it has no further steps"
        hint = "prepare the next user message; to go on within a turn, store it without `ended=True`"
        raise InputError(Problem("turn-ended", told, hint, "call"))


def _without(prompt: CallPrompt, sections: frozenset[str]) -> CallPrompt:
    shown = {name: body for name, body in prompt.shown.items() if name not in sections}
    segments = tuple(segment for segment in prompt.segments if segment.id not in sections)
    return replace(prompt, shown=shown, segments=segments, messages=())
