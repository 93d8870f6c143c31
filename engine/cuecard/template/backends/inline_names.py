"""Inline partials whose names lack quotes, so that they are values: `{{#*inline footer}}`."""

from __future__ import annotations

from collections.abc import Iterator

from cuecard.template.syntax.nodes import Block, Path, Program, walk


def unquoted_names(program: Program) -> dict[str, Path]:
    """The names, and their places."""
    return dict(_unquoted(program))


def _unquoted(program: Program) -> Iterator[tuple[str, Path]]:
    for node in walk(program.body):
        named = node.call.params[0] if isinstance(node, Block) and node.decorator and node.call.params else None
        if isinstance(named, Path) and named.is_simple and not named.data:
            yield named.original, named
