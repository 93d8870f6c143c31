"""A YAML text that was read before, but for one entry: the entry alone is read, and everything else is taken over.

Who types into a file of a thousand entries waits for one of them. An entry is the rows of a key in a block mapping. Its
former rows show whether they mean the same by themselves; where they do not, the whole text is read.
"""

from __future__ import annotations

import threading
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, takewhile
from operator import itemgetter

from cuecard.config.documents.document import Document, Path
from cuecard.config.documents.yaml import MAX_CHARACTERS, MAX_DEPTH, MAX_NODES, read_yaml
from cuecard.config.documents.yaml_events import reads_alike
from cuecard.errors import Span, SpecError
from cuecard.model import Json
from cuecard.records import dataclass


class Lately:
    """`read_yaml` for texts that are read when they are found or written, and again at once when their agent is built;
    and for the next state of a file. Thread-safe.
    """

    def __init__(self, most: int = 8) -> None:
        self._most, self._lock = most, threading.Lock()
        self._known: OrderedDict[tuple[str, str], Document] = OrderedDict()

    def __call__(self, text: str, name: str) -> Document:
        """Likewise."""
        with self._lock:
            made = self._known.pop((text, name), None)
            before = made or next((each for each in reversed(self._known.values()) if each.name == name), None)
        made = made or (read_change(text, before) if before else None) or read_yaml(text, name)
        with self._lock:
            self._known[text, name] = made
            while len(self._known) > self._most:
                self._known.popitem(last=False)
        return made


read_lately: Lately = Lately()


@dataclass(frozen=True, slots=True)
class _Entry:
    """The entry at a path: its rows in the former text, from one up to another, and in the new one."""

    path: Path
    start: int
    end: int
    old: Sequence[str]
    new: Sequence[str]


def read_change(text: str, before: Document) -> Document | None:
    """The document of a text that differs from the one before in an entry; None where the whole text must be read."""
    if before.warnings or len(text) > MAX_CHARACTERS:
        return None
    if not all(each.endswith("\n") and reads_alike(each) for each in (text, before.text)):
        return None
    return next(filter(None, (_changed(entry, text, before) for entry in _entries(text, before))), None)


def _entries(text: str, before: Document) -> Iterator[_Entry]:
    """The entries that hold everything that differs, from the innermost out."""
    old, new = (each.split("\n")[:-1] for each in (before.text, text))
    top = _alike(old, new)
    end = len(old) - _alike(old[top:][::-1], new[top:][::-1])
    moved = len(new) - len(old)
    starts = [(span.line - 1, path) for path, span in before.keys.items()]
    first = top if end > top else top - 1  # what is added belongs to what stands above it
    at = bisect_right(starts, first, key=itemgetter(0))
    innermost = starts[at - 1][1] if at else ()
    for path in (innermost[:length] for length in range(len(innermost), 0, -1)):
        if path not in before.keys:
            continue
        start, column = before.keys[path].line - 1, before.keys[path].column - 1
        follows = next((row for row, other in starts[at:] if other[: len(path)] != path), len(old))
        rows = old[start:follows], new[start : follows + moved]
        alone = column and follows >= end and not old[start][:column].strip()
        saves = 2 * (follows - start) < len(old)
        if alone and saves and all(map(_reach(column), chain(*rows))):
            yield _Entry(path, start, follows, *rows)


def _reach(column: int) -> Callable[[str], bool]:
    """Whether a row is one of an entry that begins in a column; comments may stand anywhere."""
    return lambda row: not row[:column].strip() or row.lstrip(" ").startswith("#")


def _alike(one: Sequence[str], other: Sequence[str]) -> int:
    """How many rows at the beginning are the same."""
    return sum(1 for _ in takewhile(lambda rows: rows[0] == rows[1], zip(one, other, strict=False)))


def _changed(entry: _Entry, text: str, before: Document) -> Document | None:
    """The document with another entry; None where its rows cannot be read by themselves."""
    *home, key = entry.path
    above = "\n" * entry.start
    try:
        was, now = (read_yaml(above + "\n".join(rows) + "\n", before.name) for rows in (entry.old, entry.new))
    except SpecError:
        return None
    if was.value != {key: before.at(entry.path)} or [*now.value] != [key] or now.keys[(key,)] != was.keys[(key,)]:
        return None
    keys, values = (dict(_spliced(entry, *each)) for each in ((before.keys, now.keys), (before.values, now.values)))
    deep = len(home) + max(map(len, now.values)) + 1
    if now.warnings or deep > MAX_DEPTH or len(keys) + len(values) > MAX_NODES:
        return None
    return Document(before.name, text, _with(before.value, entry.path, now.value[str(key)]), keys, values)


def _spliced(entry: _Entry, before: Mapping[Path, Span], now: Mapping[Path, Span]) -> Iterator[tuple[Path, Span]]:
    """The places of the whole text: those of the entry anew, those behind it moved."""
    path, moved = entry.path, len(entry.new) - len(entry.old)
    for other, span in before.items():
        if other[: len(path)] != path:
            behind = moved and span.line > entry.end
            yield other, Span(span.line + moved, span.column, span.length) if behind else span
        elif other == path:
            yield from ((path[:-1] + inner, place) for inner, place in now.items() if inner)


def _with(value: Json, path: Path, new: Json) -> Json:
    """A value with another one at a path."""
    if not path:
        return new
    copy = value.copy()
    copy[path[0]] = _with(value[path[0]], path[1:], new)
    return copy
