"""The problems of arguments, collected until all have been checked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import field
from typing import Any

from cuecard.errors import InputError, Problem, visible
from cuecard.records import dataclass

_SHOWN = 60
"""The maximum number of characters of a word, a key or a type's name in an error."""


@dataclass(slots=True)
class Findings:
    """The problems of one call to a public function, in the order of its arguments."""

    problems: list[Problem] = field(default_factory=list)

    def wrong(self, at: str, should: str, value: object, hint: str = "") -> None:
        """A value of the wrong kind.

        Args:
            at: the path of the argument, such as `turn.tools[3]`.
            should: what is expected: `a text`.
            value: the value; errors name its type, never its text.
            hint: how to fix it.
        """
        self.report("wrong-argument", at, f"should be {should}, not {seen(value)}", hint)

    def report(self, code: str, at: str, told: str, hint: str = "") -> None:
        """Any other problem of the argument at this path."""
        self.problems.append(Problem(code, f"`{at}` {told}", hint, at))

    def refuse(self) -> None:
        """Raise the problems.

        Raises:
            InputError: with every problem, if there is one.
        """
        if self.problems:
            raise InputError(self.problems)


def seen(value: object) -> str:
    """A description of a value that does not reveal its text."""
    if value is None or isinstance(value, bool):
        return str(value)
    if isinstance(value, int):
        return f"the number {value}" if abs(value) < 10**18 else "a number of more than 18 digits"
    if isinstance(value, float):
        return f"the number {value!r}"
    if isinstance(value, str):
        return "a text" if value else "an empty text"
    if isinstance(value, type):
        return f"the class {shortened(value.__name__)}"
    return f"{_KINDS.get(_kind(value), 'an object')} of type {shortened(type(value).__name__)}"


def shortened(text: str) -> str:
    """A word of the host for use in an error: visible and short."""
    return visible(text[:_SHOWN]) + ("..." if len(text) > _SHOWN else "")


def inside(at: str, key: str) -> str:
    """The path of the value under a key."""
    return f"{at}.{key}" if key.isidentifier() and len(key) <= _SHOWN else f'{at}["{shortened(key)}"]'


_KINDS = {
    Mapping: "a mapping",
    AbstractSet: "a set, which has no order,",
    Iterator: "an iterator, which can be read only once,",
}


def _kind(value: object) -> Any:
    return next((kind for kind in _KINDS if isinstance(value, kind)), None)
