"""Remembers what was made of a text, so that a reload does again only what changed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, TypeVarTuple

Given = TypeVarTuple("Given")
Made = TypeVar("Made")


class Memo:
    """Results of pure functions by function and arguments, which must be hashable. For one thread.

    A failure is not remembered. What was not asked for since the last `forget_unused` is dropped at the next.
    """

    __slots__ = ("_known", "_used")

    def __init__(self) -> None:
        self._known: dict[Any, Any] = {}
        self._used: set[Any] = set()

    def __call__(self, work: Callable[[*Given], Made], *given: *Given) -> Made:
        """What `work(*given)` gives, from memory if it was asked for before."""
        key = (work, *given)
        if key not in self._known:
            self._known[key] = work(*given)
        self._used.add(key)
        made: Made = self._known[key]
        return made

    def forget_unused(self) -> None:
        """Keep only what was asked for since this was last called."""
        self._known = {key: made for key, made in self._known.items() if key in self._used}
        self._used = set()
