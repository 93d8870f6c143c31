"""Whitespace control: `~` and standalone lines, in the order and with the corner cases of Handlebars.js 4.7.

Content nodes are narrowed in place; nothing is copied. A tag alone on its line removes the line; a standalone partial
keeps its indentation and applies it to each line.
"""

from __future__ import annotations

from collections.abc import Sequence

from cuecard.records import dataclass
from cuecard.template.syntax.lexer import SPACES
from cuecard.template.syntax.nodes import Block, Comment, Mustache, Partial, Program, Statement, TextNode


@dataclass(frozen=True, slots=True)
class _Shape:
    """How a statement affects the text around it: stripping it (`~`), and whether it could be alone on its line."""

    left: bool = False
    right: bool = False
    opens: bool = False
    closes: bool = False
    inline: bool = False


def control_whitespace(program: Program, text: str) -> None:
    """Narrow the content nodes of a freshly parsed template."""
    _Control(text).program(program, root=True)


class _Control:
    def __init__(self, text: str) -> None:
        self.text = text

    def program(self, program: Program, *, root: bool = False) -> None:
        body = program.body
        for index, statement in enumerate(body):
            shape = self.shape(statement)
            if shape is None:
                continue
            before = self.ends_line(body, index, root=root)
            after = self.begins_line(body, index + 1, root=root)
            if shape.right:
                self.trim_right_of(body, index + 1, everything=True)
            if shape.left:
                self.trim_left_of(body, index, everything=True)
            if shape.inline and before and after:
                self.standalone(body, index)
            if isinstance(statement, Block | Partial):
                first, last = _branches(statement)
                if shape.opens and before:
                    self.trim_right_of(first.body, 0)
                    self.trim_left_of(body, index)
                if shape.closes and after:
                    self.trim_right_of(body, index + 1)
                    self.trim_left_of(last.body, len(last.body))

    def standalone(self, body: Sequence[Statement], index: int) -> None:
        statement = body[index]
        self.trim_right_of(body, index + 1)
        if self.trim_left_of(body, index) and isinstance(statement, Partial):
            before = body[index - 1]
            if isinstance(before, TextNode):
                written = self.text[before.start : before.end]
                statement.indent = written[len(written.rstrip(" \t")) :]

    def shape(self, statement: Statement) -> _Shape | None:
        if isinstance(statement, TextNode):
            return None
        if isinstance(statement, Mustache):
            return _Shape(statement.strip.left, statement.strip.right)
        if isinstance(statement, Comment) or (isinstance(statement, Partial) and statement.program is None):
            return _Shape(statement.strip.left, statement.strip.right, inline=True)
        return self.block(statement)

    def block(self, block: Block | Partial) -> _Shape:
        """The inside of a block; for a partial block the program is its only branch."""
        other = block.inverse if isinstance(block, Block) else None
        for branch in (block.program, other):
            if branch:
                self.program(branch)
        program, _ = _branches(block)
        inverse = other if block.program else None
        first_inverse, last_inverse = _chain(inverse)
        closing = (first_inverse or program).body
        opening = block.open_strip if isinstance(block, Block) else block.strip
        shape = _Shape(
            opening.left,
            block.close_strip.right,
            opens=self.begins_line(program.body, 0),
            closes=self.ends_line(closing, len(closing)),
        )
        if opening.right:
            self.trim_right_of(program.body, 0, everything=True)
        if inverse and first_inverse and last_inverse and isinstance(block, Block):
            if block.inverse_strip.left:
                self.trim_left_of(program.body, len(program.body), everything=True)
            if block.inverse_strip.right:
                self.trim_right_of(first_inverse.body, 0, everything=True)
            if block.close_strip.left:
                self.trim_left_of(last_inverse.body, len(last_inverse.body), everything=True)
            if self.ends_line(program.body, len(program.body)) and self.begins_line(first_inverse.body, 0):
                self.trim_left_of(program.body, len(program.body))
                self.trim_right_of(first_inverse.body, 0)
        elif block.close_strip.left:
            self.trim_left_of(program.body, len(program.body), everything=True)
        return shape

    def ends_line(self, body: Sequence[Statement], index: int, *, root: bool = False) -> bool:
        """Whether only spaces are between a line break (or the root's beginning) and the statement at `index`."""
        if not index:
            return root
        content = body[index - 1]
        if not isinstance(content, TextNode):
            return False
        written = self.text[content.start : content.end]
        blank = written[len(written.rstrip(SPACES)) :]
        return "\n" in blank or (root and index == 1 and len(blank) == len(written))

    def begins_line(self, body: Sequence[Statement], index: int, *, root: bool = False) -> bool:
        """Whether only spaces are between the statement before `index` and a line break (or the root's end)."""
        if index >= len(body):
            return root
        content = body[index]
        if not isinstance(content, TextNode):
            return False
        written = self.text[content.start : content.end]
        blank = written[: len(written) - len(written.lstrip(SPACES))]
        return "\n" in blank or (root and index == len(body) - 1 and len(blank) == len(written))

    def trim_right_of(self, body: Sequence[Statement], index: int, *, everything: bool = False) -> None:
        """Narrow the content at `index` from its beginning: all white space, or up to and including the first line
        break.
        """
        content = body[index] if index < len(body) else None
        if not isinstance(content, TextNode) or (content.right_stripped and not everything):
            return
        value = self.text[content.first : content.last]
        if everything:
            cut = len(value) - len(value.lstrip(SPACES))
        else:
            cut = len(value) - len(value.lstrip(" \t"))
            cut += value.startswith("\r", cut)
            cut += value.startswith("\n", cut)
        content.first += cut
        content.right_stripped = cut > 0

    def trim_left_of(self, body: Sequence[Statement], index: int, *, everything: bool = False) -> bool:
        """Narrow the content before `index` from its end: all white space, or the indentation. Returns whether
        anything was cut.
        """
        content = body[index - 1] if 0 < index <= len(body) else None
        if not isinstance(content, TextNode) or (content.left_stripped and not everything):
            return False
        value = self.text[content.first : content.last]
        cut = len(value) - len(value.rstrip(SPACES if everything else " \t"))
        content.last -= cut
        content.left_stripped = cut > 0
        return content.left_stripped


def _branches(block: Block | Partial) -> tuple[Program, Program]:
    """The first branch and the last one at the top level of a block."""
    inverse = block.inverse if isinstance(block, Block) else None
    first = block.program or inverse or Program([])
    return first, inverse or first


def _chain(inverse: Program | None) -> tuple[Program | None, Program | None]:
    """The first and the last branch of an else-if chain."""
    if inverse is None or not inverse.chained:
        return inverse, inverse
    head = inverse.body[0]
    last: Program | None = inverse
    while last and last.chained:
        tail = last.body[-1]
        last = tail.program if isinstance(tail, Block) else None
    return (head.program if isinstance(head, Block) else inverse), last
