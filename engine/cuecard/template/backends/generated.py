"""What a backend keeps of a program that was written as Python."""

from __future__ import annotations

from typing import Any

from cuecard.records import dataclass


@dataclass(frozen=True, slots=True)
class Generated:
    """Python source, the name of its main function, the places that it names by number, and what it refers to.

    Attributes:
        included: the plain partials that it calls, each with the place of the call, by variable.
        context_only: whether its output depends only on its context.
        spends: whether it may do work that the limits count: it has a loop, calls a partial or a helper.
    """

    source: str
    entry: str
    places: list[tuple[int, int]]
    constants: dict[str, Any]
    included: dict[str, tuple[str, int]]
    context_only: bool
    spends: bool
