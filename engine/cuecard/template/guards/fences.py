"""Blocks of Markdown that swallow headings: data leaves no code fence open, ends none of an author's, and no HTML."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from operator import attrgetter
from typing import Literal, NamedTuple

from cuecard.template.guards.edits import Edit
from cuecard.template.guards.marks import Span

_LINE = re.compile(
    "(?P<blanks>[ \t]*)(?:(?P<mark>`{3,}|~{3,})(?P<info>[^\n\v\f\r\x1c-\x1e\x85\u2028\u2029]*)"
    "|(?P<html><[A-Za-z/!?])?[^\n\v\f\r\x1c-\x1e\x85\u2028\u2029]*)"
    "(?P<end>\r\n|[\n\v\f\r\x1c-\x1e\x85\u2028\u2029]|\\Z)"
)
_ENDS = {"\n", "\r\n", "\r", ""}
"""What ends a line for Markdown. Other readers know more, so a fence beside one of those is never sure to be one."""

_TAB, _INDENT = 4, 3
"""How far a tab reaches, and how many blanks at most stand before the end of a fence that has none."""

_ONE_LINE = re.compile(r"[ \t]*(?:<!--.*-->|<\?.*\?>)")
"""An HTML block that ends where it begins."""

_END = attrgetter("end")


class _Fence(NamedTuple):
    """A fence that is open; `end` is where the data ends that has opened it, None where an author has."""

    mark: str
    indent: int
    end: int | None

    def is_closed_by(self, line: re.Match[str], indent: int) -> bool:
        """Whether a line of a fence ends it: of the same sign, no shorter, with nothing behind it.

        Data's own has to be indented alike: then it is the same in a list, and outside.
        """
        mark, is_alike = (
            line["mark"],
            self.end is None or indent == self.indent or (not self.indent and indent <= _INDENT),
        )
        return is_alike and mark[0] == self.mark[0] and len(mark) >= len(self.mark) and not line["info"].strip(" \t")


def fence_edits(plain: str, spans: Sequence[Span], escaping: Literal["text", "names", "raw"] = "text") -> list[Edit]:
    """What is changed in data, so that each heading behind it stays one. Takes linear time.

    A fence of data that is left open is closed. It gets a backslash instead where a reader may take it for something
    else: indented, it ends with its list; below an element's line, it may still be HTML. A backslash also stands before
    what would end an author's fence, and before a fence of which an author has written a part.

    Args:
        plain: a section, without marks.
        spans: where data stands in it.
        escaping: what else is escaped: in mode `names`, a line of data that begins an HTML block is escaped here.
    """
    if "```" not in plain and "~~~" not in plain and not (escaping == "names" and "<" in plain):
        return []
    return _Scan(plain, spans, raw=escaping == "raw").edits()


class _Scan:
    """One walk over the lines of a section."""

    def __init__(self, plain: str, spans: Sequence[Span], *, raw: bool) -> None:
        self._plain, self._raw = plain, raw
        self._spans = list(_runs(spans))
        self._fence: _Fence | None = None
        self._edits: list[Edit] = []
        self._inside: list[Edit] = []  # what is changed in an open fence of data, should it turn out to be none
        self._in_html, self._before = False, ""

    def edits(self) -> list[Edit]:
        """What is changed."""
        for line in _LINE.finditer(self._plain):
            if line.end() > line.start():
                self._leave(line)
                self._read(line)
                self._before = line["end"]
        self._leave(None)
        return self._edits

    def _leave(self, line: re.Match[str] | None) -> None:
        """Out of data's fence, at the end of that data, or where a list that it stands in may have ended."""
        fence = self._fence
        if fence is None or fence.end is None:
            return
        if line is None or fence.end <= line.end("blanks"):
            if not fence.indent:
                self._edits.append(_closing(self._plain, fence.mark, fence.end))
            else:
                self._edits += self._inside
        elif fence.indent > _columns(line["blanks"]) and _says_something(line):
            self._edits += self._inside
        else:
            return
        self._fence = None

    def _read(self, line: re.Match[str]) -> None:
        if self._fence is not None and self._fence.end is None:
            self._indent(line, self._fence.indent)
        if line["mark"]:
            self._read_fence(line)
        elif self._fence is None or self._fence.end is not None:
            self._read_html(line)

    def _read_html(self, line: re.Match[str]) -> None:
        at = line.start("html")
        if at < 0 or _ONE_LINE.match(line[0]):
            self._in_html = self._in_html and (self._fence is not None or _says_something(line))
        elif not self._raw and self._run(at, at + 1) is not None:
            self._add(Edit(at, 1, "&lt;", "angle_brackets_escaped"))
        elif self._fence is None:
            self._in_html = True

    def _add(self, edit: Edit) -> None:
        (self._edits if self._fence is None else self._inside).append(edit)

    def _indent(self, line: re.Match[str], indent: int) -> None:
        """Data in an author's fence is indented like it: otherwise it would end the list that this stands in."""
        at, missing = line.end("blanks"), indent - _columns(line["blanks"])
        if missing > 0 and _says_something(line) and self._run(line.start(), at + 1) is not None:
            self._edits.append(Edit(at, 0, " " * missing, "code_fences"))

    def _read_fence(self, line: re.Match[str]) -> None:
        start, end, indent = line.start("mark"), line.end("mark"), _columns(line["blanks"])
        run, fence = self._run(start, end), self._fence
        own = len(line["mark"]) if run is None else run.start - start
        backslash = Edit(start, 0, "\\", "code_fences")
        if fence is not None and fence.end is not None:
            self._inside.append(backslash)
            if fence.is_closed_by(line, indent):
                self._edits += [] if self._is_sure(line) else self._inside
                self._fence = None
        elif fence is not None:
            if fence.is_closed_by(line, indent):
                if own < len(fence.mark):
                    self._edits.append(backslash)
                else:
                    self._fence = None
        elif own >= 3:
            self._open_authors(line, own, indent)
        elif line["mark"][0] != "`" or "`" not in line["info"]:
            if run is None or run.start > start or run.end < end or not self._is_sure(line):
                self._edits.append(backslash)
            else:
                self._fence, self._inside = _Fence(line["mark"], indent, run.end), [backslash]

    def _is_sure(self, line: re.Match[str]) -> bool:
        return not self._in_html and self._before in _ENDS and line["end"] in _ENDS

    def _open_authors(self, line: re.Match[str], own: int, indent: int) -> None:
        """An author's fence: data neither lengthens it nor turns it into a line of code."""
        mark, at = line["mark"][:own], line.start("mark") + own
        if own < len(line["mark"]):
            self._edits.append(Edit(at, 0, " ", "code_fences"))
        if mark[0] == "`":
            ticks = [place for place in range(at, line.end("info")) if self._plain[place] == "`"]
            data = [place for place in ticks if self._run(place, place + 1) is not None]
            if len(data) < len(ticks):
                return
            self._edits += [Edit(place, 1, "'", "code_fences") for place in data]
        self._fence = _Fence(mark, indent, None)

    def _run(self, start: int, end: int) -> Span | None:
        """The data between two offsets, if there is any."""
        place = bisect_right(self._spans, start, key=_END)
        return self._spans[place] if place < len(self._spans) and self._spans[place].start < end else None


def _runs(spans: Sequence[Span]) -> Iterator[Span]:
    """Data that nothing of an author's divides is one: two values can form a fence together."""
    run: Span | None = None
    for span in spans:
        if run is not None and run.end == span.start:
            run = Span(run.start, span.end)
            continue
        if run is not None:
            yield run
        run = span
    if run is not None:
        yield run


def _says_something(line: re.Match[str]) -> bool:
    """Whether a line is not blank to Markdown, which knows of spaces and tabs alone."""
    return line.end("blanks") < line.start("end")


def _columns(blanks: str) -> int:
    return len(blanks.expandtabs(_TAB))


def _closing(plain: str, mark: str, at: int) -> Edit:
    before = "" if plain[at - 1 : at] in {"\n", "\r"} else "\n"
    behind = "" if plain[at : at + 1] in {"", "\n", "\r"} else "\n"
    return Edit(at, 0, f"{before}{mark}{behind}", "code_fences")
