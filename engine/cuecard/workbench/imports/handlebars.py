"""Converts the body of a dotprompt file, which is Handlebars with its own helpers, into a template of ours."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field

from cuecard.config.values import InputType
from cuecard.records import dataclass
from cuecard.template.helpers.standard import NAMES
from cuecard.template.inputs import inputs_of
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
    walk,
)
from cuecard.template.syntax.parser import parse
from cuecard.template.syntax.source import TemplateSource
from cuecard.workbench.imports.prompt import Notes
from cuecard.workbench.imports.writer import between, escaped

_DATA = {"root", "index", "key", "first", "last"}
_BLOCKS = {"if", "unless", "each", "with", "lookup"}
_COMPARED = {"ifEquals": ("if", "eq"), "unlessEquals": ("unless", "eq")}
_ELSEWHERE = {
    "media": ("an image or file inside a text", "pass it in the message of the turn"),
    "section": ("a slot that your program fills", "replace it by a section of the agent file"),
    "history": ("the history inside a block", "the conversation comes with the turn: `messages`"),
    "role": ("a role that is computed or inside a block: the list of messages is fixed here",
             "make it a separate section, with `when`"),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Marker:
    """A role or the history, at the top of a template."""

    role: str
    line: int


@dataclass(frozen=True, slots=True)
class HandlebarsText:
    """The converted template: texts and the markers between them, and the inputs and partials that it names."""

    parts: tuple[str | Marker, ...]
    reads: Mapping[str, tuple[InputType, int]]
    partials: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class _Edit:
    start: int
    end: int
    text: str
    marker: Marker | None = None


def from_handlebars(text: str, notes: Notes, first_line: int) -> HandlebarsText:
    """The body with our helpers in place of dotprompt's.

    Args:
        text: the template; its line 1 is line `first_line` of the file.
        notes: collects what has no direct equivalent, which stays in the text after a mark.
        first_line: the line where it begins in its file.

    Raises:
        TemplateSyntaxError: when it is not Handlebars.
    """
    # Leading empty lines, so that problems have the lines of the file.
    before = "\n" * (first_line - 1)
    source = TemplateSource(notes.name, before + text)
    program = parse(source)
    reader = _Reader(source, notes)
    edits = sorted(reader.edits(program.body, top=True), key=lambda edit: edit.start)
    kinds = _kinds(program)
    reads: dict[str, tuple[InputType, int]] = {}
    for use in inputs_of(program.body, source, {*_ELSEWHERE, *_COMPARED, "json", *NAMES}, {}):
        if use.name != "history":
            reads.setdefault(use.name, (kinds.get(use.name, "string"), use.span.line))
    return HandlebarsText(tuple(_cut(source.text, edits, len(before))), reads, dict(reader.partials))


@dataclass(frozen=True, slots=True)
class _Reader:
    source: TemplateSource
    notes: Notes
    partials: dict[str, int] = field(default_factory=dict)

    def edits(self, body: Sequence[Statement], *, top: bool = False) -> Iterator[_Edit]:
        for node in body:
            if isinstance(node, Mustache):
                yield self.mustache(node, top=top)
            elif isinstance(node, Block):
                yield from self.block(node)
            elif isinstance(node, Partial):
                yield from self.partial(node)

    def mustache(self, node: Mustache, *, top: bool) -> _Edit:
        call = node.call
        name = _name(call)
        line = self.source.span(node.start, node.end).line
        if top and name == "history" and not call.has_arguments:
            return _Edit(node.start, node.end, _stripping(node), Marker("", line))
        if top and name == "role" and len(call.params) == 1 and isinstance(call.params[0], Literal):
            return _Edit(node.start, node.end, _stripping(node), Marker(str(call.params[0].value), line))
        if name in _ELSEWHERE and (call.has_arguments or name == "history"):
            return self.left(node, *_ELSEWHERE[name])
        if reason := self.unknown(call):
            return self.left(node, *reason)
        if name == "json" and not call.hash:
            message = "`json` puts a space after `,` and `:` here; dotprompt does not"
            self.notes.add(line, message, "compare the output, or write the value out", "warning")
        written = self.source.text[call.start : call.end]
        left, right = "~" * node.strip.left, "~" * node.strip.right
        tag = f"{{{{{left}{{{written}}}{right}}}}}"
        return _Edit(node.start, node.end, tag + between(tag, self.source.text[node.end : node.end + 1]))

    def block(self, node: Block) -> Iterator[_Edit]:
        name = _name(node.call)
        known = name in {*_BLOCKS, *_COMPARED} or not node.call.has_arguments
        reason = None if known else _unknown_helper(name)
        reason = reason or self.unknown(node.call, known=known)
        if node.raw or node.decorator:
            reason = ("a raw block or a decorator", "write it as a text or a partial")
        if reason:
            yield self.left(node, *reason)
            return
        if name in _COMPARED and len(node.call.params) == 2:
            yield from self.compared(node, name)
        for branch in (node.program, node.inverse):
            yield from self.edits(branch.body if branch else ())

    def compared(self, node: Block, name: str) -> Iterator[_Edit]:
        block, helper = _COMPARED[name]
        head = node.call.head
        first, last = node.call.params[0].start, node.call.params[-1].end
        yield _Edit(head.start, last, f"{block} ({helper} {self.source.text[first:last]})")
        closing = re.compile(rf"/\s*{name}").search(self.source.text, _inner_end(node), node.end)
        if closing:
            yield _Edit(closing.start(), closing.end(), f"/{block}")

    def partial(self, node: Partial) -> Iterator[_Edit]:
        if isinstance(node.call.head, HelperCall):
            yield self.left(node, "a partial whose name is computed", "name each partial, in `{{#if}}`")
            return
        if not re.fullmatch(r"[\w-]+", node.call.head.original):
            yield self.left(node, "a partial whose name is a path", "give it a name of letters, digits, `_` and `-`")
            return
        self.partials.setdefault(node.call.head.original, self.source.span(node.start, node.end).line)
        if node.program:
            yield from self.edits(node.program.body)

    def unknown(self, call: HelperCall, *, known: bool = False) -> tuple[str, str] | None:
        """Why a call cannot be converted: a helper or data of the host."""
        name = _name(call)
        if call.has_arguments and not known and name not in {"json", "lookup"}:
            return _unknown_helper(name)
        for each in (call.head, *call.params, *(expression for _, expression in call.hash)):
            if reason := self.unknown_value(each):
                return reason
        return None

    def unknown_value(self, node: Expression) -> tuple[str, str] | None:
        if isinstance(node, HelperCall):
            return self.unknown(node)
        if isinstance(node, Path) and node.data and node.parts and node.parts[0] not in _DATA:
            return f"`{node.original}` is a value that your program supplies", "make it an input"
        return None

    def left(self, node: Statement, message: str, hint: str) -> _Edit:
        """Text that is not converted stays as it is, after a mark."""
        line = self.source.span(node.start, node.end).line
        self.notes.add(line, message, hint)
        raw = self.source.text[node.start : node.end]
        return _Edit(node.start, node.end, f"{self.notes.mark(line)}{escaped(raw)}")


def _unknown_helper(name: str) -> tuple[str, str]:
    if name in NAMES:
        return f"`{name}` is a helper of your program; the helper with this name here may behave differently", (
            "try it, and use it if it does the same"
        )
    return f"`{name}` is a helper of your program", "use a built-in helper, or name the function under `helpers`"


def _name(call: HelperCall) -> str:
    return "" if isinstance(call.head, HelperCall) else call.head.original


def _inner_end(node: Block) -> int:
    last = [branch.body[-1].end for branch in (node.program, node.inverse) if branch and branch.body]
    return max([node.call.end, *last])


def _stripping(node: Mustache) -> str:
    return f"{'<' * node.strip.left}|{'>' * node.strip.right}"


def _kinds(program: Program) -> Mapping[str, InputType]:
    """The apparent types of inputs: a list if there is a loop over it, an object if a part of it is read."""
    kinds: dict[str, InputType] = {}
    for node in walk(program.body):
        call = node.call if isinstance(node, Mustache | Block) else None
        for each in (call.head, *call.params) if call else ():
            if isinstance(each, Path) and len(each.parts) > 1 and not each.data:
                kinds.setdefault(each.parts[0], "object")
        if call and _name(call) == "each" and call.params and isinstance(call.params[0], Path):
            path = call.params[0]
            if len(path.parts) == 1:
                kinds[path.parts[0]] = "list"
        if call and _name(call) == "with" and call.params and isinstance(call.params[0], Path):
            kinds.setdefault(call.params[0].parts[0] if call.params[0].parts else "", "object")
    return kinds


def _cut(text: str, edits: Sequence[_Edit], start: int) -> Iterator[str | Marker]:
    """The texts between the markers, including the first and the last."""
    at, out, before = start, "", ""
    for edit in edits:
        out += text[at : edit.start]
        at = edit.end
        if edit.marker is None:
            out += edit.text
            continue
        yield _guarded(out, before, edit.text)
        yield edit.marker
        out, before = "", edit.text
    yield _guarded(out + text[at:], before, "")


_TAG_FIRST = re.compile(r"[^\S\n]*\{\{~?[#!>^]")
_TAG_LAST = re.compile(r"\{\{~?(?:/|!|>)[^{}]*\}\}[^\S\n]*\Z")


def _guarded(text: str, before: str, behind: str) -> str:
    """A text between markers: a block tag next to a marker was not alone on its line, and must not become so."""
    text = text.lstrip() if ">" in before else text
    text = text.rstrip() if "<" in behind else text
    if before and _TAG_FIRST.match(text):
        text = f"{{{{!}}}}{text}"
    return f"{text}{{{{!}}}}" if behind and _TAG_LAST.search(text) else text
