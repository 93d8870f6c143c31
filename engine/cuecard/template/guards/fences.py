"""Code fences of Markdown: data neither leaves one open, which would swallow headings, nor ends that of an author."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from operator import attrgetter
from typing import NamedTuple

from cuecard.template.guards.edits import Edit
from cuecard.template.guards.marks import Span

_FENCE = re.compile(r"(?:\A\s*|^[ ]{0,3})(?P<fence>`{3,}|~{3,})(?P<info>[^\n]*)$", re.MULTILINE)
"""At the beginning behind any blanks: a layout may trim them."""

_END = attrgetter("end")


class _Fence(NamedTuple):
    """A fence that is open; `span` is the data that has opened it, None where an author has."""

    mark: str
    span: Span | None

    def is_closed_by(self, line: re.Match[str]) -> bool:
        """Whether a line of a fence ends it: of the same sign, no shorter, with nothing behind it."""
        mark = line["fence"]
        return mark[0] == self.mark[0] and len(mark) >= len(self.mark) and not line["info"].strip()


def fence_edits(plain: str, spans: Sequence[Span]) -> Iterator[Edit]:
    """A fence behind data that leaves one open, and a backslash before one in data that would end an author's."""
    if "```" not in plain and "~~~" not in plain:
        return
    opened: _Fence | None = None
    for line in _FENCE.finditer(plain):
        span = _span_of(spans, line.start("fence"), line.end("fence"))
        if opened and opened.span and opened.span.end <= line.start("fence"):
            yield _closing(plain, opened.mark, opened.span.end)
            opened = None
        if opened is None:
            is_code = line["fence"][0] == "`" and "`" in line["info"]
            opened = None if is_code else _Fence(line["fence"], span)
        elif opened.is_closed_by(line):
            if opened.span is None and span is not None:
                yield Edit(line.start("fence"), 0, "\\", "code_fences")
            else:
                opened = None
    if opened and opened.span:
        yield _closing(plain, opened.mark, opened.span.end)


def _closing(plain: str, mark: str, at: int) -> Edit:
    before = "" if plain[at - 1 : at] == "\n" else "\n"
    behind = "" if plain[at : at + 1] in {"", "\n"} else "\n"
    return Edit(at, 0, f"{before}{mark}{behind}", "code_fences")


def _span_of(spans: Sequence[Span], start: int, end: int) -> Span | None:
    """The data between two offsets, if there is any."""
    place = bisect_right(spans, start, key=_END)
    return spans[place] if place < len(spans) and spans[place].start < end else None
