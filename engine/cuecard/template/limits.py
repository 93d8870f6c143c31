"""How much work one render may do, and how much it may print."""

from __future__ import annotations

from contextvars import ContextVar

from cuecard.records import dataclass

MAX_PARTIALS = 100
"""How deep partials may call partials."""

PER_CALL = 5
"""How many items of a loop take as long as the call of a partial."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of one render, which also bound its time and memory.

    Attributes:
        work: how many items of loops; a call of a partial counts as `PER_CALL` of them.
        output: how many characters.
    """

    work: int = 500_000
    output: int = 10_000_000


USUAL = Limits()
"""The limits unless others are asked for."""

WORK_LEFT: ContextVar[list[int] | None] = ContextVar("cuecard_template_work", default=None)
"""What is left of the work of the render that runs here: a partial that reads only its context is given nothing else,
and other threads and tasks render at the same time."""


def spend(amount: int) -> bool:
    """Whether the work that is left allows this."""
    left = WORK_LEFT.get()
    if left is None:
        return True
    left[0] -= amount
    return left[0] >= 0
