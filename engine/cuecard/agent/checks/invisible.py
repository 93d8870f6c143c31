"""Rejects invisible characters."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from cuecard.config.documents.texts import SourceText
from cuecard.config.documents.yaml_text import Document, Path, problem_at
from cuecard.errors import MAX_PROBLEMS, Problem, Span
from cuecard.model import Json
from cuecard.template import find_invisible


def refuse_invisible(source: SourceText) -> list[Problem]:
    """An error for each invisible character in an author's file, up to a limit: models read what people cannot see."""
    found = find_invisible(source.text)
    more = f" (and {len(found) - MAX_PROBLEMS:,} more below)" if len(found) > MAX_PROBLEMS else ""
    return [
        problem_at(
            source.name,
            source.text,
            _span_at(source.text, offset),
            "invisible-character",
            f"an invisible character, U+{ord(character):04X}{more if number == MAX_PROBLEMS else ''}",
            "delete it: people cannot see it, but models read it",
        )
        for number, (offset, character) in enumerate(found[:MAX_PROBLEMS], 1)
    ]


def refuse_escaped(document: Document) -> list[Problem]:
    """The same for characters from escapes in double-quoted YAML."""
    if not any("\\" in each.text for each in (document, *document.origins.values())):
        return []
    escaped = (
        document.problem(
            path,
            "invisible-character",
            f"an escape sequence produces an invisible character, U+{ord(character):04X}",
            "remove the escape: people cannot see the character, but models read it",
        )
        for path, text in _texts(document.value, ())
        for _, character in find_invisible(text)
        if character not in document.origin(path).text
    )
    return list(islice(escaped, MAX_PROBLEMS))


def _texts(value: Json, path: Path) -> Iterator[tuple[Path, str]]:
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _texts(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _texts(item, (*path, index))


def _span_at(text: str, offset: int) -> Span:
    return Span(text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset))
