"""Tags found by a linear scan, and placeholders within them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from cuecard.errors import Problem
from cuecard.records import dataclass
from cuecard.template.syntax.nodes import Block, Comment, Mustache, Partial, Program, Statement, walk
from cuecard.template.syntax.source import TemplateSource

_TAG = re.compile(r"<(?P<close>/?)(?P<name>(?:[^\W\d]|:)[-\w:.·]*)")
FILLER = "x"
"""Replaces a value when a template is examined: a name character, harmless in text and in attributes."""

_SKIPPED = (("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?", "?>"))


@dataclass(frozen=True, slots=True)
class Tag:
    """A tag between `start` and `end`; `kind` is `open`, `close` or `empty` (`<a/>`)."""

    name: str
    kind: str
    start: int
    end: int


def tags(text: str) -> Iterator[Tag]:
    """The tags of a text from left to right; comments, CDATA and processing instructions are skipped."""
    at = 0
    while (start := text.find("<", at)) >= 0:
        skipped = next((end for begin, end in _SKIPPED if text.startswith(begin, start)), None)
        if skipped:
            found = text.find(skipped, start)
            at = len(text) if found < 0 else found + len(skipped)
            continue
        match = _TAG.match(text, start)
        end = _tag_end(text, match.end()) if match else -1
        if not match or end < 0:
            at = start + 1
            continue
        kind = "close" if match["close"] else "empty" if text[end - 2] == "/" else "open"
        yield Tag(match["name"], kind, start, end)
        at = end


def skipped(text: str) -> Iterator[tuple[int, int]]:
    """The spans of comments, CDATA and processing instructions."""
    at = 0
    while (start := text.find("<", at)) >= 0:
        end = next((close for begin, close in _SKIPPED if text.startswith(begin, start)), None)
        found = text.find(end, start) if end else -1
        at = found + len(end) if end and found >= 0 else start + 1
        if end and found < 0:  # an unclosed one extends to the end
            yield start, len(text)
            return
        if end:
            yield start, at


def _tag_end(text: str, at: int) -> int:
    """The offset after the `>` that ends a tag; quotes may contain others."""
    quote = ""
    for index in range(at, len(text)):
        character = text[index]
        if quote:
            quote = "" if character == quote else quote
        elif character in "\"'":
            quote = character
        elif character == ">":
            return index + 1
        elif character == "<":
            return -1
    return -1


def blanked(text: str, spans: Iterable[tuple[int, int]], filler: str) -> str:
    """The text with these spans filled but line breaks kept, so that all other offsets stay the same."""
    pieces, at = [], 0
    for start, end in sorted(spans):
        if end > at:
            begin = max(start, at)
            pieces += [text[at:begin], "".join(c if c in "\r\n" else filler for c in text[begin:end])]
            at = end
    return "".join([*pieces, text[at:]])


def mustache_spans(body: Iterable[Statement]) -> Iterator[tuple[int, int]]:
    """The spans of mustaches: values, comments, partials, and the tags of blocks, but not what is between them."""
    for node in body:
        if isinstance(node, Mustache | Comment):
            yield node.start, node.end
        elif isinstance(node, Block | Partial):
            yield from _block_tags(node)


def _block_tags(node: Block | Partial) -> Iterator[tuple[int, int]]:
    at = node.start
    inverse = node.inverse if isinstance(node, Block) else None
    branches = sorted((b for b in (node.program, inverse) if b and b.body), key=lambda b: b.body[0].start)
    for branch in branches:
        yield at, branch.body[0].start
        yield from mustache_spans(branch.body)
        at = branch.body[-1].end
    yield at, node.end


def in_attributes(program: Program, text: str) -> frozenset[int]:
    """The offsets of mustaches inside a tag."""
    spans = sorted(mustache_spans(program.body))
    plain = blanked(text, spans, " ")
    found = [(tag.start, tag.end) for tag in tags(plain)]
    inside, index = set(), 0
    for start, _ in spans:
        while index < len(found) and found[index][1] <= start:
            index += 1
        if index < len(found) and found[index][0] < start:
            inside.add(start)
    return frozenset(inside)


def element_names(text: str) -> frozenset[str]:
    """The names of all elements that a template writes."""
    return frozenset(match["name"] for match in _TAG.finditer(text))


_NAME_FOLLOWS = ("<", "</")


def placeholders_in_tags(source: TemplateSource, program: Program) -> Iterator[tuple[Mustache, str]]:
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


def tag_problems(source: TemplateSource, program: Program) -> Iterator[Problem]:
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
