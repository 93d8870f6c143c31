"""Everything that decides the prompts of an agent, as plain values: two agents with the same shape produce the same
prompts for any call.

Two shapes may differ although no prompt does, but never the reverse.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from dataclasses import fields, is_dataclass
from typing import Any, TypeAlias

from cuecard.agent.draft import Draft
from cuecard.agent.sections.layout import Layout
from cuecard.template.backends.rules import BLOCKS
from cuecard.template.syntax import nodes
from cuecard.template.syntax.nodes import Block, Content, Partial, Program, Statement

Shape: TypeAlias = Hashable

_PLACES = frozenset(("start", "end", "first", "last"))
_BLANKS_AT_LINE_END = re.compile(r"[ \t]+\n")
_BLANK_LINES = re.compile(r"\n{2,}")


def shape_of(draft: Draft) -> Shape | None:
    """The shape of an agent; None for one with errors."""
    if draft.assembly is None or draft.spec is None or draft.has_errors:
        return None
    layout, trees = draft.assembly.layout, {}
    sections: list[Shape] = []
    for each in draft.assembly.all_compiled:
        made = each.section
        key = id(each.text.program)
        if key not in trees:
            trees[key] = _text(each.text.source.text, each.text.program, layout)
        told = made.tier, tuple(sorted(made.reads)), made.heading, made.leads, made.label, made.stable, made.frame
        sections.append((made.id, told, made.lifetime, trees[key]))
    partials = tuple(
        (name, _Printed(source.text, layout).program(tree)) for name, (source, tree) in draft.partials.items()
    )
    results = tuple((form.name, form.text.text, form.error.text, form.spec) for form in draft.results)
    return tuple(sections), partials, layout, draft.names, results


def _text(text: str, program: Program, layout: Layout) -> Shape:
    """A separate text, without surrounding white space if the layout trims it."""
    said = _Printed(text, layout).statements(program.body)
    if layout.trim and said:
        said = [_stripped(said[0], left=True), *said[1:]]
        said = [*said[:-1], _stripped(said[-1], left=False)]
    return tuple(each for each in said if each != "")


def _stripped(said: Shape, *, left: bool) -> Shape:
    if not isinstance(said, str):
        return said
    return said.lstrip() if left else said.rstrip()


class _Printed:
    """What decides the output of a text: its statements without their places."""

    def __init__(self, text: str, layout: Layout) -> None:
        self._text, self._layout = text, layout

    def program(self, program: Program | None, *, exact: bool = False) -> Shape:
        if program is None:
            return None
        body = tuple(each for each in self.statements(program.body, exact=exact) if each != "")
        return body, program.block_params, program.chained

    def statements(self, body: Sequence[Statement], *, exact: bool = False) -> list[Shape]:
        return [self._statement(node, exact=exact) for node in body]

    def _statement(self, node: Statement, *, exact: bool) -> Shape:
        if isinstance(node, Content):
            text = self._text[node.first : node.last]
            return text if exact else self._tidied(text)
        if not isinstance(node, Block | Partial):
            return _plain(node)
        # It is unknown what a host's helper does with the text of its block.
        head = node.call.head
        known = (
            isinstance(node, Partial) or node.decorator or (isinstance(head, nodes.Path) and head.original in BLOCKS)
        )
        exact = exact or not known or (isinstance(node, Block) and node.raw)
        branches = [self.program(node.program, exact=exact)]
        if isinstance(node, Block):
            branches += [self.program(node.inverse, exact=exact), node.decorator, node.raw]
            return "block", _plain(node.call), *branches
        return "partial", _plain(node.call), node.indent, *branches

    def _tidied(self, text: str) -> str:
        """The text without the white space that the layout removes from each section."""
        if self._layout.whitespace == "keep":
            return text
        text = _BLANKS_AT_LINE_END.sub("\n", text)
        return _BLANK_LINES.sub("\n", text) if self._layout.whitespace == "compact" else text


def _plain(node: Any) -> Shape:
    """A part of a tag as its class and values, without places; for paths and numbers, the spelling counts."""
    if is_dataclass(node) and not isinstance(node, type):
        said = ((each.name, _plain(getattr(node, each.name))) for each in fields(node) if each.name not in _PLACES)
        return type(node).__name__, *said
    return tuple(_plain(each) for each in node) if isinstance(node, tuple) else (type(node).__name__, node)
