"""The syntax trees of texts and of the partials that they call, as used by template checks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeAlias

from cuecard.config.documents.sources import SourceText
from cuecard.template.syntax.nodes import Block, Comment, Literal, Partial, Path, Program, Statement, TextNode, walk
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


def is_written_out(text: Text, body: Sequence[Statement], trees: Callable[[], Trees]) -> bool:
    """Whether some statements of a text print the same whatever the values: only text, here or in partials."""
    if all(isinstance(node, _PLAIN) for node in body):
        return True
    if any(isinstance(node, Block) and node.decorator for node in walk(text[1].body)):
        return False  # it may stand for a partial
    known = trees()
    bodies = [body, *(known[name][1].body for name in reachable(known, body))]
    return all(isinstance(node, _PLAIN) or _only_calls(node, known) for each in bodies for node in each)


_PLAIN = (TextNode, Comment)


def _only_calls(node: Statement, known: Trees) -> bool:
    """Whether a statement is the call of a known partial and gives it nothing."""
    if not isinstance(node, Partial) or node.program is not None or node.call.has_arguments:
        return False
    return called(node) in known
