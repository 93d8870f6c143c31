"""Edits of YAML text: what need not change stays as people wrote it, comments, order and quoting included.

An edit is made in the lines that it concerns and is then read back: a text that would mean anything else is not given
away. What cannot be read, such as anchors and keys that stand twice, is not edited either.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import accumulate
from typing import TypeAlias

from cuecard.config.documents.document import Document, Path
from cuecard.config.documents.yaml import read_yaml
from cuecard.config.documents.yaml_changes import read_lately
from cuecard.config.documents.yaml_events import pure_events
from cuecard.errors import InputError, Problem, SpecError
from cuecard.model import Json
from cuecard.records import dataclass

_BREAK = re.compile(r"(?<=[\n\x85\u2028\u2029])")
_COMMENT = re.compile(r"\s*#")
_BEHIND = re.compile(r"(?:[^:#]*:\s*)?(?:[|>][-+0-9]*\s*)?(#.*)\n?")
_BEHIND_PLAIN = re.compile(r".*?\s(#.*)")
_BEHIND_QUOTED = {
    "'": re.compile(r"(?:[^']|'')*'\s+(#.*)"),
    '"': re.compile(r'(?:[^"\\]|\\.)*"\s+(#.*)'),
}
_BEFORE_ITEM = re.compile(r"[ ]*(- +)*")
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9 ./_-]*(?<! )")
_SENTENCE = re.compile(r"[^\W\d_](?:[^:#]|:(?! |$)|(?<! )#)*(?<! )")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d\d:\d\d")
_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")
_FOLD = re.compile(r"(?<=\S) (?=\S)")
_WORDS = frozenset(("true", "false", "null", "yes", "no", "on", "off", "nan", "inf", "y", "n"))
_WIDE = 110
_STEP = 2
Read: TypeAlias = Callable[[str, str], Document]
Edit: TypeAlias = tuple[int, int, str]
"""Where a piece of the text begins and ends, and what takes its place."""


def patched(text: str, value: Mapping[str, Json], name: str, order: Sequence[str] = ()) -> str:
    """The text of a file, changed to hold this value; new keys go where `order` has them.

    Raises:
        InputError: when it is written so that it cannot be changed without losing something else.
        SpecError: when the file cannot be read.
    """
    document = read_yaml(text, name)
    return _made(document, _ordered(document.value, value, order), "save under another name")


def with_value(
    text: str, path: Path, value: Json, name: str = "", order: Sequence[str] = (), read: Read = read_yaml
) -> str:
    """The text with another value at a path; a new key of a mapping goes where `order` has it. Whoever may know the
    document of the text says how it is read.

    Raises:
        InputError: when it is written so that it cannot be changed without losing something else.
        LookupError: when what should hold the value is not there.
        SpecError: when the file cannot be read.
    """
    document = read(text, name)
    return _made(document, _changed(document.value, path, value, order), "edit the file itself", path)


def without(text: str, path: Path, name: str = "") -> str:
    """The text without the key or the item at a path.

    Raises:
        InputError: when it is written so that it cannot be changed without losing something else.
        LookupError: when it is not there.
        SpecError: when the file cannot be read.
    """
    document = read_yaml(text, name)
    held = document.at(path[:-1])
    left: Json = {**held} if isinstance(held, dict) else [*held]
    del left[path[-1]]
    return _made(document, _changed(document.value, path[:-1], left, ()), "edit the file itself", path)


def written(value: Mapping[str, Json]) -> str:
    """A mapping as the text of a new file."""
    return "".join(row for key, inner in value.items() for row in _entry(f"{_key(key)}:", inner, 0, top=True))


def on_one_line(value: Json) -> str:
    """A value as people write it in braces, brackets or a word."""
    return _flow(value)


def same(one: Json, other: Json) -> bool:
    """Whether two values are the same JSON, their types and the order of their keys included."""
    if one is other:
        return True
    if isinstance(one, dict) and isinstance(other, dict):
        return [*one] == [*other] and all(map(same, one.values(), other.values()))
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    return json.dumps(one) == json.dumps(other)


def _made(document: Document, value: dict[str, Json], way_out: str, path: Path = ()) -> str:
    try:
        made = _Patch(document).made(value)
        if same(read_lately(made, document.name).value, value):
            return made
    except (_TooTightError, SpecError):
        pass
    what = f"`{'.'.join(map(str, path))}` is written in a way that" if path else "the file is written in a way that"
    raise InputError(Problem("wrong-edit", f"{what} cannot be changed alone", way_out, document.name or "edit"))


def _ordered(old: Mapping[str, Json], new: Mapping[str, Json], order: Sequence[str]) -> dict[str, Json]:
    """A mapping in the order of the one that it replaces; new keys stand where `order` has them."""
    places = {name: place for place, name in enumerate(order)}
    keys = [key for key in old if key in new]
    for key in (key for key in new if key not in old):
        mine = places.get(key, len(order))
        before = [at for at, other in enumerate(keys) if places.get(other, len(order) + (key in places)) <= mine]
        keys.insert(before[-1] + 1 if before else 0, key)
    return {key: new[key] for key in keys}


def _changed(value: Json, path: Path, new: Json, order: Sequence[str]) -> Json:
    if not path:
        return _ordered(value, new, order) if isinstance(value, dict) and isinstance(new, dict) else new
    key, rest = path[0], path[1:]
    if isinstance(value, dict) and key not in value and not rest:
        return _ordered(value, {**value, str(key): new}, order)
    if key not in (value if isinstance(value, dict) else range(len(value) if isinstance(value, list) else 0)):
        raise LookupError(path)
    if isinstance(value, list):
        return [_changed(each, rest, new, order) if at == key else each for at, each in enumerate(value)]
    return {name: _changed(each, rest, new, order) if name == key else each for name, each in value.items()}


class _TooTightError(Exception):
    """A value shares its line with others, or stands in a form that has no lines of its own."""


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a key or an item stands: its rows, the column it begins in, and what stands before it."""

    path: Path
    start: int
    end: int
    column: int
    head: str


