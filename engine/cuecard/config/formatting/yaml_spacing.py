"""Spaces within a line of YAML: one after a dash, a colon and a comma, none inside brackets."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

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
