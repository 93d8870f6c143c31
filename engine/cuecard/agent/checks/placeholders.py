"""Placeholders inside tags: where a value could end an attribute, or become the name of an element."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator

from cuecard.agent.checks.trees import Trees, walk
from cuecard.errors import Problem
from cuecard.template.markup import blanked, mustache_spans, tags
from cuecard.template.nodes import Mustache, Program
from cuecard.template.source import Source


def check_placeholders(trees: Trees) -> Iterator[Problem]:
    """Placeholders in tags that stand outside double quotes (errors), or in them unescaped (warnings)."""
    for source, program in trees.values():
        yield from _check(source, program)


def _check(source: Source, program: Program) -> Iterator[Problem]:
    plain = blanked(source.text, mustache_spans(program.body), " ")
    found = list(tags(plain))
    starts = [tag.start for tag in found]
    for node in walk(program.body):
        if isinstance(node, Mustache):
            index = bisect_right(starts, node.start) - 1
            inside = index >= 0 and node.start < found[index].end
            before = plain[starts[index] : node.start] if inside else ""
            if inside or plain.endswith(("<", "</"), 0, node.start):
                yield from _in_tag(source, node, _open_quote(before))


def _open_quote(text: str) -> str:
    """The quote that a tag's text leaves open, if any."""
    quote = ""
    for character in text:
        if quote:
            quote = "" if character == quote else quote
        elif character in "\"'":
            quote = character
    return quote


def _in_tag(source: Source, node: Mustache, quote: str) -> Iterator[Problem]:
    if not quote:
        message = "a placeholder in a tag, outside of any attribute's value: a value would become markup"
        yield source.problem(node.start, node.end, "tag-placeholder", message, 'write it as `name="{{value}}"`')
    elif quote == "'":
        message = "a placeholder between single quotes: a value with an apostrophe would end the attribute"
        yield source.problem(node.start, node.end, "attribute-quotes", message, "use double quotes")
    elif not node.escaped:
        message = "a placeholder in an attribute without escaping"
        hint = f"write `{{{{{source.text[node.call.start : node.call.end]}}}}}`"
        yield source.problem(node.start, node.end, "attribute-placeholder", message, hint, severity="warning")
