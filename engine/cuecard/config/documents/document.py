"""A document: plain values, and the place of every key and value."""

from __future__ import annotations

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

    def origin(self, path: Path) -> Document:
        """The document that contains the value at a path, or its nearest parent that is written out."""
        for end in range(len(path), -1, -1):
            if path[:end] in self.origins:
                return self.origins[path[:end]]
        return self

    def span(self, path: Path, *, key: bool = False) -> Span:
        """The place of a value (or of its key), or of its nearest parent that is written out."""
        wanted = self.keys if key else self.values
        for end in range(len(path), -1, -1):
            for table in (wanted, self.keys, self.values):
                if path[:end] in table:
                    return table[path[:end]]
        return Span(1, 1)

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
    name: str, text: str, span: Span, code: str, message: str, hint: str | DidYouMean = "", **more: Any
) -> Problem:
    """A problem at a place of a text, with its line."""
    lines = lines_of(text)
    source = lines[span.line - 1] if 0 < span.line <= len(lines) else ""
    return Problem(code, message, hint, name, span, source, **more)


@lru_cache(maxsize=4)
def lines_of(text: str) -> list[str]:
    """The lines of a file, cached because a file may have thousands of problems."""
    return text.splitlines()
