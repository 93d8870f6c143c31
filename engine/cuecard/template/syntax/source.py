"""A template's text with its name: offsets become lines and columns, mistakes become problems."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import field
from typing import Any

from cuecard.errors import Problem, Span
from cuecard.records import dataclass

_LINE_END = re.compile("\n")


@dataclass(frozen=True, slots=True)
class Source:
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

    def problem(self, start: int, end: int, code: str, message: str, hint: str = "", **more: Any) -> Problem:
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
