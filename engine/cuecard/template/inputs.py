"""Which inputs a template reads, with their places, and where a missing one exists instead."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import field, replace
from typing import Any

from cuecard.errors import Problem, Span, TemplateRenderError
from cuecard.model import Json
from cuecard.records import dataclass
from cuecard.template.rules import TOOL
from cuecard.template.syntax.nodes import (
    Block,
    Expression,
    HelperCall,
    Literal,
    Mustache,
    Partial,
    Path,
    Program,
    Statement,
    as_path,
    branches,
)
from cuecard.template.syntax.source import TemplateSource

Parsed = Mapping[str, tuple[TemplateSource, Program]]
"""Partials by name, parsed."""


@dataclass(frozen=True, slots=True)
class InputUse:
    """A root-level name that a template reads.

    Attributes:
        name: the name.
        span: its place.
        template: the partial that reads it, if any.
        path: the keys that are read of it, as `address` and `city` in `user.address.city`.
        is_printed: whether that value itself is printed, and not tested or handed to a helper.
    """

    name: str
    span: Span
    template: str = ""
    path: tuple[str, ...] = field(default=(), compare=False)
    is_printed: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True)
class _Place:
    """The surroundings of a node: whether each context from the inside out is the root, and which names are not
    inputs.
    """

    roots: tuple[bool, ...]
    local: frozenset[str]
    calling: tuple[str, ...]


def inputs_of(
    body: Iterable[Statement], source: TemplateSource, helpers: Collection[str], partials: Parsed
) -> tuple[InputUse, ...]:
    """The inputs that these statements read, in order of appearance, including those read by partials; by all of them
    where the name of one is computed.

    Inside `each`, `with` and `{{#x}}`, names belong to the block's value, not to the root; what they mean is only known
    when the template is rendered.
    """
    walker = _Walker(source, frozenset(helpers), partials)
    return tuple(walker.body(body, _Place((True,), frozenset(), ())))


class _Walker:
    def __init__(
        self,
        source: TemplateSource,
        helpers: frozenset[str],
        partials: Parsed,
        seen: set[tuple[object, ...]] | None = None,
    ) -> None:
        self.source, self.helpers, self.partials = source, helpers, partials
        # Partials that each call another twice lead to exponentially many calls; what one reads never changes.
        self.seen = set[tuple[object, ...]]() if seen is None else seen

    def body(self, body: Iterable[Statement], at: _Place) -> Iterator[InputUse]:
        for node in body:
            if isinstance(node, Mustache):
                yield from self.call(node.call, at, is_printed=True)
            elif isinstance(node, Block):
                yield from self.block(node, at)
            elif isinstance(node, Partial):
                yield from self.partial(node, at)

    def block(self, node: Block, at: _Place) -> Iterator[InputUse]:
        head = node.call.head
        name = head.original if isinstance(head, Path | Literal) else ""
        if node.decorator:
            yield from self.body(node.program.body if node.program else (), at)
            return
        yield from self.call(node.call, at, is_block=True)
        keeps = name in {"if", "unless"} or node.raw or name in self.helpers
        inside = at if keeps else _Place((False, *at.roots), at.local, at.calling)
        for branch, place in ((node.program, inside), (node.inverse, at)):
            if branch:
                local = place.local | frozenset(branch.block_params)
                yield from self.body(branch.body, _Place(place.roots, local, at.calling))

    def partial(self, node: Partial, at: _Place) -> Iterator[InputUse]:
        for value in (*node.call.params, *(v for _, v in node.call.hash)):
            yield from self.value(value, at)
        if isinstance(node.call.head, HelperCall):
            yield from self.call(node.call.head, at)
        if node.program:
            yield from self.body(node.program.body, at)
        roots = (False, *at.roots) if node.call.params else at.roots
        added = frozenset(key for key, _ in node.call.hash)
        head = node.call.head
        for name in self.partials if isinstance(head, HelperCall) else (head.original,):
            yield from self.called(name, roots, added, at)

    def called(self, name: str, roots: tuple[bool, ...], added: frozenset[str], at: _Place) -> Iterator[InputUse]:
        if name not in self.partials or name in at.calling:
            return
        source, program = self.partials[name]
        if (name, roots, added) in self.seen:
            return
        self.seen.add((name, roots, added))
        walker = _Walker(source, self.helpers, self.partials, self.seen)
        yield from walker.body(program.body, _Place(roots, added, (*at.calling, name)))

    def call(
        self, call: HelperCall, at: _Place, *, is_block: bool = False, is_printed: bool = False
    ) -> Iterator[InputUse]:
        head = call.head
        if isinstance(head, HelperCall):
            yield from self.call(head, at)
        elif not call.has_arguments and not (isinstance(head, Path) and self.is_helper(head, is_block=is_block)):
            yield from self.value(as_path(head), at, is_printed=is_printed)
        elif isinstance(head, Path) and head.original == "tool" and head.original not in self.helpers and call.params:
            asked = as_path(call.params[0])
            yield InputUse(TOOL + asked.original, self.source.span(asked.start, asked.end), self.origin(at))
        elif isinstance(head, Path) and head.original == "lookup" and len(call.params) == 2:
            yield from self.looked_up(*call.params, at)
        for value in (*call.params, *(v for _, v in call.hash)):
            yield from self.value(value, at)

    def looked_up(self, owner: Expression, key: Expression, at: _Place) -> Iterator[InputUse]:
        """`lookup @root "name"`, which is another way to write the name."""
        if not isinstance(owner, Path) or owner.depth or not isinstance(key, Literal) or not isinstance(key.value, str):
            return
        if owner.parts == ("root",) if owner.data else at.roots[0] and not owner.parts:
            yield InputUse(key.value, self.source.span(key.start, key.end), self.origin(at))

    def origin(self, at: _Place) -> str:
        """The partial that the node is in; empty for the template itself."""
        return self.source.name if at.calling else ""

    def is_helper(self, head: Path, *, is_block: bool) -> bool:
        built_in = is_block and head.original in {"if", "unless", "each", "with"}
        return head.is_simple and not head.data and (head.parts[0] in self.helpers or built_in)

    def value(self, node: Expression, at: _Place, *, is_printed: bool = False) -> Iterator[InputUse]:
        if isinstance(node, HelperCall):
            yield from self.call(node, at)
        if not isinstance(node, Path) or not node.parts:
            return
        if node.data:
            named = node.parts[1:] if node.parts[0] == "root" and not node.depth else ()
        elif node.depth or node.scoped or node.parts[0] not in at.local:
            is_root = node.depth < len(at.roots) and at.roots[node.depth]
            named = node.parts if is_root else ()
        else:
            named = ()
        if named:
            span = self.source.span(node.start, node.end)
            yield InputUse(named[0], span, self.origin(at), tuple(named[1:]), is_printed)


_KEEPS = ("if", "unless")
_ENTERS = ("each", "with")


def pointed(
    error: TemplateRenderError, source: TemplateSource, program: Program, values: Mapping[str, Json]
) -> TemplateRenderError:
    """The error with a hint: the path to the value, if the template's values contain one with that name."""
    return TemplateRenderError(_pointed(problem, source, program, values) for problem in error.problems)


