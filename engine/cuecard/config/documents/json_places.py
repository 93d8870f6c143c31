"""The place of each key and value of a JSON text, for errors that point at it."""

from __future__ import annotations

import json
import re
from dataclasses import field

from cuecard.config.documents.yaml_text import Path
from cuecard.errors import Span
from cuecard.records import dataclass

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+')


@dataclass
class _Open:
    """An object or array that is being parsed."""

    path: Path
    is_object: bool
    key: str | int = 0
    awaits_key: bool = field(default=True)


def json_places(text: str) -> tuple[dict[Path, Span], dict[Path, Span]]:
    """The span of each key and of each value, by path; the text must be valid JSON."""
    keys: dict[Path, Span] = {}
    values: dict[Path, Span] = {}
    opened: list[_Open] = []
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


def _take(word: str, span: Span, opened: list[_Open], keys: dict[Path, Span], values: dict[Path, Span]) -> None:
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
            opened.append(_Open(path, word == "{", key="" if word == "{" else 0))
        else:
            values[path] = span
