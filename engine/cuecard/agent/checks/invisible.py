"""No character that people cannot see."""

from __future__ import annotations

from cuecard.errors import Problem, Span
from cuecard.spec.sources import SourceText
from cuecard.spec.yaml_text import problem_at
from cuecard.template import find_invisible


def refuse_invisible(source: SourceText) -> list[Problem]:
    """An error for each invisible character of an author's file: models read what people cannot see."""
    return [
        problem_at(
            source.name,
            source.text,
            _span_at(source.text, offset),
            "invisible-character",
            f"an invisible character, U+{ord(character):04X}",
            "delete it: models read what people cannot see",
        )
        for offset, character in find_invisible(source.text)
    ]


def _span_at(text: str, offset: int) -> Span:
    return Span(text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset))
