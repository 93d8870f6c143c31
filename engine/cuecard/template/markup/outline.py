"""The sections of an XML core template: where they begin and end, and what each renders."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Protocol

from cuecard.errors import Span, TemplateSyntaxError
from cuecard.model import Json
from cuecard.records import dataclass
from cuecard.template.inputs import InputUse
from cuecard.template.markup.tags import FILLER, Tag, blanked, mustache_spans, tags
from cuecard.template.markup.xml import document_problems
from cuecard.template.syntax.nodes import Block, HelperCall, Partial, Program, Statement, TextNode, walk
from cuecard.template.syntax.source import TemplateSource

_DEEPER = {"open": 1, "close": -1, "empty": 0}
_NOT_IN_NAMES = re.compile(r"[^\w.-]+")


class Slice(Protocol):
    """Some statements of a template, rendered separately."""

    @property
    def inputs(self) -> tuple[InputUse, ...]:
        """The inputs that they read."""

    def render(self, values: Mapping[str, Json], data: Mapping[str, Json] | None = None) -> str:
        """Render them with these values."""


@dataclass(frozen=True, slots=True)
class Seam:
    """The beginning of a part.

    Attributes:
        id: the part's name, unlike that of any other part.
        name: the element, or whatever else names it; two parts may share a name.
        start: its first character.
        mark: the offsets of its tag, block or call of a partial.
        frame: whether it is a tag of the root element rather than a section.
        conditional: whether a block decides if it exists.
    """

    id: str
    name: str
    start: int
    mark: tuple[int, int]
    frame: bool = False
    conditional: bool = False


@dataclass(frozen=True, slots=True)
class OutlinePart:
    """A slice of the template: a section, or a part of the frame, which is the root's opening or closing tag."""

    seam: Seam
    span: Span
    text: str
    slice: Slice

    @property
    def id(self) -> str:
        """The name of the section; for the frame, the name of the root, with a slash before it for the closing tag."""
        return self.seam.id

    @property
    def inputs(self) -> tuple[InputUse, ...]:
        """The inputs that it reads."""
        return self.slice.inputs

    def render(self, values: Mapping[str, Json], data: Mapping[str, Json] | None = None) -> str:
        """Render it with these values; the texts of all parts form the text of the template."""
        return self.slice.render(values, data)


@dataclass(frozen=True, slots=True)
class Outline:
    """The root's name and the parts in document order."""

    root: str
    parts: tuple[OutlinePart, ...]


def make_outline(part: Callable[[Iterable[Statement]], Slice], source: TemplateSource, program: Program) -> Outline:
    """Check a template and split it into parts; `part` makes a separately rendered part of some of its statements.

    Raises:
        TemplateSyntaxError: with every place where it is not well-formed.
    """
    problems = document_problems(source, program)
    if problems:
        raise TemplateSyntaxError(problems)
    seams = find_seams(source, program)
    ends = [*(seam.start for seam in seams[1:]), len(source.text)]
    parts = []
    for seam, end in zip(seams, ends, strict=True):
        sliced = part(_cut(program.body, seam.start, end))
        at = seam.start + len(source.text[seam.start : end]) - len(source.text[seam.start : end].lstrip())
        parts.append(OutlinePart(seam, source.span(at, at + 1), source.text[seam.start : end], sliced))
    return Outline(seams[0].name, tuple(parts))


def find_seams(source: TemplateSource, program: Program) -> tuple[Seam, ...]:
    """Where the parts of a well-formed template begin: at each child of the root, moved to the beginning of its line.

    A block or a call of a partial between the children is one part.
    """
    plain = blanked(source.text, mustache_spans(program.body), FILLER)
    found = list(tags(plain))
    nodes = [node for node in program.body if not isinstance(node, TextNode)]
    children = sorted((*_elements(plain, found), *_bare(source, plain, found, nodes)), key=lambda seam: seam.start)
    return tuple(_named([*_outside(children, [(node.start, node.end) for node in nodes], plain)]))


def elements_within(source: TemplateSource, program: Program) -> Iterator[tuple[str, str]]:
    """The elements of a well-formed template that are inside of sections, each with the id of its section."""
    seams, depth = find_seams(source, program), 0
    starts = [seam.start for seam in seams]
    for tag in tags(blanked(source.text, mustache_spans(program.body), FILLER)):
        if depth > 1 and tag.kind != "close":
            yield tag.name, seams[bisect_right(starts, tag.start) - 1].id
        depth += _DEEPER[tag.kind]