def _pointed(problem: Problem, source: TemplateSource, program: Program, values: Mapping[str, Json]) -> Problem:
    if problem.code != "missing-value" or problem.span is None or problem.name != source.name:
        return problem
    at = source.starts[problem.span.line - 1] + problem.span.column - 1
    for path, depth in _paths(program.body, at, 0):
        told = path.parts[:1] and problem.message.startswith(f"`{path.parts[0]}` ") and path.parts[0] in values
        if not told or path.data or path.parts.count(path.parts[0]) > 1 or depth is None or path.depth == depth:
            return problem
        return replace(problem, advice=_advice(path, depth))
    return problem


def _advice(path: Path, depth: int) -> str:
    written = "../" * depth + ".".join(path.parts)
    if path.depth > depth:
        return f"`..` leaves the template here, because `if` and `unless` keep the context: write `{written}`"
    return f"`{path.parts[0]}` is outside of this block: write `{written}`"


def _paths(body: list[Statement], at: int, depth: int | None) -> Iterator[tuple[Path, int | None]]:
    """The path at an offset, and how many contexts out the values are; None if that is uncertain."""
    for node in body:
        if not node.start <= at < node.end or not isinstance(node, Mustache | Block | Partial):
            continue
        yield from ((path, depth) for path in _in_call(node.call, at))
        for program in branches(node):
            inside = _inside(node, depth) if isinstance(node, Block) and program is node.program else depth
            yield from _paths(program.body, at, None if isinstance(node, Partial) else inside)


def _inside(node: Block, depth: int | None) -> int | None:
    """How many contexts out the values are inside a block."""
    name = node.call.head.original if isinstance(node.call.head, Path) else ""
    value: Any = node.call.params[0] if node.call.params else None
    if depth is None or node.decorator or (name not in _KEEPS and name not in _ENTERS):
        return None
    if name in _KEEPS:
        return depth
    # A block that keeps its context adds no level.
    return depth + 1 if isinstance(value, Path) and value.parts else None


def _in_call(call: HelperCall, at: int) -> Iterator[Path]:
    waiting: list[Expression] = [call.head, *call.params, *(value for _, value in call.hash)]
    for each in waiting:
        if isinstance(each, HelperCall):
            waiting += [each.head, *each.params, *(value for _, value in each.hash)]
        elif isinstance(each, Path) and each.start == at:
            yield each
