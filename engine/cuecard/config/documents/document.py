"""Plain values with the place of each."""

from __future__ import annotations

import json
import re
from dataclasses import field
from functools import lru_cache
from typing import Any

from cuecard.errors import DidYouMean, Problem, Span
from cuecard.model import Json
from cuecard.records import dataclass

Path = tuple[str | int, ...]
"""The path of a value in a document: mapping keys and sequence positions from the root."""


@dataclass(frozen=True, slots=True)
class Document:
    """A parsed YAML text: `value`, plus the span of each key and each value, by path.

    If several files were layered, `origins` gives the document that the value at a path comes from.
    """

    name: str
    text: str
    value: dict[str, Json]
    keys: dict[Path, Span] = field(default_factory=dict)
    values: dict[Path, Span] = field(default_factory=dict)
    warnings: tuple[Problem, ...] = ()
    origins: dict[Path, Document] = field(default_factory=dict)

    def at(self, path: Path) -> Json:
        """The value at a path."""
        value: Json = self.value
        for part in path:
            value = value[part]
        return value

    def dotted(self, path: Path) -> str:
        """A path as dotted text; if files are layered, list items are named by `id`, since positions would be
        ambiguous.
        """
        words: list[str] = []
        value: Json = self.value
        for part in path:
            value = value[part]
            named = value.get("id") if self.origins and isinstance(part, int) and isinstance(value, dict) else None
            words.append(named if named and isinstance(named, str) else str(part))
        return ".".join(words)

    def is_commented(self, path: Path) -> bool:
        """Whether a key has no value, but a comment in its place, as in `text: # Heading`."""
        if self.at(path) is not None or path not in self.keys:
            return False
        span = self.keys[path]
        line = self.origin(path).text.split("\n")[span.line - 1]
        return line[span.column - 1 + span.length :].lstrip().removeprefix(":").lstrip().startswith("#")

    def origin(self, path: Path) -> Document:
        """The document that contains the value at a path, or its nearest parent that is written out."""
        if path in self.origins:
            return self.origins[path]
        return self.origin(path[:-1]) if path else self

    def span(self, path: Path, *, key: bool = False) -> Span:
        """The place of a value (or of its key), or of its nearest parent that is written out."""
        for table in (self.keys if key else self.values, self.keys, self.values):
            if path in table:
                return table[path]
        return self.span(path[:-1], key=key) if path else Span(1, 1)

    def is_scalar(self, path: Path) -> bool:
        """Whether the value at a path is a scalar, not a list or mapping."""
        value = self.at(path)
        return not isinstance(value, (dict, list)) and value is not None

    def problem(
        self, path: Path, code: str, message: str, hint: str | DidYouMean = "", *, key: bool = False, **more: Any
    ) -> Problem:
        """A problem at a path of this document."""
        origin = self.origin(path)
        return problem_at(origin.name, origin.text, self.span(path, key=key), code, message, hint, **more)


def problem_at(
    name: str, text: str, span: Span, code: str, message: str, hint: str | DidYouMean, **more: Any
) -> Problem:
    """A problem at a place of a text, with its line."""
    lines = lines_of(text)
    source = lines[span.line - 1] if 0 < span.line <= len(lines) else ""
    return Problem(code, message, hint, name, span, source, **more)


@lru_cache(maxsize=4)
def lines_of(text: str) -> list[str]:
    """The lines of a file as editors count them, cached because a file may have thousands of problems.

    `str.splitlines` also splits at form feeds and at U+2028, which end no line anywhere else.
    """
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return lines if lines[-1] else lines[:-1]


def inline_problem(document: Document, path: Path, problem: Problem) -> Problem:
    """A problem in the text at a path, with its place in the file.

    Exact in `|` blocks and one-line texts, and where the same words stand in folded lines; otherwise it points at the
    beginning of the text.
    """
    origin = document.origin(path)
    span = _span(lines_of(origin.text), document.span(path), document.at(path), problem.span)
    told, chain = (problem.code, problem.message, problem.advice), problem.chain
    return problem_at(origin.name, origin.text, span, *told, severity=problem.severity, chain=chain)


