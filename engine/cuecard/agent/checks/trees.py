"""The syntax trees of a core template and its partials: what the checks of templates walk."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from cuecard.config.documents.texts import SourceText
from cuecard.template.nodes import Block, Literal, Partial, Path, Program, Statement, walk
from cuecard.template.parser import parse
from cuecard.template.source import Source

MAIN = ""

Trees: TypeAlias = Mapping[str, tuple[Source, Program]]
"""Partials by name, and the core template itself under the name `MAIN`."""


def read_trees(template: SourceText, partials: Iterable[SourceText]) -> Trees:
    """The trees of texts that compile; they know their files."""
    texts = {MAIN: template, **{partial.stem: partial for partial in partials}}
    found = {name: Source(text.name, text.text) for name, text in texts.items()}
    return {name: (source, parse(source)) for name, source in found.items()}


def called(node: Partial) -> str | None:
    """The name of the partial that is called; None where the name shows only when the template is rendered."""
    head = node.call.head
    return head.original if isinstance(head, Path | Literal) else None


def inline_names(trees: Trees) -> frozenset[str]:
    """The names that `{{#*inline "name"}}` gives, anywhere."""
    return frozenset(
        str(node.call.params[0].value)
        for _, program in trees.values()
        for node in walk(program.body)
        if isinstance(node, Block) and node.decorator and node.call.params and isinstance(node.call.params[0], Literal)
    )


def reachable(trees: Trees, body: Sequence[Statement]) -> list[str]:
    """The partials that these statements call, and those that they call, by the names that are written out."""
    found: list[str] = []
    waiting = [body]
    for statements in waiting:
        names = (called(node) for node in walk(statements) if isinstance(node, Partial))
        new = [name for name in dict.fromkeys(names) if name in trees and name not in found]
        found += [name for name in new if name]
        waiting += [trees[name][1].body for name in new if name]
    return found
