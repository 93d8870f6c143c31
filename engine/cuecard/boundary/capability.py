"""The arguments of a framework's capability around an engine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cuecard.shapes import Either, Findings, Function, Instance, Maybe, Shape, Whole, Word


def check_capability(arguments: Mapping[str, Any], engine: type, nouns: tuple[type, type]) -> None:
    """`engine`, `turn`, `conversation`, `on_call`, `on_step` and `retries`.

    Args:
        arguments: by name; others are ignored.
        engine: the class of engines.
        nouns: the classes of turns and of conversations.

    Raises:
        InputError: with each wrong argument.
    """
    turn, conversation = nouns
    told = Maybe([Function()])
    shapes: Mapping[str, Shape] = {
        "engine": Instance(engine, hint="`Engine.open` makes one"),
        "turn": Either([Instance(turn), Function("a function of the run's context that makes one")]),
        "conversation": Maybe([Instance(conversation, hint="`engine.conversation()` makes one"), Function()]),
        "on_call": told,
        "on_step": told,
        "retries": Maybe([Whole(0)]),
    }
    found = Findings()
    for name, shape in shapes.items():
        shape.take(arguments[name], name, found)
    found.refuse()


def check_graph(arguments: Mapping[str, Any], engine: type, turn: type) -> None:
    """`engine`, `turn`, `cache`, `find`, `on_call` and `on_step` of a graph's node or a client's wrapper.

    Args:
        arguments: by name; missing ones are ignored.
        engine: the class of engines.
        turn: the class of turns.

    Raises:
        InputError: with each that is wrong.
    """
    shapes: Mapping[str, Shape] = {
        "engine": Instance(engine, hint="`Engine.open` makes one"),
        "turn": Maybe([Either([Instance(turn), Function("a function of the request that makes one")])]),
        "cache": Maybe([Word(("5m", "1h"))]),
        "find": Function(),
        "on_call": Maybe([Function()]),
        "on_step": Maybe([Function()]),
    }
    found = Findings()
    for name, value in arguments.items():
        shapes[name].take(value, name, found)
    found.refuse()


def check_run(turn: Any, conversation: Any, nouns: tuple[type, type]) -> None:
    """The `turn` and the `conversation` of one run; the conversation may be no function.

    Args:
        turn: a turn, or a function that makes it.
        conversation: a conversation; None for a new one.
        nouns: the classes of turns and of conversations.

    Raises:
        InputError: with each that is wrong.
    """
    found = Findings()
    Either([Instance(nouns[0]), Function("a function that makes one")]).take(turn, "turn", found)
    Maybe([Instance(nouns[1], hint="`engine.conversation()` makes one")]).take(conversation, "conversation", found)
    found.refuse()
