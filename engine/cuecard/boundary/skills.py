"""The arguments of `read_skill`."""

from __future__ import annotations

from typing import Any

from cuecard.agent import Agent
from cuecard.boundary.turns import take_turn
from cuecard.model import Turn
from cuecard.shapes import Findings, Text, Whole

_SLUG, _LIMIT = Text(), Whole(0)


def check_reading(agent: Agent, slug: Any, turn: Any, limit: Any) -> Turn:
    """The turn of `Engine.read_skill`, whose inputs do not matter.

    Raises:
        InputError: with everything that is wrong in any of the arguments.
    """
    found = Findings()
    _SLUG.take(slug, "slug", found)
    taken = take_turn(agent, turn, None, found)
    _LIMIT.take(limit, "limit", found)
    found.refuse()
    return taken
