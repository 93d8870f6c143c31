"""Any text becomes a tree whose nodes lie in order inside each other, or a TemplateError that can be drawn."""

from __future__ import annotations

from cuecard.template.syntax.nodes import Block, Partial, Program, TextNode
from cuecard.template.syntax.parser import parse
from cuecard.template.syntax.source import TemplateSource
from cuecard.template.syntax.whitespace import control_whitespace
from cuecard.types import TemplateLimitError, TemplateSyntaxError
from fuzz.drawn import check_drawn
from fuzz.fuzz_lexer import PHRASES, PIECES

__all__ = ["PHRASES", "PIECES", "target"]


def target(data: bytes) -> None:
    """Read one input."""
    text = data.decode("utf-8", "surrogateescape")
    try:
        program = parse(TemplateSource("fuzz", text))
    except (TemplateSyntaxError, TemplateLimitError) as error:
        check_drawn(error, text)
        return
    control_whitespace(program, text)
    check(program, 0, len(text))


def check(program: Program, start: int, end: int) -> None:
    """Every node lies inside of its branch, after the one before it."""
    for node in program.body:
        assert start <= node.start <= node.end <= end
        if isinstance(node, TextNode):
            assert node.start <= node.first <= node.last <= node.end
        if isinstance(node, Block | Partial):
            inverse = node.inverse if isinstance(node, Block) else None
            for branch in filter(None, (node.program, inverse)):
                check(branch, node.start, node.end)
        start = node.end
