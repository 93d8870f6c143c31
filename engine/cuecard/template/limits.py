"""Limits on the work and the output of one render."""

from __future__ import annotations

from contextvars import ContextVar

from cuecard.records import dataclass

MAX_PARTIALS = 100
"""The maximum depth of partials that call partials."""

PER_CALL = 5
"""The number of loop items that take as long as one call of a partial."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of one render, which also bound its time and memory.

    Attributes:
        work: the maximum number of loop items; a call of a partial counts as `PER_CALL` items.
        output: the maximum number of characters.
    """

    work: int = 500_000
    output: int = 10_000_000


USUAL = Limits()
"""The default limits."""

WORK_LEFT: ContextVar[list[int] | None] = ContextVar("cuecard_template_work", default=None)
"""The work left for the current render. It is a context variable because a partial that reads only its context gets
no other argument, and because other threads and tasks render at the same time.
"""


def spend(amount: int) -> bool:
    """Use up work; whether enough was left."""
    left = WORK_LEFT.get()
    if left is None:
        return True
    left[0] -= amount
    return left[0] >= 0
