"""One value of a YAML text replaced: everything else stays as people wrote it, comments included."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from cuecard.config.documents.document import Path
from cuecard.config.documents.yaml import read_yaml
from cuecard.config.documents.yaml_events import pure_events
from cuecard.errors import InputError, Problem, SpecError
from cuecard.model import Json
from cuecard.records import dataclass

_INDENT = 2
_BLOCK = re.compile(r"(?:[^\x00-\x08\x0b-\x1f\x7f-\x9f\ufeff\ufffe\uffff\u2028\u2029\r\t]|\n)*")
"""Texts that a `|` block holds as they are."""


def replaced(text: str, path: Path, value: Json) -> str:
    """The text with another value at a path, which must be there.

    Raises:
        InputError: when the value cannot be written there so that nothing else changes.
    """
    before = read_yaml(text, "").value
    node = _node(text, path)
    for written in (_in_block(node, value), " " + json.dumps(value, ensure_ascii=False), " " + json.dumps(value)):
        made = _with(text, node, written)
        if made is not None and _reads(made, _changed(before, path, value)):
            return made
    raise _cannot(path)


def inserted(text: str, path: Path, key: str, value: str) -> str:
    """The text with another key right behind the one at a path.

    Raises:
        InputError: when it cannot be written there so that nothing else changes.
    """
    node, told = _node(text, path), f"{key}: {json.dumps(value, ensure_ascii=False)}"
    between = ", " if node.in_flow else "\n" + " " * node.column
    made = text[: node.end] + between + told + text[node.end :]
    found: Json = read_yaml(text, "").value
    for step in path[:-1]:
        found = found[step]
    after = [*found].index(path[-1]) + 1
    items = [*found.items()]
    expected = _changed(read_yaml(text, "").value, path[:-1], dict([*items[:after], (key, value), *items[after:]]))
    if not _reads(made, expected):
        raise _cannot(path)
    return made


def _cannot(path: Path) -> InputError:
    told = f"`{'.'.join(map(str, path))}` is written in a way that cannot be edited alone"
    return InputError(Problem("wrong-edit", told, "edit the file, and publish its folder", "edit"))


@dataclass(frozen=True, slots=True)
class _Node:
    """A value in a text: its offsets, the column of its key, and whether it stands in `{}` or `[]`."""

    start: int
    end: int
    column: int
    in_flow: bool


@dataclass(slots=True)
class _Open:
    """A collection that is being read: `column` is that of its own key, `keys` that of the last key in it."""

    path: Path
    is_mapping: bool
    flow: bool
    start: int
    column: int
    key: str | int | None
    keys: int = 0


def _node(text: str, wanted: Path) -> _Node:
    """The value at a path. A block ends where its last scalar does, so that comments after it stay."""
    opened: list[_Open] = []
    last = 0
    for event in pure_events(text):
        kind = type(event).__name__
        if kind in {"MappingStartEvent", "SequenceStartEvent"}:
            path, column = _next(opened)
            flow = bool(event.flow_style)
            mapping = kind == "MappingStartEvent"
            opened.append(_Open(path, mapping, flow, event.start_mark.index, column, None if mapping else 0))
        elif kind in {"MappingEndEvent", "SequenceEndEvent"}:
            closed = opened.pop()
            last = event.end_mark.index if closed.flow else last
            if closed.path == wanted:
                return _Node(closed.start, last, closed.column, any(each.flow for each in opened))
            _moved(opened)
        elif kind == "ScalarEvent":
            inner, last = opened[-1], event.end_mark.index
            if inner.is_mapping and inner.key is None:
                inner.key, inner.keys = event.value, event.start_mark.column
                continue
            path, column = _next(opened)
            if path == wanted:
                return _Node(event.start_mark.index, last, column, any(each.flow for each in opened))
            _moved(opened)
    raise LookupError(wanted)


def _next(opened: list[_Open]) -> tuple[Path, int]:
    """The path of the value that begins, and the column of its key."""
    if not opened:
        return (), 0
    inner = opened[-1]
    key = inner.key if inner.key is not None else ""
    return (*inner.path, key), inner.keys


def _moved(opened: list[_Open]) -> None:
    """The collection goes on with its next key or item."""
    if opened:
        inner = opened[-1]
        inner.key = None if inner.is_mapping else int(inner.key or 0) + 1


def _with(text: str, node: _Node, written: str | None) -> str | None:
    if written is None:
        return None
    before = text[: node.start]
    old = text[node.start : node.end]
    stem = before.rstrip(" \n")
    after = text[node.end :]
    if "\n" in written and after.lstrip(" ").startswith("#"):  # a block has no comment at its end
        after = f"\n{' ' * node.column}{after.lstrip(' ')}"
    elif old.endswith("\n") and not after.startswith("\n"):
        after = "\n" + after
    after = after or "\n"
    return stem + written.rstrip("\n") + _kept(written) + after if written.strip() else None


def _kept(written: str) -> str:
    """The line breaks at the end of a block that keeps all of them."""
    return "\n" * (len(written) - len(written.rstrip("\n")))


def _in_block(node: _Node, value: Json) -> str | None:
    """The value over several lines, as people write it; None in a flow."""
    if node.in_flow:
        return None
    if isinstance(value, str):
        return _scalar(value, node.column)
    if isinstance(value, Mapping) and value:
        indent = " " * (node.column + _INDENT)
        return "".join(f"\n{indent}{key}:{_scalar(held, node.column + _INDENT)}" for key, held in value.items())
    return None


def _scalar(value: Json, column: int) -> str:
    """A value after its key: a `|` block if it is a text of several lines that can be one."""
    if not isinstance(value, str) or "\n" not in value or not _BLOCK.fullmatch(value) or not value.strip():
        return " " + json.dumps(value, ensure_ascii=False)
    body = value.rstrip("\n")
    ending = len(value) - len(body)
    chomp = "-" if ending == 0 else "" if ending == 1 else "+"
    indent = " " * (column + _INDENT)
    lines = "\n".join(indent + line if line.strip() else line and indent + line for line in body.split("\n"))
    return f" |{_INDENT}{chomp}\n{lines}" + "\n" * max(0, ending - 1)


def _changed(value: Json, path: Path, new: Json) -> Json:
    if not path:
        return new
    key, rest = path[0], path[1:]
    if isinstance(value, list):
        return [_changed(each, rest, new) if at == key else each for at, each in enumerate(value)]
    return {name: _changed(each, rest, new) if name == key else each for name, each in value.items()}


def _reads(text: str, expected: Json) -> bool:
    try:
        found = read_yaml(text, "").value
    except SpecError:
        return False
    return json.dumps(found) == json.dumps(expected)
