"""The syntax tree of a template, after Handlebars.js 4.7. `start` and `end` are offsets into its text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field
from typing import TypeAlias

from cuecard.records import dataclass


@dataclass(frozen=True, slots=True)
class Path:
    """`a.b`, `../a`, `@data`, `this.a`, `[a b].c`: `depth` counts `..`.

    `scoped` paths are never helpers or block parameters: they begin with `.`, or a name in them ends in `this`
    (Handlebars.js scopedId).
    """

    start: int
    end: int
    original: str
    parts: tuple[str, ...]
    depth: int = 0
    data: bool = False
    scoped: bool = False

    @property
    def is_simple(self) -> bool:
        """Whether it is one bare name, which may be a helper."""
        return len(self.parts) == 1 and not self.scoped and not self.depth


@dataclass(frozen=True, slots=True)
class Literal:
    """A text, number, `true`, `false`, `null` or `undefined`; `original` is how JavaScript prints it as a key."""

    start: int
    end: int
    value: str | int | float | bool | None
    original: str


@dataclass(frozen=True, slots=True)
class HelperCall:
    """A head with parameters: the content of a mustache, a block's opening tag, or (`nested`) parentheses."""

    start: int
    end: int
    head: Path | Literal | HelperCall
    params: tuple[Expression, ...] = ()
    hash: tuple[tuple[str, Expression], ...] = ()
    nested: bool = False

    @property
    def has_arguments(self) -> bool:
        """Whether anything follows the head."""
        return bool(self.params or self.hash)


Expression: TypeAlias = "Path | Literal | HelperCall"


@dataclass(frozen=True, slots=True)
class Strip:
    """`~` on the outer left and outer right of a tag."""

    left: bool = False
    right: bool = False


@dataclass(slots=True)
class TextNode:
    """Text as written. Whitespace control narrows `first` and `last`, offsets into the template's text."""

    start: int
    end: int
    first: int
    last: int
    left_stripped: bool = False
    right_stripped: bool = False


@dataclass(frozen=True, slots=True)
class Mustache:
    """`{{x}}` (escaped) or `{{{x}}}` and `{{&x}}` (not)."""

    start: int
    end: int
    call: HelperCall
    escaped: bool
    strip: Strip


@dataclass(frozen=True, slots=True)
class Comment:
    """`{{! ... }}` or `{{!-- ... --}}`."""

    start: int
    end: int
    strip: Strip


@dataclass(slots=True)
class Program:
    """The statements of a template or of one branch. `chained` marks the branch that an `{{else if}}` makes."""

    body: list[Statement]
    block_params: tuple[str, ...] = ()
    chained: bool = False


@dataclass(slots=True)
class Block:
    """`{{#x}} ... {{else}} ... {{/x}}`, `{{^x}} ... {{/x}}`, and `{{#*inline "x"}}` (a decorator)."""

    start: int
    end: int
    call: HelperCall
    program: Program | None
    inverse: Program | None
    open_strip: Strip
    inverse_strip: Strip
    close_strip: Strip
    decorator: bool = False
    raw: bool = False


@dataclass(slots=True)
class Partial:
    """`{{> name context key=value}}` and, with a program, `{{#> name}} ... {{/name}}`. `indent` precedes each line."""

    start: int
    end: int
    call: HelperCall
    strip: Strip
    program: Program | None = None
    close_strip: Strip = field(default_factory=Strip)
    indent: str = ""


Statement: TypeAlias = TextNode | Mustache | Comment | Block | Partial


def branches(node: Statement) -> tuple[Program, ...]:
    """The programs inside a block or a partial's block."""
    program = node.program if isinstance(node, Block | Partial) else None
    inverse = node.inverse if isinstance(node, Block) else None
    return tuple(branch for branch in (program, inverse) if branch)


def walk(body: Sequence[Statement]) -> Iterator[Statement]:
    """Every statement, outer before inner."""
    for node in body:
        yield node
        for program in branches(node):
            yield from walk(program.body)


def calls_in(body: Sequence[Statement]) -> Iterator[HelperCall]:
    """Every call in these statements, including those in parentheses, outer before inner."""
    for node in walk(body):
        if isinstance(node, Mustache | Block | Partial):
            yield from _calls(node.call)


def _calls(call: HelperCall) -> Iterator[HelperCall]:
    yield call
    for each in (call.head, *call.params, *(value for _, value in call.hash)):
        if isinstance(each, HelperCall):
            yield from _calls(each)


def as_path(head: Path | Literal | HelperCall) -> Path:
    """A literal used as a head is a name: `{{"a b"}}` looks up that key (Handlebars.js transformLiteralToPath)."""
    if isinstance(head, HelperCall):
        return as_path(head.head)
    if isinstance(head, Literal):
        return Path(head.start, head.end, head.original, (head.original,))
    return head
