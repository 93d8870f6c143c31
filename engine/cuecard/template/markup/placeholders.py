"""Placeholders inside tags: where a value would become the name of an element or of an attribute."""

from __future__ import annotations

from collections.abc import Iterator

from cuecard.errors import Problem
from cuecard.template.markup.tags import blanked, mustache_spans, tags
from cuecard.template.syntax.nodes import Mustache, Program, walk
from cuecard.template.syntax.source import Source

_NAME_FOLLOWS = ("<", "</")


def placeholders_in_tags(source: Source, program: Program) -> Iterator[tuple[Mustache, str]]:
    """Every placeholder inside a tag, with the quote that is open there: empty outside of an attribute's value."""
    plain = blanked(source.text, mustache_spans(program.body), " ")
    found = list(tags(plain))
    index, read, quote = 0, -1, ""
    for node in sorted(_placeholders(program), key=lambda node: node.start):
        while index < len(found) and found[index].end <= node.start:
            index += 1
        if index < len(found) and found[index].start < node.start:
            if read < found[index].start:
                read, quote = found[index].start, ""
            # Read once, however many placeholders the tag has.
            quote = _open_quote(plain[read : node.start], quote)
            read = node.start
            yield node, quote
        elif plain.endswith(_NAME_FOLLOWS, 0, node.start):
            yield node, ""


def tag_problems(source: Source, program: Program) -> Iterator[Problem]:
    """Every place where something else than the template's own text would be the name of an element or attribute."""
    told = set()
    for node, quote in placeholders_in_tags(source, program):
        if not quote:
            told.add(node.start)
            message = "a placeholder in a tag outside of an attribute's value: its value would become markup"
            yield source.problem(node.start, node.end, "tag-placeholder", message, 'write it as `name="{{value}}"`')
    spans = list(mustache_spans(program.body))
    plain = blanked(source.text, spans, " ")
    for start, end in spans:
        if start not in told and plain.endswith(_NAME_FOLLOWS, 0, start):
            message = "an element name begins with a Handlebars tag"
            yield source.problem(
                start, end, "tag-placeholder", message, "write the name out, in each branch if necessary"
            )


def _placeholders(program: Program) -> Iterator[Mustache]:
    return (node for node in walk(program.body) if isinstance(node, Mustache))


def _open_quote(text: str, quote: str) -> str:
    """The quote that is open after this text, if any."""
    for character in text:
        if quote:
            quote = "" if character == quote else quote
        elif character in "\"'":
            quote = character
    return quote
