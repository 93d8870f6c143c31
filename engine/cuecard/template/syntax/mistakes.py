"""What is wrong with the tags of a template: all of it, so that an author mends it in one go."""

from __future__ import annotations

from dataclasses import field
from typing import Final

from cuecard.errors import Problem, Span, TemplateSyntaxError
from cuecard.records import dataclass

MAX_MISTAKES: Final = 100
"""How many mistakes of one template are told; what stands behind the last one is not read."""

_NOWHERE = Span(0, 0)


class TagError(Exception):
    """A tag that no reading makes sense of; the parser goes on behind it."""

    def __init__(self, problem: Problem) -> None:
        """Say what is wrong with it."""
        super().__init__(problem.message)
        self.problem = problem


class EnoughError(Exception):
    """Nothing behind this place is worth reading: what is told of it might only follow from what is wrong before it."""


@dataclass(slots=True)
class Mistakes:
    """What was found so far.

    Attributes:
        problems: the mistakes.
        is_tangled: whether it is unclear what the author meant to be a tag, so that blocks tell nothing any more.
    """

    problems: list[Problem] = field(default_factory=list)
    is_tangled: bool = False

    def add(self, problem: Problem) -> None:
        """Write a mistake down.

        Raises:
            EnoughError: when there are as many as people can read.
        """
        self.problems.append(problem)
        if len(self.problems) == MAX_MISTAKES:
            raise EnoughError

    def refuse(self) -> None:
        """Go on only where there is none.

        Raises:
            TemplateSyntaxError: with all of them, in the order of the text.
        """
        if self.problems:
            raise TemplateSyntaxError(sorted(self.problems, key=_place))


def _place(problem: Problem) -> tuple[int, int]:
    span = problem.span or _NOWHERE
    return span.line, span.column