class _Patch:
    """The rows of a document, and how they change."""

    def __init__(self, document: Document) -> None:
        text = document.text if document.text.endswith("\n") else document.text + "\n"
        self._document, self._text = document, text
        self._rows = [row for row in _BREAK.split(text) if row]
        self._starts = [0, *accumulate(map(len, self._rows))]

    def made(self, value: dict[str, Json]) -> str:
        if same(self._document.value, value):
            return self._document.text
        text = self._text
        edits = sorted(self._edits((), value, len(self._rows)), key=lambda edit: edit[:2])
        for start, end, told in reversed(edits):
            text = text[:start] + told + text[end:]
        return text

    def _edits(self, path: Path, value: Json, end: int) -> Iterator[Edit]:
        """The edits that make the mapping or list at a path this value."""
        places = self._places(path, end)
        if not places and self._document.at(path):
            yield from self._in_flow(path, value)
        elif isinstance(value, dict):
            yield from self._of_mapping(path, places, value)
        else:
            yield from self._of_list(path, places, value)

    def _of_mapping(self, path: Path, places: Mapping[str | int, _Place], value: dict[str, Json]) -> Iterator[Edit]:
        old = self._document.at(path)
        if not places or not value or [key for key in old if key in value] != [key for key in value if key in old]:
            raise _TooTightError
        first = next(iter(places.values()))
        row, column = first.start, first.column
        for key, item in value.items():
            if key in old:
                row = places[key].end
                yield from self._replaced(places[key], f"{_key(key)}:", item) if not same(old[key], item) else ()
            elif row == first.start and first.head.strip():
                raise _TooTightError
            else:
                yield self._rows_edit(row, row, _entry(" " * column + f"{_key(key)}:", item, column, top=not path))
        for name, place in places.items():
            if name not in value:
                if place.head.strip():
                    raise _TooTightError
                yield self._rows_edit(place.start, place.end, [])

    def _of_list(self, path: Path, places: Mapping[str | int, _Place], value: list[Json]) -> Iterator[Edit]:
        old: list[Json] = self._document.at(path)
        if not value or not places:
            raise _TooTightError
        first = next((at for at, pair in enumerate(zip(old, value, strict=False)) if not same(*pair)), None)
        first = min(len(old), len(value)) if first is None else first
        behind = zip(reversed(old[first:]), reversed(value[first:]), strict=False)
        tail = next((at for at, pair in enumerate(behind) if not same(*pair)), min(len(old), len(value)) - first)
        gone, come = [*range(first, len(old) - tail)], value[first : len(value) - tail]
        for at, item in zip(gone, come, strict=False):
            yield from self._replaced(places[at], "", item)
        if first == 0 and not (gone and come) and places[0].head.strip() != "-":
            raise _TooTightError  # its row begins what holds the list, too
        for at in gone[len(come) :]:
            yield self._rows_edit(places[at].start, places[at].end, [])
        if come[len(gone) :]:
            row = places[gone[-1]].end if gone else places[first].start if first < len(old) else places[first - 1].end
            indent = places[0].head.rindex("-")
            rows = [line for item in come[len(gone) :] for line in _entry(" " * indent + "-", item, indent)]
            yield self._rows_edit(row, row, rows)

    def _replaced(self, place: _Place, key: str, value: Json) -> Iterator[Edit]:
        """The edits that give the key or item at a place another value."""
        old = self._document.at(place.path)
        row, span = self._rows[place.start], self._document.values[place.path]
        if type(old) is type(value) and isinstance(old, (dict, list)):
            try:
                yield from [*self._edits(place.path, value, place.end)]
            except _TooTightError:
                pass
            else:
                return
        start = span.column - 1
        style = self._rows[span.line - 1][start : start + 1] if isinstance(old, str) else ""
        has_rows = old is None or (isinstance(old, (dict, list)) and row[start] not in "[{")
        inline = place.end == place.start + 1 and not has_rows
        if inline and style not in {"|", ">"} and not _block_of(value):
            begin = self._starts[place.start] + start
            yield begin, begin + span.length, _like(style, value)
            return
        inside = self._rows[place.start + 1 : place.end] if not isinstance(old, str) else []
        kept = [each for each in inside if _COMMENT.match(each)]
        said = self._comment(place, key, style)
        rows = self._rows[place.start + bool(said) : place.end] if not isinstance(old, str) else []
        if any(" #" in each and not _COMMENT.match(each) for each in rows):
            raise _TooTightError  # whoever wrote a comment behind a part of it would lose it
        column = place.column if key else place.head.rindex("-")
        kept = [" " * column + said, *kept] if said else kept
        head = place.head + key if key else place.head.rstrip()
        yield self._rows_edit(place.start, place.end, [*kept, *_entry(head, value, column, style=style)])

    def _comment(self, place: _Place, key: str, style: str) -> str:
        """The comment behind a key whose rows are written anew; empty without one."""
        is_block = style in {"|", ">"}
        said = _BEHIND.fullmatch(self._rows[place.start], place.column) if key or is_block else None
        if said is None and style and not is_block:
            span = self._document.values[place.path]
            last, begin = self._rows[place.end - 1], span.column if span.line == place.end else 0
            said = (_BEHIND_QUOTED.get(style) or _BEHIND_PLAIN).match(last, begin)
        return f"{said[1]}\n" if said else ""

    def _in_flow(self, path: Path, value: Json) -> Iterator[Edit]:
        """The edits of a value that stands in braces or brackets, or within such."""
        old = self._document.at(path)
        if isinstance(old, dict) and isinstance(value, dict) and [*old] == [*value]:
            inner: list[str | int] = [*old]
        elif isinstance(old, list) and isinstance(value, list) and len(old) == len(value):
            inner = [*range(len(old))]
        else:
            start, end = self._flow(path)
            yield start, end, self._flow_of(path, value)
            return
        for step in inner:
            if not same(old[step], value[step]):
                yield from self._in_flow((*path, step), value[step])

    @cached_property
    def _flows(self) -> dict[Path, tuple[int, int]]:
        return _offsets(self._text)

    def _flow(self, path: Path) -> tuple[int, int]:
        """The offsets of a value in a flow; its comments could not be kept."""
        start, end = self._flows[path]
        if start == end or ("#" in self._text[start:end] and "\n" in self._text[start:end]):
            raise _TooTightError
        return start, end

    def _flow_of(self, path: Path, value: Json) -> str:
        """A value in a flow, where what has not changed is written as before."""
        old = self._document.at(path)
        start, _ = self._flow(path)
        if not isinstance(value, dict) or not isinstance(old, dict):
            return _like(self._text[start] if isinstance(old, str) else "", value, flow=True)
        said = []
        for key, item in value.items():
            kept = self._text[slice(*self._flows[(*path, key)])] if key in old and same(old[key], item) else ""
            said.append(f"{_key(key)}: {kept or _flow(item)}")
        return "{" + ", ".join(said) + "}"

    def _rows_edit(self, start: int, end: int, rows: Sequence[str]) -> Edit:
        return self._starts[start], self._starts[end], "".join(rows)

    def _places(self, path: Path, end: int) -> dict[str | int, _Place]:
        """The places of the keys or items at a path; none where they have no rows of their own."""
        held = self._document.at(path)
        keyed = isinstance(held, dict)
        spans = self._document.keys if keyed else self._document.values
        names: list[str | int] = [*held] if keyed else [*range(len(held))]
        starts = [spans[(*path, name)] for name in names]
        found: dict[str | int, _Place] = {}
        for at, (name, span) in enumerate(zip(names, starts, strict=True)):
            column, start = span.column - 1, span.line - 1
            head = self._rows[start][:column]
            follows = starts[at + 1].line - 1 if at + 1 < len(starts) else end
            if not _BEFORE_ITEM.fullmatch(head) or (not keyed and not head.strip()):
                return {}
            found[name] = _Place((*path, name), start, self._end(follows, (*path, name)), column, head)
        return found

    def _end(self, follows: int, path: Path) -> int:
        """The end of a value that ends before a row: comments and blank lines before the next key belong to that."""
        value = self._document.at(path)
        while value and isinstance(value, (dict, list)):
            last = [*value][-1] if isinstance(value, dict) else len(value) - 1
            path, value = (*path, last), value[last]
        span = self._document.values[path]
        first, start = self._rows[span.line - 1], span.column - 1
        style = first[start : start + 1]
        column = len(self._text)
        if style in {"|", ">"}:  # the rows of a block text lie behind this column
            key = self._document.keys.get(path)
            column = key.column - 1 if key else first.rindex("-", 0, start)
        end = follows
        while not (row := self._rows[end - 1]).strip() or (_COMMENT.match(row) and _indent(row) <= column):
            end -= 1
        if style in _BEHIND_QUOTED and any(map(_COMMENT.match, self._rows[end:follows])):  # rows of the text, perhaps
            end = max(end, bisect_left(self._starts, self._flows[path][1]))
        return end


