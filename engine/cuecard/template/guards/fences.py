"""Blocks of Markdown that swallow headings: data cannot leave a code fence open, end an author's fence, or begin HTML.

An indented fence may be part of a list, in which case a line that is not indented ends it, or it may not be. Both
readings are considered, so that nothing depends on data.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from cuecard.template.guards.marks import DataSpan, DataSpans, TextEdit, data_within

_LINE = re.compile(
    r"(?:\A|(?<=[\r\n]))(?P<indent>(?P<lead>[ ]{0,15})(?:(?:[-*+]|[0-9]{1,9}[.)])[ ]{1,4})*)"
    r"(?:(?P<fence>`{3,}|~{3,})(?P<info>[^\r\n]*)|(?P<html></?[A-Za-z]))"
)
"""A line, including the list markers in front of it."""

_MOST = 3
"""The maximum number of spaces before a fence; after more, Markdown reads code or the text of a list."""

_LEAST = 3
"""The minimum number of signs in a fence."""

_LINE_BREAK = re.compile("[\r\n]")
_BACKTICK = re.compile("`")


class _Fence(NamedTuple):
    """An open fence, by an author or by the data in `span`; `inside` contains the edits to make if it turns out not
    to be one.
    """

    line: re.Match[str]
    mark: str
    span: DataSpan | None
    inside: list[TextEdit]

    @property
    def indent(self) -> int:
        """The indentation of its lines in spaces, if it is in a list."""
        return len(self.line["indent"])

    def is_closed_by(self, line: re.Match[str]) -> bool:
        """Whether a line closes the fence: the same sign, at least as long, with nothing after it."""
        mark = line["fence"]
        if line["indent"] != line["lead"]:
            return False
        # In Markdown, only spaces and tabs are blank; other readers may see a fence in more than that.
        behind = line["info"].strip(" \t" if self.span else None)
        return mark[0] == self.mark[0] and len(mark) >= len(self.mark) and not behind


def fence_edits(plain: str, spans: DataSpans, *, html: bool = False) -> Iterator[TextEdit]:
    """A closing fence after data that leaves one open; a backslash before one that data would close, or form together
    with an author's text.

    Args:
        plain: a section without marks.
        spans: where the data is.
        html: whether data that begins an HTML block, which only a blank line ends, is escaped as well.
    """
    if "```" in plain or "~~~" in plain or (html and "<" in plain):
        reader = _Reader(plain, _joined(spans), html=html)
        for line in _LINE.finditer(plain):
            yield from reader.read(line)
        yield from reader.end()


class _Reader:
    """The state at a line, and the edits it requires."""

    def __init__(self, plain: str, spans: DataSpans, *, html: bool) -> None:
        self._plain, self._spans, self._html = plain, spans, html
        self._opened: _Fence | None = None

    def read(self, line: re.Match[str]) -> Iterator[TextEdit]:
        """The edits that a line requires."""
        start, end = line.span("fence" if line["fence"] else "html")
        if self._opened and self._opened.span and self._opened.span.end <= start:
            yield from self.end()
        if line["html"]:
            yield from self._begun(start)
            return
        deepest = self._opened.indent if self._opened else 0
        if len(line["lead"]) > (deepest + _MOST if deepest > _MOST else _MOST):
            return
        span = data_within(self._spans, start, end)
        written = span.start - start if span else end - start
        if written >= _LEAST:
            yield from self._written(line, span, written)
        elif span is None or written > 0 or span.end < end:
            yield _broken(start)
        else:
            yield from self._brought(line, span)

    def end(self) -> Iterator[TextEdit]:
        """A fence that data opened does not stay open after it."""
        if self._opened and self._opened.span:
            yield from _left_open(self._plain, self._opened, self._opened.span)
            self._opened = None

    def _begun(self, at: int) -> Iterator[TextEdit]:
        """A block of HTML, unless it is in code."""
        if not self._html or data_within(self._spans, at, at + 1) is None:
            return
        edit = TextEdit(at, 1, "&lt;", "angle_brackets_escaped")
        if self._opened is None or (self._opened.indent and self._opened.span is None):
            yield edit
        else:
            self._opened.inside.append(edit)

    def _written(self, line: re.Match[str], span: DataSpan | None, size: int) -> Iterator[TextEdit]:
        """An author's fence, possibly with data after its signs."""
        start = line.start("fence")
        if self._opened is None:
            yield from _untouched(self._plain, self._spans, line, start + size)
            self._opened = _Fence(line, line["fence"][:size], None, [])
        elif self._opened.is_closed_by(line):
            if span:
                yield _broken(span.start)
            yield from _kept_inside(self._plain, self._spans, self._opened, start)
            self._opened = None

    def _brought(self, line: re.Match[str], span: DataSpan) -> Iterator[TextEdit]:
        """A fence whose signs are all data."""
        opened, start = self._opened, line.start("fence")
        if opened is None:
            if line["fence"][0] == "~" or "`" not in line["info"]:
                self._opened = _Fence(line, line["fence"], span, [])
        elif opened.span is None:
            if opened.indent or opened.is_closed_by(line):
                yield _broken(start)
        elif opened.is_closed_by(line):
            yield from _closed(self._plain, opened, line)
            self._opened = None
        else:
            opened.inside.append(_broken(start))


