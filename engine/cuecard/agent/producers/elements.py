"""Whether a text is already an element of an XML core template, with the tags of its section."""

from __future__ import annotations

from collections.abc import Sequence

from cuecard.template import element_names
from cuecard.template.markup.tags import FILLER, blanked, mustache_spans, skipped, tags
from cuecard.template.markup.xml import xml_problems
from cuecard.template.syntax.nodes import Block, Comment, Content, Program, Statement, branches
from cuecard.template.syntax.source import Source


def is_element(source: Source, program: Program, name: str) -> bool:
    """Whether the text is one element with this name, surrounded only by comments, in every combination of branches."""
    return _is_element(source, _said(source, program.body), name)


def is_name(name: str) -> bool:
    """Whether it is a valid element name."""
    return element_names(f"<{name}>") == {name} and not any(xml_problems(Source(name, name), f"<{name}/>"))


def _is_element(source: Source, said: Sequence[Statement], name: str) -> bool:
    if len(said) == 1 and isinstance(said[0], Block):
        spoken = [found for branch in branches(said[0]) if (found := _said(source, branch.body))]
        return bool(spoken) and all(_is_element(source, each, name) for each in spoken)
    whole = blanked(source.text, mustache_spans(said), FILLER)
    text = whole[said[0].start : said[-1].end] if said else ""
    return _is_one(blanked(text, skipped(text), " ").strip(), name)


def _said(source: Source, body: Sequence[Statement]) -> list[Statement]:
    """The statements that can render something other than white space."""
    blank = (Comment, Content)
    return [node for node in body if not isinstance(node, blank) or source.text[_shown(node)].strip()]


def _shown(node: Comment | Content) -> slice:
    return slice(node.first, node.last) if isinstance(node, Content) else slice(0)


def _is_one(text: str, name: str) -> bool:
    """Whether a text is one element, from its first character to its last."""
    depth = 0
    for tag in tags(text):
        if depth == 0 and (tag.name != name or tag.start > 0):
            return False
        depth += {"open": 1, "close": -1, "empty": 0}[tag.kind]
        if depth == 0:
            return tag.end == len(text)
    return False