def _elements(plain: str, found: Sequence[Tag]) -> Iterator[Seam]:
    """The root's tags, and its children."""
    depth, root = 0, ""
    for tag in found:
        mark, at = (tag.start, tag.end), _line_start(plain, tag.start)
        if depth == 0 and tag.kind != "close":
            root = tag.name
            yield Seam(root, root, 0, mark, frame=True)
            if tag.kind == "empty":
                return
        elif depth == 1:
            name, closes = (f"/{root}", True) if tag.kind == "close" else (tag.name, False)
            yield Seam(name, name, at, mark, frame=closes)
        depth += _DEEPER[tag.kind]


def _bare(source: TemplateSource, plain: str, found: Sequence[Tag], nodes: Iterable[Statement]) -> Iterator[Seam]:
    """Blocks and calls of partials that are children of the root and contain no element themselves."""
    starts = [tag.start for tag in found]
    depths = [0, *accumulate(_DEEPER[tag.kind] for tag in found)]
    for node in nodes:
        if not isinstance(node, Block | Partial) or (isinstance(node, Block) and node.decorator):
            continue
        before = bisect_left(starts, node.start)
        in_a_tag = before > 0 and found[before - 1].end > node.start
        if depths[before] == 1 and before == bisect_left(starts, node.end) and not in_a_tag:
            name, at = _name(source, node), _line_start(plain, node.start)
            yield Seam(name, name, at, (node.start, node.end), conditional=isinstance(node, Block))


def _name(source: TemplateSource, node: Block | Partial) -> str:
    """The name of a part without an element: the partial it calls, or the words of its block."""
    called = [each.call.head for each in walk([node]) if isinstance(each, Partial)]
    written = [head.original for head in called if not isinstance(head, HelperCall)]
    name = written[0] if written else source.text[node.call.start : node.call.end]
    return _NOT_IN_NAMES.sub("-", name).strip("-.")[:64] or "block"


def _line_start(text: str, offset: int) -> int:
    line = text.rfind("\n", 0, offset) + 1
    return offset if text[line:offset].strip(" \t") else line


def _outside(seams: Iterable[Seam], blocks: Sequence[tuple[int, int]], plain: str) -> Iterator[Seam]:
    """Seams that do not split blocks: a seam within a block moves to its beginning, so that the block is one part."""
    previous = -1
    for seam in seams:
        block = _around(blocks, seam.start)
        at = _line_start(plain, block[0]) if block else seam.start
        if block and _around(blocks, at):
            at = block[0]
        if at > previous:
            conditional = seam.conditional or _around(blocks, seam.mark[0]) is not None
            yield Seam(seam.id, seam.name, at, seam.mark, seam.frame, conditional)
            previous = at


def _around(blocks: Sequence[tuple[int, int]], offset: int) -> tuple[int, int] | None:
    """The block that contains this offset after its beginning."""
    index = bisect_left(blocks, (offset, 0)) - 1
    return blocks[index] if index >= 0 and blocks[index][1] > offset else None


def _named(seams: Sequence[Seam]) -> Iterator[Seam]:
    """A second section with the same name is called `name-2`, or gets the next free number."""
    taken = {seam.name for seam in seams}
    seen: dict[str, int] = {}
    for seam in seams:
        given, number = seam.name, seen.get(seam.name, 0) + 1
        while number > 1 and (given := f"{seam.name}-{number}") in taken:
            number += 1
        seen[seam.name] = number
        yield Seam(given, seam.name, seam.start, seam.mark, seam.frame, seam.conditional)


def _cut(body: Sequence[Statement], start: int, end: int) -> Iterator[Statement]:
    first_node = max(0, bisect_left(body, start, key=lambda node: node.start) - 1)
    for node in body[first_node : bisect_left(body, end, key=lambda node: node.start)]:
        if isinstance(node, TextNode):
            first, last = max(node.first, start), min(node.last, end)
            if first < last:
                yield TextNode(node.start, node.end, first, last)
        elif start <= node.start < end:
            yield node
