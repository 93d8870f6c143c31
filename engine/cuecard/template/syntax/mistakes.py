"""The mistakes in the tags of a template, all collected so that an author can fix them in one go."""

from __future__ import annotations

from dataclasses import field
from typing import Final

from cuecard.errors import Problem, Span, TemplateSyntaxError
from cuecard.records import dataclass

MAX_MISTAKES: Final = 100
"""The maximum number of mistakes reported for one template; nothing after the last one is read."""

_NOWHERE = Span(0, 0)


class TagError(Exception):
    """A tag that makes no sense; the parser continues after it."""

    def __init__(self, problem: Problem) -> None:
        """Take the problem."""
        super().__init__(problem.message)
        self.problem = problem


class EnoughError(Exception):
    """Nothing after this place is worth reading: its problems might only follow from earlier ones."""


@dataclass(slots=True)
class Mistakes:
    """The mistakes found so far.

    Attributes:
        problems: the mistakes.
        is_tangled: whether it is unclear what was meant as a tag, so that unbalanced blocks mean nothing.
    """

    problems: list[Problem] = field(default_factory=list)
    is_tangled: bool = False

    def add(self, problem: Problem) -> None:
        """Add a mistake.

        Raises:
            EnoughError: when the maximum is reached.
        """
        self.problems.append(problem)
        if len(self.problems) == MAX_MISTAKES:
            raise EnoughError

    def refuse(self) -> None:
        """Raise the mistakes, if there are any.

        Raises:
            TemplateSyntaxError: with all of them, in the order of the text.
        """
        if self.problems:
            raise TemplateSyntaxError(sorted(self.problems, key=_place))


def _place(problem: Problem) -> tuple[int, int]:
    span = problem.span or _NOWHERE
    return span.line, span.column
