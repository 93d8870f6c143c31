"""What is wrong with arguments, gathered until all of them have been looked at."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import field
from typing import Any

from cuecard.errors import InputError, Problem, visible
from cuecard.records import dataclass

_SHOWN = 60
"""How many characters of a word, a key or a type's name an error shows."""


@dataclass(slots=True)
class Findings:
    """The problems of one call of a public function, in the order of its arguments."""

    problems: list[Problem] = field(default_factory=list)

    def wrong(self, at: str, should: str, value: object, hint: str = "") -> None:
        """A value of the wrong kind.

        Args:
            at: the path of the argument, such as `turn.tools[3]`.
            should: what it should be: `a text`.
            value: what it is; errors tell its kind, never its text.
            hint: the way out.
        """
        self.report("wrong-argument", at, f"should be {should}, not {seen(value)}", hint)

    def report(self, code: str, at: str, told: str, hint: str = "") -> None:
        """Any other problem of the argument at this path."""
        self.problems.append(Problem(code, f"`{at}` {told}", hint, at))

    def refuse(self) -> None:
        """Raise what was found.

        Raises:
            InputError: with every problem, if there is one.
        """
        if self.problems:
            raise InputError(self.problems)


def seen(value: object) -> str:
    """What a value is, in words that tell nothing of its text."""
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
    """A word of the host as an error may show it: visible, and not long."""
    return visible(text[:_SHOWN]) + ("..." if len(text) > _SHOWN else "")


def inside(at: str, key: str) -> str:
    """The path of what stands under a key."""
    return f"{at}.{key}" if key.isidentifier() and len(key) <= _SHOWN else f'{at}["{shortened(key)}"]'


_KINDS = {
    Mapping: "a mapping",
    AbstractSet: "a set, which has no order,",
    Iterator: "an iterator, which can be read only once,",
}


def _kind(value: object) -> Any:
    return next((kind for kind in _KINDS if isinstance(value, kind)), None)