def _indent(row: str) -> int:
    return len(row) - len(row.lstrip(" "))


@dataclass(slots=True)
class _Open:
    """A collection that is being read: where it began, and the key or item in it; None before a key."""

    path: Path
    start: int
    key: str | int | None


def _offsets(text: str) -> dict[Path, tuple[int, int]]:
    """Where each value begins and ends, as far as it ends in a character of its own."""
    found: dict[Path, tuple[int, int]] = {}
    opened: list[_Open] = []
    for event in pure_events(text):
        kind = type(event).__name__
        start, end = event.start_mark.index, event.end_mark.index
        if kind == "ScalarEvent" and opened[-1].key is None:
            opened[-1].key = event.value
        elif kind.endswith(("MappingStartEvent", "SequenceStartEvent")):
            opened.append(_Open(_next(opened), start, None if kind.startswith("Mapping") else 0))
        elif kind in {"ScalarEvent", "MappingEndEvent", "SequenceEndEvent"}:
            done = _Open(_next(opened), start, None) if kind == "ScalarEvent" else opened.pop()
            found[done.path] = done.start, end
            if opened:
                key = opened[-1].key
                opened[-1].key = key + 1 if isinstance(key, int) else None
    return found


def _next(opened: Sequence[_Open]) -> Path:
    """The path of the value that begins."""
    if not opened:
        return ()
    key = opened[-1].key
    return (*opened[-1].path, "" if key is None else key)


