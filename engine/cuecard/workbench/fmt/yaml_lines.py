"""Indentation and spaces of YAML lines."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, TypeAlias

from cuecard.config.documents.yaml_events import Event
from cuecard.records import dataclass

Edits = Mapping[int, Sequence[tuple[int, int, str]]]
"""By line: the replacement for the text between two columns."""

_COLON = re.compile(r"[ \t]*:[ \t]+")
_COMMA = re.compile(r"[ \t]*,[ \t]*")
_BLANK = re.compile(r"[ \t]+")
_STARTS = frozenset(("MappingStartEvent", "SequenceStartEvent"))
_ENDS = frozenset(("MappingEndEvent", "SequenceEndEvent"))


@dataclass(frozen=True, slots=True)
class _Edge:
    """A position after which spaces may be edited: after a value, or after an opening bracket."""

    line: int
    column: int
    opens: bool = False
    flow: bool = False


def spacing(events: Iterable[Event], rows: Sequence[str]) -> Edits:
    """The edits of every line; none of them touches a text or a comment."""
    edits: dict[int, list[tuple[int, int, str]]] = {}
    edge: _Edge | None = None
    flows: list[bool] = []
    for event in events:
        kind = type(event).__name__
        if kind in _STARTS or kind == "ScalarEvent" or (kind in _ENDS and flows[-1]):
            start = event.start_mark
            if edge is not None and start.line == edge.line and start.column > edge.column:
                gap = rows[edge.line][edge.column : start.column]
                better = _better(gap, edge, closes=kind in _ENDS)
                if better is not None and better != gap:
                    edits.setdefault(edge.line, []).append((edge.column, start.column, better))
        edge = _edge(event, kind, flows, edge)
    return edits


def _edge(event: Event, kind: str, flows: list[bool], before: _Edge | None) -> _Edge | None:
    if kind in _STARTS:
        flow = bool(event.flow_style)
        flows.append(flow)
        opens = flow and event.end_mark.column > event.start_mark.column
        return _Edge(event.end_mark.line, event.end_mark.column, opens=True, flow=True) if opens else None
    if kind in _ENDS:
        flow = flows.pop()
        return _Edge(event.end_mark.line, event.end_mark.column, flow=bool(flows and flows[-1])) if flow else None
    if kind == "ScalarEvent":
        empty = event.start_mark.index == event.end_mark.index
        if empty or event.style in {"|", ">"}:
            return None
        return _Edge(event.end_mark.line, event.end_mark.column, flow=bool(flows and flows[-1]))
    return before


def _better(gap: str, edge: _Edge, *, closes: bool) -> str | None:
    """The spaces that belong there; None for anything but spaces around one sign."""
    if closes or edge.opens:
        return "" if _BLANK.fullmatch(gap) else None
    if _COLON.fullmatch(gap):
        return ": "
    return ", " if edge.flow and _COMMA.fullmatch(gap) else None


STEP = 2
"""The number of spaces per level."""

_DASH = re.compile(r"-([ \t]+|$)")
_INDICATOR = re.compile(r"[1-9]")

_Kind: TypeAlias = Literal["mapping", "list", "value"]


@dataclass(frozen=True, slots=True)
class _Level:
    """Something indented below its parent: its column, and the column where it should be."""

    kind: _Kind
    was: int
    now: int


@dataclass(frozen=True, slots=True)
class _Block:
    """A text after `|` or `>`: its lines, and the header, which may set their indentation."""

    first: int
    end: int
    header: str


class YamlLines:
    """The lines of one text, with what the reader found out about them.

    Attributes:
        explicit: whether a key is written with `?`.
    """

    def __init__(self, rows: Sequence[str], events: Iterable[Event]) -> None:
        self._rows = rows
        self._inner: dict[int, int] = {}  # for a line within something that began earlier, where that began
        self._quoted: set[int] = set()  # lines that end inside quotes
        self._blocks: dict[int, _Block] = {}
        self._keys: set[tuple[int, int]] = set()
        self._opened: list[tuple[int, bool]] = []
        for event in events:
            self._note(event)
        self.explicit: bool = any(row[column : column + 1] == "?" for row, column in self._starts())

    def laid_out(self, edits: Edits) -> str:
        """The text with correct indentation, one newline at its end, and no two consecutive blank lines."""
        return _Printer(self._rows, self._inner, self._quoted, self._blocks, edits).text()

    def _starts(self) -> Iterable[tuple[str, int]]:
        return ((self._rows[line], column) for line, column in self._keys)

    def _note(self, event: Event) -> None:
        kind, start, end = type(event).__name__, event.start_mark, event.end_mark
        if kind in {"MappingStartEvent", "SequenceStartEvent"}:
            self._opened.append((start.line, bool(event.flow_style)))
            if kind == "MappingStartEvent" and not event.flow_style:
                self._keys.add((start.line, start.column))
        elif kind in {"MappingEndEvent", "SequenceEndEvent"}:
            line, flow = self._opened.pop()
            if flow:
                self._span(line, end.line)
        elif kind == "ScalarEvent" and event.style in {"|", ">"}:
            self._block(event)
        elif kind == "ScalarEvent":
            self._span(start.line, end.line)
            if event.style in {"'", '"'}:
                self._quoted.update(range(start.line, end.line))

    def _span(self, first: int, last: int) -> None:
        for line in range(first + 1, last + 1):
            self._inner[line] = min(first, self._inner.get(line, first))

    def _block(self, event: Event) -> None:
        first, end = event.start_mark.line + 1, event.end_mark.line
        if event.end_mark.column and end < len(self._rows):
            end += 1  # the text has no newline at its end
        header = self._rows[first - 1][event.start_mark.column :].partition(" ")[0]
        while end > first and not self._rows[end - 1].strip(" ") and "+" not in header:
            end -= 1  # blank lines after a text that does not keep them
        self._blocks[first] = _Block(first, end, header)


class _Printer:
    """Goes through the lines once, keeping track of the open levels."""

    def __init__(
        self,
        rows: Sequence[str],
        inner: dict[int, int],
        quoted: set[int],
        blocks: dict[int, _Block],
        edits: Edits,
    ) -> None:
        self._rows, self._inner, self._quoted, self._blocks, self._edits = rows, inner, quoted, blocks, edits
        self._levels: list[_Level] = []
        self._shift: dict[int, int] = {}
        self._waiting: list[str] = []  # comments and blank lines, whose level the next line decides
        self._out: list[str] = []
        self._kept = 0  # the newlines up to here belong to a value

    def text(self) -> str:
        at = 0
        while at < len(self._rows):
            at = self._next(at)
        self._flush(None)
        while len(self._out) > self._kept and not self._out[-1]:
            self._out.pop()
        return "".join(f"{row}\n" for row in self._out)

    def _next(self, at: int) -> int:
        row = self._rows[at]
        if at in self._inner:
            self._continue(at, row)
        elif not row.strip(" \t") or row.lstrip(" \t").startswith("#"):
            self._waiting.append(row.rstrip(" \t"))
        else:
            self._structure(at, row)
            # A text may begin on a later line of what began here; it is handled there.
        return self._block(self._blocks[at + 1]) if at + 1 in self._blocks else at + 1

    def _structure(self, at: int, row: str) -> None:
        column = len(row) - len(row.lstrip(" "))
        if not self._levels and row.startswith(("---", "...")) and not row[3:4].strip(" \t"):
            self._flush(0)
            self._shift[at] = 0
            self._put(at, row, "", 0)
            return
        before = [*self._levels]
        now = self._enter(column, "list" if _DASH.match(row, column) else "mapping")
        self._flush(column, before)
        head = ""
        start = now
        while dash := _DASH.match(row, column):
            if dash.end() == len(row):
                break
            head += "- "
            column = dash.end()
            if row[column] == "#":
                break
            now += STEP
            kind: _Kind = "list" if _DASH.match(row, column) else "mapping"
            self._levels.append(_Level(kind, column, now))
        self._shift[at] = now - column
        self._put(at, row, " " * start + head, column)

    def _enter(self, column: int, kind: _Kind) -> int:
        levels = self._levels
        while levels and (levels[-1].was > column or (levels[-1].was == column and levels[-1].kind == "list" != kind)):
            levels.pop()
        if not levels or levels[-1].was < column or levels[-1].kind != kind:
            levels.append(_Level(kind, column, levels[-1].now + STEP if levels else 0))
        return levels[-1].now

    def _put(self, at: int, row: str, head: str, column: int) -> None:
        for start, end, text in reversed(self._edits.get(at, ())):
            if start >= column:
                row = row[:start] + text + row[end:]
        rest = row[column:]
        self._out.append(head + (rest if at in self._quoted else rest.rstrip(" \t")))

    def _continue(self, at: int, row: str) -> None:
        """A line within brackets or a text keeps its indentation relative to the line where those began."""
        shift = self._shift[at] = self._shift[self._inner[at]]
        column = len(row) - len(row.lstrip(" "))
        if row[column : column + 1] == "\t":
            shift = 0
        self._flush(None)
        blank = not row.strip(" \t")
        self._put(at, row, "" if blank else " " * max(0, column + shift), len(row) if blank else column)

    def _block(self, block: _Block) -> int:
        """A text after `|` or `>`: all of its lines move together."""
        rows = self._rows[block.first : block.end]
        holder = self._levels[-1]
        if self._holds_value(block.first - 1):
            holder = self._levels[-2]
        if digit := _INDICATOR.search(block.header):
            was, now = holder.was + int(digit[0]), holder.now + int(digit[0])
        else:
            depths = [len(row) - len(row.lstrip(" ")) for row in rows if row.strip(" ")]
            was, now = (depths[0] if depths else max(map(len, rows), default=0)), holder.now + STEP
        self._out += [" " * now + row[was:] if len(row) > was else "" for row in rows]
        self._kept = len(self._out) if "+" in block.header else self._kept
        return block.end

    def _holds_value(self, at: int) -> bool:
        """Whether the header of a text is alone after a dash or on its line, and so opens no level."""
        level, row = self._levels[-1], self._rows[at]
        return len(self._levels) > 1 and row[level.was : level.was + 1] in {"|", ">"}

    def _flush(self, column: int | None, before: Sequence[_Level] = ()) -> None:
        """Print the comments before a line, each at its own level."""
        for row in self._waiting:
            if not row:
                if self._out and (self._out[-1] or len(self._out) == self._kept):
                    self._out.append("")
                continue
            was = len(row) - len(row.lstrip(" "))
            self._out.append(" " * self._comment(was, column, before) + row.lstrip(" \t"))
        self._waiting = []

    def _comment(self, was: int, column: int | None, before: Sequence[_Level]) -> int:
        here = self._levels[-1].now if column is not None and self._levels else 0
        if column is None or was == column:
            return here if column is not None else self._nearest(was, self._levels)
        return self._nearest(was, before) if was > column else here

    @staticmethod
    def _nearest(was: int, levels: Sequence[_Level]) -> int:
        fitting = [level for level in levels if level.was <= was]
        return fitting[-1].now if fitting else 0
