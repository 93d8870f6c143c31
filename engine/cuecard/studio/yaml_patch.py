"""A YAML mapping with other values in it: what need not change stays as it is written, comments among it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from cuecard.config.documents.document import Document, Path
from cuecard.config.documents.yaml import read_yaml
from cuecard.errors import Problem, SpecError
from cuecard.model import Json
from cuecard.records import dataclass

_BREAK = re.compile(r"(?<=[\n\x85\u2028\u2029])")
_COMMENT = re.compile(r"\s*#")
_BEFORE_ITEM = re.compile(r"[ ]*(- +)*")
_PLAIN = re.compile(r"[A-Za-z@][A-Za-z0-9 ./_-]*(?<! )")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d\d:\d\d")
_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")
_WORDS = frozenset(("true", "false", "null", "yes", "no", "on", "off", "nan", "inf", "y", "n"))
_WIDE = 110
Edit: TypeAlias = tuple[int, int, list[str]]
"""Rows from one number up to another, and what takes their place."""


def patched(text: str, value: Mapping[str, Json], name: str, order: Sequence[str] = ()) -> str:
    """The text of a file, changed to hold this value; new keys go where `order` has them.

    Raises:
        SpecError: when the file cannot be read, or is written so that no line of its own can be changed.
    """
    document = read_yaml(text, name)
    try:
        made = "".join(_Patch(document, order).made(dict(value)))
        if same(_by_name(read_yaml(made, name).value), _by_name(value)):
            return made
    except (_TooTightError, SpecError):
        pass
    message = "its lines cannot be changed one by one, as where everything stands in braces"
    raise SpecError(Problem("yaml-syntax", message, "save under another name", name))


def written(value: Mapping[str, Json]) -> str:
    """A mapping as the text of a new file."""
    return "".join(row for key, inner in value.items() for row in _entry(f"{_key(key)}:", inner, 0, top=True))


def same(one: Json, other: Json) -> bool:
    """Whether two values are the same JSON, their types and the order of their keys included."""
    return json.dumps(one) == json.dumps(other)


def _by_name(value: Mapping[str, Json]) -> Json:
    return dict(sorted(value.items()))


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

    def __init__(self, document: Document, order: Sequence[str]) -> None:
        self._document, self._order = document, order
        self._rows = [row for row in _BREAK.split(document.text) if row]

    def made(self, value: dict[str, Json]) -> list[str]:
        rows = [*self._rows]
        if rows and not rows[-1].endswith("\n"):
            rows[-1] += "\n"
        edits = sorted(self._edits((), value, len(rows)), key=lambda edit: edit[:2])
        for start, end, lines in reversed(edits):
            rows[start:end] = lines
        return rows

    def _edits(self, path: Path, value: Json, end: int) -> Iterator[Edit]:
        """The edits that make the mapping or list at a path this value."""
        places = self._places(path, end)
        if isinstance(value, dict):
            yield from self._of_mapping(path, places, value)
        else:
            yield from self._of_list(path, places, value)

    def _of_mapping(self, path: Path, places: Mapping[str | int, _Place], value: dict[str, Json]) -> Iterator[Edit]:
        old, at = self._document.at(path), dict(places)
        kept = [*(key for key in old if key in value), *(key for key in value if key not in old)]
        if not at or not value or (path and kept != [*value]):
            raise _TooTightError
        for key, place in at.items():
            if key not in value:
                if place.head.strip():
                    raise _TooTightError
                yield place.start, place.end, []
        for key, item in value.items():
            if key not in old:
                yield self._added(path, at, key, item)
            elif not same(old[key], item):
                yield from self._changed(at[key], f"{_key(key)}:", item)

    def _added(self, path: Path, places: Mapping[str | int, _Place], key: str, value: Json) -> Edit:
        order = {name: place for place, name in enumerate(self._order)} if not path else {}
        mine = order.get(key, len(order))
        before = [place for name, place in places.items() if order.get(str(name), -1) <= mine]
        column = next(iter(places.values())).column
        row = max((place.end for place in before), default=min(place.start for place in places.values()))
        return row, row, _entry(" " * column + f"{_key(key)}:", value, column, top=not path)

    def _of_list(self, path: Path, places: Mapping[str | int, _Place], value: list[Json]) -> Iterator[Edit]:
        old: list[Json] = self._document.at(path)
        if not old or not value or not places:
            raise _TooTightError
        first = next((at for at, pair in enumerate(zip(old, value, strict=False)) if not same(*pair)), None)
        first = min(len(old), len(value)) if first is None else first
        behind = zip(reversed(old[first:]), reversed(value[first:]), strict=False)
        tail = next((at for at, pair in enumerate(behind) if not same(*pair)), min(len(old), len(value)) - first)
        gone, come = [*range(first, len(old) - tail)], value[first : len(value) - tail]
        for at, item in zip(gone, come, strict=False):
            yield from self._changed(places[at], "", item)
        for at in gone[len(come) :]:
            yield places[at].start, places[at].end, []
        row = places[gone[-1]].end if gone else places[first].start if first < len(old) else places[first - 1].end
        lead = self._rows[places[0].start][: places[0].column]
        if come[len(gone) :]:
            indent = len(lead) - len(lead.lstrip(" "))
            yield row, row, [line for item in come[len(gone) :] for line in _entry(" " * indent + "-", item, indent)]

    def _changed(self, place: _Place, key: str, value: Json) -> Iterator[Edit]:
        old = self._document.at(place.path)
        row = self._rows[place.start]
        span = self._document.values[place.path]
        if type(old) is type(value) and isinstance(old, (dict, list)):
            try:
                yield from [*self._edits(place.path, value, place.end)]
            except _TooTightError:
                pass
            else:
                return
        start = span.column - 1
        inline = span.line - 1 == place.start and old is not None and place.end == place.start + 1
        if inline and row[start : start + 1] not in {"|", ">"} and "\n" not in (short := _flow(value)):
            yield place.start, place.end, [row[:start] + short + row[start + span.length :]]
            return
        inside = self._rows[place.start + 1 : place.end] if not isinstance(old, str) else []
        kept = [each for each in inside if _COMMENT.match(each)]
        if key and (said := re.fullmatch(re.escape(row[: place.column]) + r"[^:#]*:\s*(#.*\n?)", row)):
            kept = [" " * place.column + said[1], *kept]
        head = row[: place.column] + key if key else row[: place.column].rstrip(" ")
        column = place.column if key else len(head) - 1
        yield place.start, place.end, [*kept, *_entry(head, value, column)]

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
            if not _BEFORE_ITEM.fullmatch(head) or follows <= start or (not keyed and not head.strip()):
                return {}
            value = self._document.values[(*path, name)]
            is_text = self._rows[value.line - 1][value.column - 1 : value.column] in {"|", ">"}
            rows_end = self._end(start, follows, column, is_text=is_text)
            found[name] = _Place((*path, name), start, rows_end, column, head)
        return found

    def _end(self, start: int, end: int, column: int, *, is_text: bool) -> int:
        """The end of what begins in a row: comments and blank lines before the next key belong to that."""
        while end > start + 1:
            row = self._rows[end - 1]
            deep = len(row) - len(row.lstrip(" ")) > column
            if row.strip() and not (_COMMENT.match(row) and not (is_text and deep)):
                break
            end -= 1
        return end


def _entry(head: str, value: Json, indent: int, *, top: bool = False) -> list[str]:
    """The rows of a key or an item: on one line if it is short, as people write it."""
    if isinstance(value, str) and (rows := _block(value)):
        return [
            f"{head} |{'' if value.endswith(chr(10)) else '-'}\n",
            *(f"{' ' * (indent + 2)}{row}\n" for row in rows),
        ]
    short = _flow(value)
    nested = isinstance(value, (dict, list)) and value and (len(head) + len(short) > _WIDE or _is_deep(value, top=top))
    if not nested:
        return [f"{head} {short}\n"]
    inner = indent + 2
    if isinstance(value, list):
        rows = [row for item in value for row in _entry(" " * inner + "-", item, inner)]
    else:
        rows = [row for key, item in value.items() for row in _entry(" " * inner + f"{_key(key)}:", item, inner)]
    if head.endswith("-") and isinstance(value, dict):
        return [f"{head} {rows[0].lstrip(' ')}", *rows[1:]]
    return [f"{head}\n", *rows]


def _is_deep(value: Json, *, top: bool) -> bool:
    """Whether a value reads better on several lines: the keys of a file's own key, and lists of mappings."""
    inner = value.values() if isinstance(value, dict) else value
    return (top and isinstance(value, dict)) or any(
        isinstance(each, dict) and not isinstance(value, dict) for each in inner
    )


def _block(text: str) -> list[str]:
    """The rows of a text of several lines; none if it cannot be written as such."""
    rows = text.removesuffix("\n").split("\n")
    fits = len(rows) > 1 and rows[0].strip() and rows[-1] and not rows[0].startswith((" ", "\t"))
    return rows if fits and all(row.isprintable() and row == row.rstrip() for row in rows) else []


def _flow(value: Json) -> str:
    """A value on one line."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_key(key)}: {_flow(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_flow, value)) + "]"
    if not isinstance(value, str):
        return json.dumps(value)
    if _TIME.fullmatch(value) or (_PLAIN.fullmatch(value) and value[0] != "@" and value.lower() not in _WORDS):
        return value
    return _quoted(value)


def _key(key: str) -> str:
    return key if _KEY.fullmatch(key) and key.lower() not in _WORDS else _quoted(key)


def _quoted(text: str) -> str:
    said = json.dumps(text, ensure_ascii=False)
    return "".join(c if c.isprintable() else f"\\U{ord(c):08X}" for c in said)
