"""The arguments of a conversation, and the state that it continues from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from cuecard.agent import Agent
from cuecard.boundary.calls import EARLIER, take_results, take_step_inputs
from cuecard.boundary.nouns import shape_of
from cuecard.boundary.turns import controls_in_memory, take_turn
from cuecard.model import Clock, ConversationState, Entity, History, Json, Memory, Turn
from cuecard.shapes import Findings, Flag, Instance, Maybe, Table, Text, Whole
from cuecard.template.guards.controls import refuse_controls

_CALLS, _KEPT, _ID, _TEXT, _FLAG = Table(Text(least=1)), Whole(0), Text(), Text(), Flag()
_STATE = Maybe([shape_of(ConversationState)])
_ENTITY = shape_of(Entity)


def admit_user(
    agent: Agent, turn: Any, results: Any, calls: Any, clock: Clock
) -> tuple[Turn, History, Mapping[str, str]]:
    """The arguments of `Conversation.user`, the turn with its time.

    Raises:
        InputError: with everything that is wrong in any of the arguments.
    """
    found = Findings()
    taken = take_turn(agent, turn, clock, found)
    history = take_results(results, "results", found)
    named = _take_calls(calls, found)
    found.refuse()
    return taken, history, named


def admit_more(
    agent: Agent, results: Any, calls: Any, inputs: Any
) -> tuple[History, Mapping[str, str], Mapping[str, Json]]:
    """The arguments of `Conversation.step`.

    Raises:
        InputError: with everything that is wrong in any of the arguments.
    """
    found = Findings()
    history = take_results(results, "results", found)
    named = _take_calls(calls, found)
    changed = take_step_inputs(agent, inputs, found)
    found.refuse()
    return history, named, changed


def _take_calls(calls: Any, found: Findings) -> Mapping[str, str]:
    """The tools of calls, by call id; both are kept."""
    named: Mapping[str, str] = _CALLS.take(calls, "calls", found)
    found.problems += refuse_controls(named, "calls") if named else []
    return named


def admit_entities(entities: Any) -> tuple[Entity, ...]:
    """The argument of `Conversation.remember`, any iterable.

    Raises:
        InputError: with everything that is wrong in any of them.
    """
    found = Findings()
    taken: tuple[Entity, ...] = ()
    if isinstance(entities, (str, bytes, Mapping)) or not isinstance(entities, Iterable):
        found.wrong("entities", "Entities, in any iterable", entities)
    else:
        taken = tuple(_ENTITY.take(each, f"entities[{place}]", found) for place, each in enumerate(entities))
        found.problems += controls_in_memory(Memory(taken), "entities")
    found.refuse()
    return taken


def admit_names(names: Any) -> tuple[str, ...]:
    """The argument of `Conversation.tools_changed`, any iterable.

    Raises:
        InputError: with each name that is not a string.
    """
    found = Findings()
    if isinstance(names, (str, bytes, Mapping)) or not isinstance(names, Iterable):
        found.wrong("there", "names of tools, in any iterable", names)
        found.refuse()
    taken = tuple(_ID.take(name, f"there[{place}]", found) for place, name in enumerate(names))
    found.refuse()
    return taken


def check_kept(kept: Any) -> None:
    """The argument of `Conversation.compacted`.

    Raises:
        InputError: when it is not a valid number of messages.
    """
    found = Findings()
    _KEPT.take(kept, "kept", found)
    found.refuse()


def check_ids(ids: tuple[Any, ...]) -> None:
    """The arguments of `Conversation.forget`.

    Raises:
        InputError: with each that is not a string.
    """
    found = Findings()
    for place, each in enumerate(ids):
        _ID.take(each, f"ids[{place}]", found)
    found.refuse()


def admit_state(state: Any, earlier: Any = None) -> ConversationState:
    """The arguments of `Engine.conversation`: the state, and the earlier engine; an empty state for None.

    Raises:
        InputError: with everything that is wrong in it.
    """
    found = Findings()
    taken = _STATE.take(state, "state", found)
    EARLIER.take(earlier, "earlier", found)
    found.problems += controls_in_memory(getattr(taken, "memory", None), "state.memory")
    found.refuse()
    return ConversationState() if taken is None else taken


def check_dump(conversation: Any, kind: type, ended: Any) -> None:
    """The arguments of `Engine.dump`, with the class of conversations.

    Raises:
        InputError: with everything that is wrong in any of them.
    """
    found = Findings()
    _FLAG.take(ended, "ended", found)
    Instance(kind, hint="`Engine.conversation` makes one").take(conversation, "conversation", found)
    found.refuse()


def check_text(text: Any) -> None:
    """The argument of `Engine.load`.

    Raises:
        InputError: when it is not a string.
    """
    found = Findings()
    _TEXT.take(text, "text", found)
    found.refuse()
