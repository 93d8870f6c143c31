"""The arguments of both hooks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from cuecard.agent import Agent
from cuecard.agent.facts import AgentFacts
from cuecard.boundary.inputs import step_input_problems
from cuecard.boundary.nouns import shape_of
from cuecard.boundary.turns import take_turn
from cuecard.errors import Problem
from cuecard.model import Call, Clock, History, Json, Memory, ToolResult, Turn
from cuecard.shapes import Findings, Flag, Instance, JsonValue, Maybe, Shape, Table, Whole
from cuecard.template.guards.controls import refuse_controls

_RESULTS = shape_of(Sequence[ToolResult])
CALL = Instance(Call, hint="pass the result of `prepare_call`; `Call.from_json` reads a stored one")
_MEMORY = shape_of(Memory)
_INPUTS = Table(JsonValue(finite=True))
EARLIER = Maybe([Instance(AgentFacts, "an Engine")])
_OTHERS: Mapping[str, Shape] = {"previous": Maybe([CALL]), "compacted": Flag(), "kept": Whole(0), "earlier": EARLIER}


def admit_call(
    agent: Agent,
    turn: Any,
    history: Any,
    clock: Clock,
    arguments: Mapping[str, Any],
) -> tuple[Turn, History]:
    """The arguments of `Engine.prepare_call`: the turn, with its time, and the history; others are passed by name.

    Raises:
        InputError: with everything that is wrong in any of the arguments.
    """
    found = Findings()
    taken = take_turn(agent, turn, clock, found)
    results = take_results(history, "history", found)
    for name, value in arguments.items():
        _OTHERS[name].take(value, name, found)
    found.refuse()
    return taken, results


def admit_step(agent: Agent, call: Any, history: Any, inputs: Any) -> tuple[History, Mapping[str, Json]]:
    """The arguments of `Engine.prepare_step`: the history, and the inputs of the request.

    Raises:
        InputError: with everything that is wrong in any of the arguments.
    """
    found = Findings()
    CALL.take(call, "call", found)
    results = take_results(history, "history", found)
    changed = take_step_inputs(agent, inputs, found)
    found.refuse()
    return results, changed


def take_step_inputs(agent: Agent, inputs: Any, found: Findings) -> Mapping[str, Json]:
    """The inputs that come with a request, checked against those that the agent file declares."""
    taken: Mapping[str, Json] = _INPUTS.take(inputs, "inputs", found)
    if taken and isinstance(taken, Mapping):
        found.problems += step_input_problems(taken, agent.spec.inputs)
    return taken


def admit_turn(agent: Agent, turn: Any, clock: Clock | None) -> Turn:
    """A turn alone; without a clock, its inputs are not checked.

    Raises:
        InputError: with everything that is wrong in it.
    """
    found = Findings()
    taken = take_turn(agent, turn, clock, found)
    found.refuse()
    return taken


def admit_memory(memory: Any, results: Any) -> tuple[Memory, History]:
    """The arguments of `Engine.remember`.

    Raises:
        InputError: with everything that is wrong in any of the arguments.
    """
    found = Findings()
    taken = _MEMORY.take(memory, "memory", found)
    history = take_results(results, "results", found)
    found.refuse()
    return taken, history


def admit_results(results: Any, name: str = "history") -> History:
    """Tool results alone; errors call them `name`.

    Raises:
        InputError: with everything that is wrong in them.
    """
    found = Findings()
    taken = take_results(results, name, found)
    found.refuse()
    return taken


def take_results(results: Any, name: str, found: Findings) -> History:
    """Tool results in their proper types."""
    taken: History = results if _RESULTS.fits(results) else _RESULTS.take(results, name, found)
    found.problems += _controls(taken, name)
    return taken


def _controls(results: Any, name: str) -> Iterator[Problem]:
    """The control characters in the stored parts of results, which may also have the wrong type; bodies are not
    stored.
    """
    try:
        plain = all(f"{each.tool}{each.call_id}{each.batch}".isprintable() for each in results)
    except (AttributeError, TypeError):  # they are not results, which was reported
        return
    for place, each in enumerate(() if plain else results):
        for key in ("tool", "call_id", "batch"):
            yield from refuse_controls(getattr(each, key), f"{name}[{place}].{key}")
