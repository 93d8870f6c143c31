"""Checks a turn: its own types, and its inputs, profile and variant against the agent's files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from typing import Any

from cuecard.agent import Agent
from cuecard.boundary.history import cleaned_history
from cuecard.boundary.inputs import input_problems
from cuecard.boundary.nouns import shape_of
from cuecard.errors import Problem
from cuecard.model import Clock, Turn
from cuecard.model.messages import Message
from cuecard.shapes import Findings, Moment
from cuecard.template import refuse_controls
from cuecard.template.guards.controls import has_controls

_TURN = shape_of(Turn)
_MOMENT = Moment(zoned=True)


def take_turn(agent: Agent, turn: Any, clock: Clock | None, found: Findings) -> Turn:
    """The turn in its proper types, with the clock's time if it has none.

    Args:
        agent: the agent whose inputs, profile and variant it names.
        turn: what the host knows about the call; None for nothing.
        clock: the clock to ask for the time; None if no prompt is made.
        found: collects problems.
    """
    taken = Turn() if turn is None else turn
    taken = taken if _TURN.fits(taken) else _TURN.take(taken, "turn", found)
    if not isinstance(taken, Turn):
        return Turn()
    found.problems += _selection(agent, taken)
    taken = taken if found.problems else cleaned_history(taken)
    if clock is None:
        return taken
    found.problems += contents(agent, taken)
    if found.problems or taken.now is not None:
        return taken
    return replace(taken, now=_MOMENT.take(clock(), "clock()", found))


def _selection(agent: Agent, turn: Any) -> list[Problem]:
    """The problem of an unknown profile or variant."""
    profile, variant = getattr(turn, "profile", None), getattr(turn, "variant", None)
    if isinstance(profile, str) and isinstance(variant, str):
        return agent.unknown_selection(profile, variant)
    return []


def contents(agent: Agent, turn: Any) -> Iterator[Problem]:
    """The problems of the inputs and the memory of a turn, which itself may have the wrong types."""
    inputs = getattr(turn, "inputs", None)
    if isinstance(inputs, Mapping):
        yield from input_problems(inputs, agent.spec.inputs)
    yield from controls_in_memory(getattr(turn, "memory", None), "turn.memory")
    yield from _controls_in_message(getattr(turn, "message", None))
    for name in ("metadata", "ephemeral", "query"):
        if value := getattr(turn, name, None):
            yield from refuse_controls(value, f"turn.{name}")


def _controls_in_message(message: Any) -> Iterator[Problem]:
    """The control characters in the current message and its speaker."""
    if isinstance(message, Message):
        for name in ("content", "speaker", "id", "timestamp", "tool_call_id"):
            yield from refuse_controls(getattr(message, name), f"turn.message.{name}")
        calls: Any = message.tool_calls
        # A value that is not a list of calls was reported already.
        for number, call in enumerate(calls if isinstance(calls, (list, tuple)) else ()):
            for name in ("id", "name", "arguments"):
                yield from refuse_controls(getattr(call, name, None), f"turn.message.tool_calls[{number}].{name}")


def controls_in_memory(memory: Any, name: str) -> Iterator[Problem]:
    """The control characters in a memory, which may have the wrong type."""
    try:
        held = any(has_controls(f"{entity.type}{entity.id}{entity.name}{entity.key}") for entity in memory.entities)
    except (AttributeError, TypeError, ValueError):  # it is not a memory, which was reported already
        return
    if held:
        yield from refuse_controls([asdict(entity) for entity in memory.entities], name)
