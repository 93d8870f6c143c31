"""The sections of an XML core template: where they begin and end, and what each of them renders."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from cuecard.errors import Span, TemplateSyntaxError
from cuecard.template.analysis import InputUse
from cuecard.template.markup import FILLER, blanked, mustache_spans, tags
from cuecard.template.nodes import Content, Program, Statement
from cuecard.template.source import Source
from cuecard.template.well_formed import document_problems

if TYPE_CHECKING:
    from cuecard.model import Json


class Slice(Protocol):
    """Some statements of a template that render on their own."""

    @property
    def inputs(self) -> tuple[InputUse, ...]:
        """What they read."""

    def render(self, values: Mapping[str, Json], data: Mapping[str, Json] | None = None) -> str:
        """Their text with these values."""


@dataclass(frozen=True, slots=True)
class Part:
    """A slice of the template: a section, the root's opening tag, or its closing tag (`/root`)."""

    id: str
    span: Span
    text: str
    slice: Slice

    @property
    def inputs(self) -> tuple[InputUse, ...]:
        """What it reads."""
        return self.slice.inputs

    def render(self, values: Mapping[str, Json], data: Mapping[str, Json] | None = None) -> str:
        """Its text with these values; the texts of all parts make the text of the template."""
        return self.slice.render(values, data)


@dataclass(frozen=True, slots=True)
class Outline:
    """The root's name and the parts in document order."""

    root: str
    parts: tuple[Part, ...]


def make_outline(part: Callable[[Iterable[Statement]], Slice], source: Source, program: Program) -> Outline:
    """Check a template and cut it into parts; `part` makes some of its statements render on their own.

    Raises:
        TemplateSyntaxError: with every place where it is not well-formed.
    """
    problems = document_problems(source, program)
    if problems:
        raise TemplateSyntaxError(problems)
    plain = blanked(source.text, mustache_spans(program.body), FILLER)
    root, seams = _seams(plain, program)
    ends = [*(start for start, _ in seams[1:]), len(source.text)]
    parts = []
    for (start, name), end in zip(seams, ends, strict=True):
        sliced = part(_cut(program.body, start, end))
        at = start + len(source.text[start:end]) - len(source.text[start:end].lstrip())
        parts.append(Part(name, source.span(at, at + 1), source.text[start:end], sliced))
    return Outline(root, tuple(parts))


def _seams(plain: str, program: Program) -> tuple[str, list[tuple[int, str]]]:
    """Where parts begin, with their names: at each child of the root, moved to the beginning of its line."""
    depth, root, seams = 0, "", []
    for tag in tags(plain):
        if depth == 0 and tag.kind != "close":
            root = tag.name
            seams.append((0, root))
            if tag.kind == "empty":
                break
        elif depth == 1 and tag.kind != "close":
            seams.append((_line_start(plain, tag.start), tag.name))
        elif depth == 1 and tag.kind == "close":
            seams.append((_line_start(plain, tag.start), f"/{root}"))
        depth += {"open": 1, "close": -1, "empty": 0}[tag.kind]
    blocks = [(node.start, node.end) for node in program.body if not isinstance(node, Content)]
    return root, list(_named(_outside(seams, blocks, plain)))


def _line_start(text: str, offset: int) -> int:
    line = text.rfind("\n", 0, offset) + 1
    return offset if text[line:offset].strip(" \t") else line


def _outside(
    seams: Sequence[tuple[int, str]], blocks: Sequence[tuple[int, int]], plain: str
) -> Iterator[tuple[int, str]]:
    """Seams that cut no block: one that falls into a block moves to its beginning, and the block is one part."""
    previous = -1
    for offset, name in seams:
        block = _around(blocks, offset)
        at = _line_start(plain, block[0]) if block else offset
        if block and _around(blocks, at):
            at = block[0]
        if at > previous:
            yield at, name
            previous = at


def _around(blocks: Sequence[tuple[int, int]], offset: int) -> tuple[int, int] | None:
    """The block that holds this offset, not as its beginning."""
    index = bisect_left(blocks, (offset, 0)) - 1
    return blocks[index] if index >= 0 and blocks[index][1] > offset else None


def _named(seams: Iterator[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """A second section of the same name is called `name-2`."""
    seen: dict[str, int] = {}
    for offset, name in seams:
        seen[name] = seen.get(name, 0) + 1
        yield offset, name if seen[name] == 1 else f"{name}-{seen[name]}"


def _cut(body: Sequence[Statement], start: int, end: int) -> Iterator[Statement]:
    first_node = max(0, bisect_left(body, start, key=lambda node: node.start) - 1)
    for node in body[first_node : bisect_left(body, end, key=lambda node: node.start)]:
        if isinstance(node, Content):
            first, last = max(node.first, start), min(node.last, end)
            if first < last:
                yield Content(node.start, node.end, first, last)
        elif start <= node.start < end:
            yield node
