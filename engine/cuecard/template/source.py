"""A template's text with its name: offsets become lines and columns, mistakes become problems."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from cuecard.errors import Problem, Span


@dataclass(frozen=True, slots=True)
class Source:
    """The text of one template."""

    name: str
    text: str

    def span(self, start: int, end: int) -> Span:
        """Offsets (in code points, `end` exclusive) as a place; a span over several lines marks its first line."""
        line_start = self.text.rfind("\n", 0, start) + 1
        line_end = self.text.find("\n", start)
        last = len(self.text) if line_end < 0 else line_end
        return Span(self.text.count("\n", 0, start) + 1, start - line_start + 1, max(1, min(end, last) - start))

    def problem(self, start: int, end: int, code: str, message: str, hint: str = "", **more: Any) -> Problem:
        """A problem at these offsets."""
        span = self.span(start, end)
        line_start = start - span.column + 1
        line_end = self.text.find("\n", start)
        line = self.text[line_start : len(self.text) if line_end < 0 else line_end]
        return Problem(code, message, hint, self.name, span, line, **more)

    def where(self, offset: int) -> str:
        """The place as `name:line:column`."""
        span = self.span(offset, offset)
        return f"{self.name}:{span.line}:{span.column}"
