"""Conversations of four turns, of which one has a text of its own, and what is promised of their requests."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from functools import cache
from itertools import pairwise, product
from pathlib import Path
from typing import Any

from cuecard import Engine, Turn

PROMPTS = Path(__file__).parents[3] / "prompts"
NOW = datetime(2026, 11, 20, tzinfo=UTC)
WORDS = ("hello", "what came in?", "and now?", "thank you")
OWN = 1
"""The turn that has a text of its own."""

TURNS = (0, 0, 1, 1, 1, 2, 2, 3)
"""Of each request, its turn: those with a tool call or two take more."""

BATCHES: tuple[list[tuple[str, dict[str, str]]], ...] = tuple(
    [("look", {"at": f"{number}"})] if turn == after else []
    for number, (turn, after) in enumerate(zip(TURNS, (*TURNS[1:], None), strict=True))
)
"""What the model calls, request by request."""

CASES: dict[str, tuple[str, Turn, Turn]] = {
    "polyant": ("ORDER-7-OF-JANA", Turn(now=NOW), Turn({"context": "ORDER-7-OF-JANA"}, now=NOW)),
    "mushroom": ("No message has set off this turn", Turn(now=NOW), Turn({"heartbeat": True}, now=NOW)),
    "cms": ("SAY-IT-IN-CZECH", Turn(now=NOW), Turn(now=NOW, ephemeral="SAY-IT-IN-CZECH")),
}
"""Agents, each with a text, and turns without it and with it."""


def pairs(first: Sequence[Any], second: Sequence[Any]) -> list[tuple[str, Any, Any]]:
    """The agents with two ways of a host each: every two of the three are together in one of them."""
    ways = product(enumerate(CASES), enumerate(first))
    return [(name, way, second[(at + place) % len(second)]) for (at, name), (place, way) in ways]


@cache
def engine(name: str) -> Engine:
    return Engine.open(PROMPTS / name, delivery="append")


def turn_of(name: str, number: int) -> Turn:
    _, without, having = CASES[name]
    return having if number == OWN else without


def check(requests: Sequence[Sequence[str]], text: str, passing: Sequence[str] = ()) -> None:
    """The text is in each request of its turn, at the same place, and in no other; nothing in front of it moves.

    Args:
        requests: the pieces of each request, in order.
        text: the text of one turn.
        passing: what else of pieces does not stay, in any turn.
    """
    assert len(requests) == len(TURNS)
    assert [sum(piece.count(text) for piece in sent) for sent in requests] == [int(turn == OWN) for turn in TURNS]
    for (turn, before), (next_turn, after) in pairwise(zip(TURNS, requests, strict=True)):
        kept = [piece for piece in before if turn == next_turn or not any(part in piece for part in (text, *passing))]
        assert list(after[: len(kept)]) == kept
