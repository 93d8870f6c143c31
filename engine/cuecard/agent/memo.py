"""Caches what was made from texts, so that a reload only processes changes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, TypeVarTuple

Given = TypeVarTuple("Given")
Made = TypeVar("Made")


class Memo:
    """Results of pure functions, by function and hashable arguments. For use in a single thread.

    Failures are not cached. Results unused since the last `forget_unused` are dropped at the next.
    """

    __slots__ = ("_known", "_used")

    def __init__(self) -> None:
        self._known: dict[Any, Any] = {}
        self._used: set[Any] = set()

    def __call__(self, work: Callable[[*Given], Made], *given: *Given) -> Made:
        """The result of `work(*given)`, from the cache if possible."""
        key = (work, *given)
        if key not in self._known:
            self._known[key] = work(*given)
        self._used.add(key)
        made: Made = self._known[key]
        return made

    def forget_unused(self) -> None:
        """Keep only results used since the last call of this method."""
        self._known = {key: made for key, made in self._known.items() if key in self._used}
        self._used = set()
