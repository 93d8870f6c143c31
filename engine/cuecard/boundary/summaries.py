"""The arguments of `summarize` and its asynchronous twin."""

from __future__ import annotations

import inspect
from typing import Any

from cuecard.agent import Agent
from cuecard.boundary.turns import take_turn
from cuecard.model import Turn
from cuecard.shapes import Findings, Function, Number

_SUMMARIZER = Function("a function that answers a SummaryRequest")
_LONGEST = 86_400
_TIMEOUT = Number(0, _LONGEST)


def admit_summary(agent: Agent, turn: Any, summarizer: Any, timeout: Any, *, waits: bool) -> Turn:
    """The turn of `Engine.summarize`, whose inputs do not matter.

    Args:
        agent: the agent whose profiles and variants the turn names.
        turn: the turn.
        summarizer: the summarizer.
        timeout: in seconds.
        waits: whether the summarizer runs in a thread, so that it must not be asynchronous.

    Raises:
        InputError: with everything that is wrong in any of the arguments.
    """
    found = Findings()
    if turn is None:
        found.wrong("turn", "a Turn", turn)
    taken = take_turn(agent, turn, None, found)
    _SUMMARIZER.take(summarizer, "summarizer", found)
    if waits and inspect.iscoroutinefunction(summarizer):
        told = "should be a plain function, not an asynchronous one"
        found.report("wrong-argument", "summarizer", told, "await `Engine.asummarize` instead")
    _TIMEOUT.take(timeout, "timeout", found)
    found.refuse()
    return taken
