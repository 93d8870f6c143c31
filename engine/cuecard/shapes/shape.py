"""The set of values that are accepted."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection
from typing import Any

from cuecard.shapes.findings import Findings


class Shape(ABC):
    """What a value may be.

    Attributes:
        should: a description, as in `should be a text`.
        hint: how to get one.
        exact: types whose values all fit, so that most values need not be checked one by one.
    """

    __slots__ = ("hint", "should")
    exact: frozenset[type] = frozenset()

    def __init__(self, should: str, hint: str = "") -> None:
        self.should, self.hint = should, hint

    @abstractmethod
    def fits(self, value: Any) -> bool:
        """Whether the value is acceptable as it is."""

    def all_fit(self, values: Collection[Any]) -> bool:
        """Whether all of these fit."""
        return self.exact.issuperset(map(type, values)) or all(map(self.fits, values))

    def claims(self, value: Any) -> bool:
        """Whether a value that does not fit was meant for this shape rather than for another of a union."""
        return self.fits(value)

    def take(self, value: Any, at: str, found: Findings) -> Any:
        """The converted value; problems are reported under the path `at`."""
        if not self.fits(value):
            self.refuse(value, at, found)
        return value

    def refuse(self, value: Any, at: str, found: Findings) -> None:
        """Report that the value does not fit."""
        found.wrong(at, self.should, value, self.hint)
