"""Jinja templates to ours."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from importlib.util import find_spec
from typing import Any

from cuecard.config.values import InputType
from cuecard.errors import InputError, Problem, Span, SpecError
from cuecard.records import dataclass
from cuecard.workbench.imports.jinja_expressions import Node, Scope, Untranslatable, condition, method_of, quoted, value
from cuecard.workbench.imports.prompt import Notes
from cuecard.workbench.imports.writer import HandlebarsWriter

_ENDS = {
    "if": "endif", "for": "endfor", "macro": "endmacro", "call": "endcall", "filter": "endfilter", "with": "endwith",
    "block": "endblock", "set": "endset", "autoescape": "endautoescape",
}  # fmt: skip
_MIDDLES = {"elif", "else"}


@dataclass(frozen=True, slots=True)
class JinjaPiece:
    """A text or a whole tag; `word` is the first word of a `{% %}`."""

    line: int
    kind: str
    raw: str
    word: str = ""


@dataclass(frozen=True, slots=True)
class JinjaBlock:
    """A block: pieces of its opening and middle tags, each with what follows it, and its end."""

    branches: Sequence[tuple[JinjaPiece, Sequence[JinjaPiece | JinjaBlock]]]
    end: JinjaPiece | None = None
    raw: str = field(default="")


def pieces_of(tokens: Iterable[tuple[int, str, str]], first_line: int) -> list[JinjaPiece]:
    """Texts and whole tags, in order; line 1 of the template is `first_line` of its file."""
    pieces: list[JinjaPiece] = []
    tag: list[tuple[str, str]] = []
    line = 1
    for number, kind, text in tokens:
        if not tag:
            line = number
        if kind == "data" and not tag:
            pieces.append(JinjaPiece(number + first_line - 1, "text", text))
            continue
        tag.append((kind, text))
        if kind.endswith("_end"):
            opened = kind.removesuffix("_end")
            raw = "".join(part for _, part in tag).strip()
            word = next((part for each, part in tag if each == "name"), "")
            data = "".join(part for each, part in tag if each == "data")
            if opened == "raw":
                pieces.append(JinjaPiece(line + first_line - 1, "text", data))
            else:
                pieces.append(JinjaPiece(line + first_line - 1, opened, raw, word))
            tag = []
        elif kind == "data":  # the text between `{% raw %}` and `{% endraw %}`
            pieces.append(JinjaPiece(line + first_line - 1, "text", text))
            tag = []
    return pieces


def tree_of(pieces: Sequence[JinjaPiece]) -> list[JinjaPiece | JinjaBlock]:
    """The tree of blocks; Jinja has checked that they are closed."""
    open_blocks: list[tuple[str, list[tuple[JinjaPiece, list[JinjaPiece | JinjaBlock]]], list[str]]] = []
    top: list[JinjaPiece | JinjaBlock] = []
    for piece in pieces:
        for _, _, raws in open_blocks:
            raws.append(piece.raw)
        inside = open_blocks[-1][1][-1][1] if open_blocks else top
        if piece.kind != "block":
            inside.append(piece)
        elif open_blocks and piece.word == open_blocks[-1][0]:
            _, branches, raws = open_blocks.pop()
            outer = open_blocks[-1][1][-1][1] if open_blocks else top
            outer.append(JinjaBlock(branches, piece, "".join(raws)))
        elif open_blocks and piece.word in _MIDDLES:
            open_blocks[-1][1].append((piece, []))
        elif piece.word in _ENDS and _is_block(piece):
            open_blocks.append((_ENDS[piece.word], [(piece, [])], [piece.raw]))
        else:
            inside.append(piece)
    return top


def _is_block(piece: JinjaPiece) -> bool:
    return piece.word != "set" or "=" not in piece.raw


_WORDS = re.compile(r"[^{}\\\n]*")
_ROLE_LINE = re.compile(
    r"^[^\S\n]*(?:#[^\S\n]*)?(?:system|user|assistant|developer|function)[^\S\n]*:[^\S\n]*$",
    re.IGNORECASE | re.MULTILINE,
)
HISTORY = "{{!history}}"
"""Stands in a translated template where the conversation was."""

_ROLE = re.compile(r"\{\{-?\s*(?P<name>\w+)(?:\.role|\[['\"]role['\"]\])\s*-?\}\}")
_CONTENT = re.compile(r"\{\{-?\s*(?P<name>\w+)(?:\.content|\[['\"]content['\"]\])(?:\s*\|\s*trim)?\s*-?\}\}")
_TOLD = re.compile(r"[\s#:]*")

_HINTS = {
    "set": "use the value directly, or write `{{#with value as |name|}}`",
    "include": "inline that file, or make it a partial: `{{> name}}`",
    "macro": "use a partial: `{{> name}}`",
}


def from_jinja(
    text: str, types: Mapping[str, InputType], notes: Notes, first_line: int
) -> tuple[str, Mapping[str, InputType]]:
    """The template in Handlebars, and the inputs that it reads with their apparent types.

    Args:
        text: the template; its line 1 is line `first_line` of the file.
        types: the declared inputs.
        notes: takes what has no plain counterpart, which stays in the text behind a mark.
        first_line: the line where the template begins in its file.

    Raises:
        InputError: when jinja2 is not installed.
        SpecError: when Jinja itself cannot read the template.
    """
    if not find_spec("jinja2"):
        hint = 'pip install "cuecard[jinja]"'
        raise InputError(Problem("not-installed", "Jinja templates need the package jinja2", hint, "cuecard import"))
    from jinja2 import Environment, TemplateSyntaxError

    environment = Environment(keep_trailing_newline=True, autoescape=False)  # noqa: S701 - it reads, and renders nothing
    try:
        environment.parse(text)
        pieces = pieces_of(environment.lexer.tokeniter(text, None), first_line)
        tree = tree_of(pieces)
        scope = Scope(types)
        writer = HandlebarsWriter()
        _Translator(environment, notes, writer).body(tree, scope)
        notes.untold |= scope.untold
        notes.numbers |= scope.numbers
    except TemplateSyntaxError as error:
        line = error.lineno + first_line - 1
        raise _wrong(notes, line, (error.message or "this cannot be parsed").rstrip(".")) from None
    except RecursionError:
        raise _wrong(notes, first_line, "it is nested too deeply") from None
    except ValueError:  # Python does not parse numbers of more than 4,300 digits
        raise _wrong(notes, first_line, "a number is too long") from None
    return writer.written(), scope.reads


def _wrong(notes: Notes, line: int, message: str) -> SpecError:
    source = notes.lines[line - 1] if line <= len(notes.lines) else ""
    span = Span(line, 1, max(1, len(source)))
    hint = "fix the template, or import it without this part"
    return SpecError(Problem("jinja-syntax", f"Jinja cannot read this: {message}", hint, notes.name, span, source))


class _Translator:
    def __init__(self, environment: Any, notes: Notes, writer: HandlebarsWriter) -> None:
        self.environment, self.notes, self.writer = environment, notes, writer

    def body(self, nodes: Sequence[JinjaPiece | JinjaBlock], scope: Scope, *, nested: bool = False) -> None:
        for node in nodes:
            if isinstance(node, JinjaBlock):
                self.block(node, scope)
            elif node.kind == "text":
                self.text(node, nested=nested)
            elif node.kind == "variable":
                self.variable(node, scope)
            elif node.kind == "block":
                self.left(node, _foreign(node.word))

    def text(self, node: JinjaPiece, *, nested: bool) -> None:
        if nested and (found := _ROLE_LINE.search(node.raw)):
            line = node.line + node.raw.count("\n", 0, found.start())
            message = "a role inside a block: the list of messages is fixed here"
            self.notes.add(line, message, "make it a separate section, with `when`")
        self.writer.text(node.raw)

    def variable(self, node: JinjaPiece, scope: Scope) -> None:
        try:
            self.print(self.parsed(node).nodes[0], scope, node)
        except Untranslatable as reason:
            self.left(node, reason)

    def print(self, node: Node, scope: Scope, piece: JinjaPiece) -> None:
        """The Handlebars code that prints an expression."""
        kind = type(node).__name__
        if kind == "Const":
            self.writer.text(str(node.value))
            return
        if kind == "Concat":
            for each in node.nodes:
                self.print(each, scope, piece)
        elif kind == "CondExpr":
            asked = condition(node.test, scope)
            branches = [node.expr1] + ([node.expr2] if node.expr2 is not None else [])
            texts = [_printed(each, scope) for each in branches]
            self.writer.tag(f"{{{{#if {asked}}}}}{'{{else}}'.join(texts)}{{{{/if}}}}")
        else:
            self.writer.tag(_printed(node, scope))
        self.remark(piece, scope)

    def block(self, block: JinjaBlock, scope: Scope) -> None:
        opening = block.branches[0][0]
        try:
            if opening.word == "for" and self.history(block):
                return
            if opening.word == "if":
                tags, inner = self.asked(block, scope)
            elif opening.word == "for":
                tags, inner = self.looped(block, scope)
            else:
                self.left(opening, _foreign(opening.word), block.raw)
                return
        except Untranslatable as reason:
            self.left(opening, reason, block.raw)
            return
        self.remark(opening, scope)
        for at, (tag, (_, body), within) in enumerate(zip(tags, block.branches, inner, strict=False)):
            self.writer.tag(tag, block=True, last=tag == "{{else}}" and at > 1)
            self.body(body, within, nested=True)
        self.writer.tag(tags[-1], block=True)

    def history(self, block: JinjaBlock) -> bool:
        """Whether a loop prints the role and the content of each message, and so is the conversation."""
        opening, body = block.branches[0]
        said = [node for node in body if isinstance(node, JinjaPiece) and not _TOLD.fullmatch(node.raw)]
        loop = self.parsed(JinjaPiece(opening.line, "block", f"{opening.raw}{{% endfor %}}", "for"))
        if len(block.branches) != 1 or len(said) != 2 or len(said) != sum(not _is_told(node) for node in body):
            return False
        role, content = _ROLE.fullmatch(said[0].raw), _CONTENT.fullmatch(said[1].raw)
        if type(loop.iter).__name__ != "Name" or not role or not content or role["name"] != content["name"]:
            return False
        name = loop.iter.name
        self.notes.histories.add(name)
        message = f"`{name}` is the conversation, and no input here"
        self.notes.add(opening.line, message, "your program passes it as `messages` of the turn, or keeps it itself")
        self.writer.tag(HISTORY)
        return True

    def asked(self, block: JinjaBlock, scope: Scope) -> tuple[list[str], list[Scope]]:
        tags = []
        for piece, _ in block.branches:
            if piece.word == "else":
                tags.append("{{else}}")
                continue
            asked = condition(self.parsed(_as_if(piece)).test, scope)
            tags.append(f"{{{{{'#if' if piece.word == 'if' else 'else if'} {asked}}}}}")
        return [*tags, "{{/if}}"], [scope] * len(block.branches)

    def looped(self, block: JinjaBlock, scope: Scope) -> tuple[list[str], list[Scope]]:
        opening = block.branches[0][0]
        loop = self.parsed(JinjaPiece(opening.line, "block", f"{opening.raw}{{% endfor %}}", "for"))
        names, loop_over, what = self.looped_over(loop)
        if not names or loop.test is not None or loop.recursive:
            raise Untranslatable(
                "a loop with several variables, a condition or recursion", "prepare the list in your program"
            )
        if {"this", "loop"} & {*names}:
            raise Untranslatable(f"a loop over `{'`, `'.join(names)}`", "rename the variable")
        items = value(loop_over, scope)
        if type(loop_over).__name__ == "Name" and loop_over.name not in scope.loops:
            if scope.kind(loop_over) in {"string", "object"} - {what}:
                raise Untranslatable(f"a loop over the keys of `{loop_over.name}`", "pass a list")
            scope.read(loop_over.name, what)
        tags = [f"{{{{#each {items} as |{' '.join(names)}|}}}}", *["{{else}}"] * (len(block.branches) - 1)]
        return [*tags, "{{/each}}"], [scope.inside(*names), scope]

    def looped_over(self, loop: Node) -> tuple[tuple[str, ...], Node, InputType]:
        """The variables of a loop as `each` names them, none if it cannot, what it loops over, and the type of that."""
        targets = loop.target.items if type(loop.target).__name__ == "Tuple" else [loop.target]
        names = tuple(each.name for each in targets if type(each).__name__ == "Name")
        method = method_of(loop.iter) if not getattr(loop.iter, "args", ()) else ""
        if method == "items" and len(names) == len(targets) == 2:
            return (names[1], names[0]), loop.iter.node.node, "object"
        if method == "values" and len(names) == len(targets) == 1:
            return names, loop.iter.node.node, "object"
        return names if len(names) == len(targets) == 1 else (), loop.iter, "list"

    def parsed(self, piece: JinjaPiece) -> Node:
        return self.environment.parse(piece.raw).body[0]

    def remark(self, piece: JinjaPiece, scope: Scope) -> None:
        for message, hint in scope.remarks:
            self.notes.add(piece.line, message, hint, "warning")
        scope.remarks.clear()

    def left(self, piece: JinjaPiece, reason: Untranslatable, raw: str = "") -> None:
        """Text that is not converted stays as it is, after a mark."""
        self.notes.add(piece.line, reason.message, reason.hint)
        self.writer.text(f"{self.notes.mark(piece.line)}{raw or piece.raw}")


def _is_told(node: JinjaPiece | JinjaBlock) -> bool:
    """Whether a part of a loop is only what stands between a role and its text."""
    return isinstance(node, JinjaPiece) and node.kind == "text" and _TOLD.fullmatch(node.raw) is not None


def _foreign(word: str) -> Untranslatable:
    message = f"`{{% {word} %}}` of Jinja has no counterpart"
    return Untranslatable(message, _HINTS.get(word, "compute it in your program"))


def _as_if(piece: JinjaPiece) -> JinjaPiece:
    raw = re.sub(r"^\{%([-+]?)\s*elif", r"{%\1 if", piece.raw)
    return JinjaPiece(piece.line, "block", f"{raw}{{% endif %}}", "if")


def _measured(node: Node, scope: Scope) -> None:
    """Note that a length is printed, which only a list has; that of a text can be compared."""
    if scope.kind(node) == "string":
        raise Untranslatable("a printed length of a text", "pass it as an input")
    if type(node).__name__ == "Name" and node.name not in scope.loops:
        scope.read(node.name, "list")


def _printed(node: Node, scope: Scope) -> str:
    """The tag that prints a value; what Python and JavaScript print differently is reported or rejected."""
    kind = type(node).__name__
    if kind == "Const" and isinstance(node.value, str):
        return node.value if _WORDS.fullmatch(node.value) else f"{{{{{{default null {quoted(node.value)}}}}}}}"
    if kind in {"Compare", "Not", "Test", "Const"}:
        raise Untranslatable("a printed boolean: `True` in Python", "write `{% if %}` around a word")
    typed = scope.kind(node)
    if typed in {"list", "object"}:
        hint = "write `join` for a list, `json` for an object"
        raise Untranslatable(f"a {typed} that is printed as Python writes it", hint)
    if typed == "boolean":
        scope.remarks.append(("Python prints `True`, a template here `true`", "write `{{#if}}` around a word"))
    if typed == "number":
        scope.remarks.append(("Python prints `1.0`, a template here `1`", "pass the number as a text"))
    if kind == "Filter" and node.name in {"length", "count"}:
        _measured(node.node, scope)
    written = value(node, scope)
    return f"{{{{{{{written[1:-1] if written.startswith('(') else written}}}}}}}"