@lru_cache(maxsize=16)
def _outside(indent: int) -> re.Pattern[str]:
    """A line with text and less indentation."""
    return re.compile(rf"[\r\n](?P<indent>[ ]{{0,{indent - 1}}})(?![ \t\r\n]|\Z)")


def _broken(at: int) -> TextEdit:
    return TextEdit(at, 0, "\\", "code_fences")


def _closed(plain: str, fence: _Fence, line: re.Match[str]) -> Iterator[TextEdit]:
    """What remains of a data fence that is closed: in a list, it is closed there only if all of it is in the list."""
    if fence.indent and _outside(fence.indent).search(plain, fence.line.end(), line.start("fence") + 1):
        yield from (_broken(fence.line.start("fence")), *fence.inside, _broken(line.start("fence")))


def _left_open(plain: str, fence: _Fence, data: DataSpan) -> Iterator[TextEdit]:
    """A fence that data leaves open is closed after it; in what may be a list, it is prevented."""
    if fence.indent:
        yield from (_broken(fence.line.start("fence")), *fence.inside)
        return
    at, before = data.end, ""
    if plain[at - 1] not in "\r\n":
        # The rest of the line stays on it: at the start of a new line, it might be a mark.
        ends = _LINE_BREAK.search(plain, at)
        at, before = ends.start() if ends else len(plain), "\n"
    behind = "" if plain[at : at + 1] in {"", "\n", "\r"} else "\n"
    yield TextEdit(at, 0, f"{before}{fence.mark}{behind}", "code_fences")


def _kept_inside(plain: str, spans: DataSpans, fence: _Fence, end: int) -> Iterator[TextEdit]:
    """Data in an author's fence cannot leave the list that the fence may be in."""
    if fence.indent:
        for outside in _outside(fence.indent).finditer(plain, fence.line.end(), end):
            if data_within(spans, outside.start(), outside.end() + 1):
                yield TextEdit(outside.end(), 0, " " * (fence.indent - len(outside["indent"])), "code_fences")


def _untouched(plain: str, spans: DataSpans, line: re.Match[str], at: int) -> Iterator[TextEdit]:
    """An author's fence stays a fence, whatever data follows it on its line."""
    if line["fence"][0] == "~":
        if at < line.end("fence"):
            yield _broken(at)
        return
    for sign in _BACKTICK.finditer(plain, at, line.end()):
        if data_within(spans, sign.start(), sign.end()):
            yield TextEdit(sign.start(), 1, "'", "code_fences")


def _joined(spans: DataSpans) -> DataSpans:
    """Adjacent data as one: two values may form a fence together."""
    joined = DataSpans([], [], [])
    for start, end, html in spans:
        if joined and joined.ends[-1] == start:
            joined.ends[-1] = end
        else:
            joined.add(start, end, html=html)
    return joined