def _entry(head: str, value: Json, indent: int, *, top: bool = False, style: str = "") -> list[str]:
    """The rows of a key or an item: on one line if it is short, as people write it."""
    if style == ">" and isinstance(value, str) and (rows := _folded(value, _WIDE - indent)):
        return _rows(head, ">", value, rows, indent)
    if rows := _block_of(value, least=1 if style in {"|", ">"} else 2):
        return _rows(head, "|", value, rows, indent)
    short = _like(style, value)
    nested = isinstance(value, (dict, list)) and value and (len(head) + len(short) > _WIDE or _is_deep(value, top=top))
    if not nested:
        return [f"{head} {short}\n"]
    inner = indent + _STEP
    if isinstance(value, list):
        rows = [row for item in value for row in _entry(" " * inner + "-", item, inner)]
    else:
        rows = [row for key, item in value.items() for row in _entry(" " * inner + f"{_key(key)}:", item, inner)]
    if head.endswith("-") and isinstance(value, dict):
        return [f"{head} {rows[0].lstrip(' ')}", *rows[1:]]
    return [f"{head}\n", *rows]


def _rows(head: str, sign: str, value: str, rows: Sequence[str], indent: int) -> list[str]:
    """A text over several rows."""
    deep = str(_STEP) if rows[0].startswith(" ") else ""
    chomp = "" if value.endswith("\n") else "-"
    return [f"{head} {sign}{deep}{chomp}\n", *(f"{' ' * (indent + _STEP)}{row}\n" if row else "\n" for row in rows)]


