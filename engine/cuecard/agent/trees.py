"""The syntax trees of texts and of the partials that they call, as used by template checks."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TypeAlias

from cuecard.config.documents.sources import SourceText
from cuecard.template.syntax.nodes import (
    Block,
    Comment,
    Literal,
    Mustache,
    Partial,
    Path,
    Program,
    Statement,
    TextNode,
    as_path,
    walk,
)
from cuecard.template.syntax.parser import parse
from cuecard.template.syntax.source import TemplateSource

Text: TypeAlias = tuple[TemplateSource, Program]
"""A parsed text."""

Trees: TypeAlias = Mapping[str, Text]
"""Partials by name."""


def read_trees(partials: Sequence[SourceText]) -> Trees:
    """The trees of valid partials, with their files."""
    found = {partial.stem: TemplateSource(partial.name, partial.text) for partial in partials}
    return {name: (source, parse(source)) for name, source in found.items()}


def called(node: Partial) -> str | None:
    """The name of the called partial; None if it is only known when the template is rendered."""
    head = node.call.head
    return head.original if isinstance(head, Path | Literal) else None


def inline_names(texts: Iterable[Text]) -> frozenset[str]:
    """The names of all inline partials (`{{#*inline "name"}}`)."""
    return frozenset(
        str(node.call.params[0].value)
        for _, program in texts
        for node in walk(program.body)
        if isinstance(node, Block) and node.decorator and node.call.params and isinstance(node.call.params[0], Literal)
    )


def reachable(trees: Trees, body: Sequence[Statement]) -> list[str]:
    """The partials that these statements call directly or indirectly; all where the name of one is computed."""
    found: list[str] = []
    waiting = [body]
    for statements in waiting:
        names = [called(node) for node in walk(statements) if isinstance(node, Partial)]
        meant = trees if None in names else [name for name in dict.fromkeys(names) if name in trees]
        new = [name for name in meant if name is not None and name not in found]
        found += new
        waiting += [trees[name][1].body for name in new]
    return found


def is_plain(text: Text, body: Sequence[Statement], inputs: Collection[str], trees: Callable[[], Trees]) -> bool:
    """Whether some statements of a text print the same whenever these inputs have the same values: there is nothing but
    text and the inputs themselves, here or in partials.
    """
    if all(_is_plain(node, inputs) for node in body):
        return True
    if any(isinstance(node, Block) and node.decorator for node in walk(text[1].body)):
        return False  # it may stand for a partial
    known = trees()
    bodies = [body, *(known[name][1].body for name in reachable(known, body))]
    return all(_is_plain(node, inputs) or _only_calls(node, known) for each in bodies for node in each)


def _is_plain(node: Statement, inputs: Collection[str]) -> bool:
    """Whether a statement is text, or the print of one of these inputs; a helper is none of them."""
    if isinstance(node, Mustache):
        head = node.call.head
        is_name = isinstance(head, Path) and head.is_simple and not head.data
        return is_name and not node.call.has_arguments and as_path(head).parts[0] in inputs
    return isinstance(node, TextNode | Comment)


def _only_calls(node: Statement, known: Trees) -> bool:
    """Whether a statement is the call of a known partial and gives it nothing."""
    if not isinstance(node, Partial) or node.program is not None or node.call.has_arguments:
        return False
    return called(node) in known