def _span(lines: list[str], start: Span, text: str, inside: Span | None) -> Span:
    if inside is None or start.line > len(lines):
        return start
    written = lines[start.line - 1][start.column - 1 :]
    if written.startswith("|"):
        return Span(start.line + inside.line, _indent(lines[start.line :], text) + inside.column, inside.length)
    quoted = written[:1] in {"'", '"'}
    if inside.line == 1 and written[quoted:].startswith(lines_of(text)[0] if text else ""):
        return Span(start.line, start.column + quoted + inside.column - 1, inside.length)
    return _same_words(lines, start, text, inside) or start


def _same_words(lines: list[str], start: Span, text: str, inside: Span) -> Span | None:
    """The place of the words at `inside` in a text whose lines were folded: as often as in the text, they occur before.

    None where they are written in another way, such as with escapes.
    """
    said = lines_of(text)
    words = said[inside.line - 1][inside.column - 1 :][: inside.length] if inside.line <= len(said) else ""
    before = [*said[: inside.line - 1], said[inside.line - 1][: inside.column - 1]] if words else []
    left = sum(line.count(words) for line in before)
    first = lines[start.line - 1]
    indent, column = len(first) - len(first.lstrip()), start.column - 1
    for at in range(start.line - 1, len(lines) if words else 0):
        line = lines[at]
        if at >= start.line and line.strip() and len(line) - len(line.lstrip()) <= indent - (column == indent):
            return None
        parts = line[column if at < start.line else 0 :].split(words)
        if len(parts) - 1 > left:
            found = len(words.join(parts[: left + 1])) + (column if at < start.line else 0)
            return Span(at + 1, found + 1, len(words))
        left -= len(parts) - 1
    return None


def _indent(lines: list[str], text: str) -> int:
    """The indentation of a `|` block, which an indicator such as `|2` may set to less than that of its first line."""
    pairs = zip(lines, lines_of(text), strict=False)
    return next((len(line) - len(inner) for line, inner in pairs if inner.strip()), 0)


_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+')


@dataclass
class _UnfinishedValue:
    """An object or array that is being parsed."""

    path: Path
    is_object: bool
    key: str | int
    awaits_key: bool = True


def json_places(text: str) -> tuple[dict[Path, Span], dict[Path, Span]]:
    """The span of each key and of each value, by path; the text must be valid JSON."""
    keys: dict[Path, Span] = {}
    values: dict[Path, Span] = {}
    opened: list[_UnfinishedValue] = []
    line, line_start = 1, 0
    place = 0
    for token in _TOKEN.finditer(text):
        breaks = text.count("\n", place, token.start())
        if breaks:
            line, line_start = line + breaks, text.rindex("\n", 0, token.start()) + 1
        place = token.start()
        span = Span(line, token.start() - line_start + 1, len(token[0]))
        _take(token[0], span, opened, keys, values)
    return keys, values


def _take(
    word: str, span: Span, opened: list[_UnfinishedValue], keys: dict[Path, Span], values: dict[Path, Span]
) -> None:
    inner = opened[-1] if opened else None
    if word in {"}", "]"}:
        opened.pop()
    elif word == "," and inner:
        inner.awaits_key = True
        inner.key = inner.key + 1 if isinstance(inner.key, int) else inner.key
    elif word == ":" and inner:
        inner.awaits_key = False
    elif inner and inner.is_object and inner.awaits_key:
        inner.key = json.loads(word)
        keys[(*inner.path, inner.key)] = span
    else:
        path = (*inner.path, inner.key) if inner else ()
        if word in {"{", "["}:
            values[path] = Span(span.line, span.column)
            opened.append(_UnfinishedValue(path, word == "{", key="" if word == "{" else 0))
        else:
            values[path] = span
