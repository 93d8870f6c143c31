"""Any text renders, or fails with a TemplateError that can be drawn, with whatever values it gets."""

from __future__ import annotations

from cuecard import compile_template
from cuecard.types import Json, TemplateError
from fuzz.drawn import check_drawn
from fuzz.fuzz_lexer import PHRASES, PIECES

__all__ = ["PHRASES", "PIECES", "target"]

VALUES: dict[str, Json] = {
    "a": [1, None, "x", {"a": 1.5, "b": []}, [True]],
    "b": "text </x>",
    "o": {"a": {"a": "deep"}, "b": False, "2": "two", "": "empty"},
    "if": 0,
    "x": float("nan"),
}


def target(data: bytes) -> None:
    """Read one input."""
    text = data.decode("utf-8", "surrogateescape")
    partials = {"a": "{{a}}{{#if b}}{{> b}}{{/if}}", "b": text}
    for strict in (True, False):
        try:
            template = compile_template(text, partials=partials, strict=strict)
            assert isinstance(template.render(VALUES), str)
        except TemplateError as error:
            check_drawn(error, text, *partials.values())