def _is_deep(value: Json, *, top: bool) -> bool:
    """Whether a value reads better on several lines: the keys of a file's own key, lists of mappings, long texts."""
    inner = value.values() if isinstance(value, dict) else value
    return (top and isinstance(value, dict)) or any(
        _block_of(each) or (isinstance(each, dict) and not isinstance(value, dict)) for each in inner
    )


def _block_of(value: Json, least: int = 2) -> list[str]:
    """The rows of a text of so many lines at least; none if it cannot be written as such."""
    rows = value.removesuffix("\n").split("\n") if isinstance(value, str) else []
    return (
        rows
        if len(rows) >= least
        and rows[0]
        and rows[-1]
        and all(row.isprintable() and row == row.rstrip() for row in rows)
        else []
    )


def _folded(text: str, width: int) -> list[str]:
    """The rows of a text whose lines are folded; none if it cannot be written as such."""
    lines = text.removesuffix("\n").split("\n")
    if not all(line.isprintable() and line == line.strip() and line for line in lines):
        return []
    rows: list[str] = []
    for line in lines:
        rows += [""] if rows else []
        row = ""
        for word in _FOLD.split(line):
            if row and len(row) + len(word) >= width:
                rows.append(row)
                row = word
            else:
                row = f"{row} {word}" if row else word
        rows.append(row)
    return rows


def _flow(value: Json) -> str:
    """A value on one line."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_key(key)}: {_flow(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_flow, value)) + "]"
    if not isinstance(value, str):
        return json.dumps(value)
    if _TIME.fullmatch(value) or (_PLAIN.fullmatch(value) and value.lower() not in _WORDS):
        return value
    return _quoted(value)


def _like(style: str, value: Json, *, flow: bool = False) -> str:
    """A value on one line, quoted as the text that it replaces, where that can be; `style` is how that began."""
    if not isinstance(value, str) or style == '"':
        return _quoted(value) if isinstance(value, str) else _flow(value)
    if style == "'" and value.isprintable():
        return "'" + value.replace("'", "''") + "'"
    if style and not flow and _SENTENCE.fullmatch(value) and value.isprintable():
        return value if value.lower() not in _WORDS else _quoted(value)
    return _flow(value)


def _key(key: str) -> str:
    return key if _KEY.fullmatch(key) and key.lower() not in _WORDS else _quoted(key)


def _quoted(text: str) -> str:
    said = json.dumps(text, ensure_ascii=False)
    return "".join(c if c.isprintable() else f"\\U{ord(c):08X}" for c in said)
