"""The text of a template with its name, and mistakes with their places in it."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import field
from typing import Any, Final

from cuecard.errors import DidYouMean, Problem, Span, TemplateSyntaxError
from cuecard.records import dataclass

_LINE_END = re.compile("\n")


@dataclass(frozen=True, slots=True)
class TemplateSource:
    """The text of one template; `starts` are the offsets of its lines."""

    name: str
    text: str
    starts: tuple[int, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        # Counted once: a line number per problem and per input must not require a scan of the text.
        object.__setattr__(self, "starts", (0, *(end.end() for end in _LINE_END.finditer(self.text))))

    def span(self, start: int, end: int) -> Span:
        """Offsets (in code points, `end` exclusive) as a place; a span over several lines marks its first line."""
        line = bisect_right(self.starts, start)
        first, last = self._line(line)
        return Span(line, start - first + 1, max(1, min(end, last) - start))

    def problem(
        self, start: int, end: int, code: str, message: str, hint: str | DidYouMean = "", **more: Any
    ) -> Problem:
        """A problem at these offsets."""
        span = self.span(start, end)
        first, last = self._line(span.line)
        return Problem(code, message, hint, self.name, span, self.text[first:last].rstrip("\r"), **more)

    def where(self, offset: int) -> str:
        """The place as `name:line:column`."""
        span = self.span(offset, offset)
        return f"{self.name}:{span.line}:{span.column}"

    def _line(self, number: int) -> tuple[int, int]:
        """The offsets of a line, without its end."""
        last = self.starts[number] - 1 if number < len(self.starts) else len(self.text)
        return self.starts[number - 1], last


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
