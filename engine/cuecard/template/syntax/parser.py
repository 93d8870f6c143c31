"""Tokens to a syntax tree, by the grammar of Handlebars.js 4.7."""

from __future__ import annotations

from itertools import pairwise

from cuecard.template.syntax.lexer import Token
from cuecard.template.syntax.nodes import (
    Block,
    Call,
    Comment,
    Content,
    Literal,
    Mustache,
    Partial,
    Path,
    Program,
    Statement,
    Strip,
)
from cuecard.template.syntax.parser_calls import HEADS, CallParser
from cuecard.template.syntax.source import Source

MAX_DEPTH = 100
"""How deep blocks may nest, and how many branches a chain of `{{else if}}` may have."""

_BRANCHES = ("INVERSE", "OPEN_INVERSE_CHAIN")
_END = ("EOF", "OPEN_ENDBLOCK", *_BRANCHES)
_BEGINNINGS = (
    "CONTENT",
    "COMMENT",
    "OPEN",
    "OPEN_AMPERSAND",
    "OPEN_UNESCAPED",
    "OPEN_BLOCK",
    "OPEN_INVERSE",
    "OPEN_PARTIAL",
    "OPEN_PARTIAL_BLOCK",
    "OPEN_RAW_BLOCK",
)


def parse(source: Source) -> Program:
    """The tree of a template, as written: whitespace control comes after.

    Raises:
        TemplateSyntaxError: at the first construct that no reading makes sense of.
        TemplateLimitError: when blocks or parentheses nest too deep.
    """
    return _Parser(source).template()


class _Parser(CallParser):
    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self.depth = 0

    def template(self) -> Program:
        program = self.program()
        token = self.next
        if token.kind == "OPEN_ENDBLOCK":
            self.index += 1
            name = self.head().original if self.next.kind in HEADS else ""
            end = self.tokens[self.index].end
            message = f"`{{{{/{name}}}}}` closes a block that was never opened"
            self.fail(token, "unopened-block", message, self.way_to_open(name, token), to=end)
        if token.kind in _BRANCHES:
            self.fail(token, "stray-else", "`else` stands outside of any block", "put it inside a block, or remove it")
        return program

    def program(self) -> Program:
        self.deeper("blocks nest", "move the inner ones into a partial")
        body: list[Statement] = []
        while self.next.kind not in _END:
            body.append(self.statement())
        self.depth -= 1
        return Program(body)

    def deeper(self, what: str, hint: str) -> None:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            self.too_deep(self.next, f"{what} more than {MAX_DEPTH} deep", hint)

    def statement(self) -> Statement:
        token = self.take(*_BEGINNINGS)
        if token.kind == "CONTENT":
            return Content(token.start, token.end, token.start, token.end)
        if token.kind == "COMMENT":
            return Comment(token.start, token.end, _strip(token, token))
        if token.kind in {"OPEN_BLOCK", "OPEN_INVERSE"}:
            return self.block(token)
        if token.kind == "OPEN_RAW_BLOCK":
            return self.raw_block(token)
        if token.kind in {"OPEN_PARTIAL", "OPEN_PARTIAL_BLOCK"}:
            return self.partial(token)
        return self.mustache(token)

    def mustache(self, opening: Token) -> Mustache:
        if opening.text.endswith("*"):
            self.fail(opening, "decorator", "decorators are not supported", 'only `{{#*inline "name"}}` is')
        call = self.call()
        closing = self.take("CLOSE_UNESCAPED" if opening.kind == "OPEN_UNESCAPED" else "CLOSE")
        return Mustache(opening.start, closing.end, call, opening.kind == "OPEN", _strip(opening, closing))

    def block(self, opening: Token) -> Block:
        decorator = opening.text.endswith("*")
        call, params, closing = self.opening_tag()
        if decorator and _name(call) != "inline":
            message = f"`{_name(call)}` is not a decorator"
            self.fail(opening, "decorator", message, 'only `{{#*inline "name"}}` is', to=call.end)
        program: Program | None = self.program()
        if program:
            program.block_params = params
        inverse, inverse_strip = self.inverse(chain=opening.kind == "OPEN_BLOCK")
        if decorator and inverse:
            self.fail(opening, "decorator", "an inline partial has no `else`", "remove the branch", to=closing.end)
        end, close_strip = self.close(opening, call)
        _close_chain(inverse, close_strip)
        if opening.kind == "OPEN_INVERSE":
            program, inverse = inverse, program
        strip = _strip(opening, closing)
        return Block(opening.start, end, call, program, inverse, strip, inverse_strip, close_strip, decorator)

    def opening_tag(self) -> tuple[Call, tuple[str, ...], Token]:
        call = self.call()
        params: list[str] = []
        if self.next.kind == "OPEN_BLOCK_PARAMS":
            self.take("OPEN_BLOCK_PARAMS")
            params.append(self.take("ID").text)
            while self.next.kind == "ID":
                params.append(self.take("ID").text)
            if self.next.kind == "CLOSE":
                message, hint = "the names after `as |` are never closed", f"write `as |{' '.join(params)}|`"
                self.fail(self.next, "unexpected-token", message, hint)
            self.take("CLOSE_BLOCK_PARAMS")
        return call, tuple(params), self.take("CLOSE")

    def inverse(self, *, chain: bool) -> tuple[Program | None, Strip]:
        """The other branch, if there is one; an `{{else if}}` makes a branch of one block."""
        if self.next.kind == "INVERSE":
            token = self.take("INVERSE")
            return self.program(), _strip(token, token)
        if self.next.kind != "OPEN_INVERSE_CHAIN" or not chain:
            return None, Strip()
        self.deeper("`else` branches and blocks nest", "choose the text before the template is rendered")
        opening = self.take("OPEN_INVERSE_CHAIN")
        call, params, closing = self.opening_tag()
        program = self.program()
        program.block_params = params
        inverse, inverse_strip = self.inverse(chain=True)
        _close_chain(inverse, inverse_strip)
        self.depth -= 1
        strip = _strip(opening, closing)
        block = Block(opening.start, self.next.start, call, program, inverse, strip, inverse_strip, inverse_strip)
        return Program([block], chained=True), strip

    def close(self, opening: Token, call: Call) -> tuple[int, Strip]:
        name = _name(call)
        tag = self.source.text[opening.start : opening.end].replace("~", "") + name
        if self.next.kind in _BRANCHES:
            message = f"`{tag}}}}}` has no room for this `else`"
            self.fail(self.next, "stray-else", message, "`else` comes once, and last; before it, `else if`")
        if self.next.kind == "EOF":
            hint = self.way_to_close(name, opening)
            self.fail(opening, "unclosed-block", f"`{name}` is never closed", hint, to=call.end)
        token = self.take("OPEN_ENDBLOCK")
        head = self.head()
        if head.original != name:
            opened = self.source.where(opening.start)
            message = f"`{{{{/{head.original}}}}}` closes `{name}`, which was opened at {opened}"
            self.fail(
                token, "mismatched-block", message, _else_hint(call) or f"write `{{{{/{name}}}}}`", to=self.next.end
            )
        if self.next.kind in (*HEADS, "OPEN_SEXPR"):
            message = f"`{self.next.text}` stands behind the name of the block"
            self.fail(self.next, "unexpected-token", message, f"a block is closed by its name alone: `{{{{/{name}}}}}`")
        closing = self.take("CLOSE")
        return closing.end, _strip(token, closing)

    def way_to_open(self, name: str, closing: Token) -> str:
        """What to do about a block that is closed and was never opened."""
        for first, second in pairwise(self.tokens):
            if first.kind == "OPEN" and second.text == name and first.start < closing.start:
                return f"write `{{{{#{name} ...}}}}` at {self.source.where(first.start)}: a block opens with `#`"
        return f"remove it, or open it with `{{{{#{name}}}}}`"

    def way_to_close(self, name: str, opening: Token) -> str:
        """What to do about a block that is never closed."""
        endings = (f"end{name}", "endfor") if name == "each" else (f"end{name}",)
        for first, second in pairwise(self.tokens):
            if first.kind == "OPEN" and second.text in endings and first.start > opening.start:
                return f"write `{{{{/{name}}}}}` for the `{{{{{second.text}}}}}` at {self.source.where(first.start)}"
        return f"add `{{{{/{name}}}}}`"

    def raw_block(self, opening: Token) -> Block:
        call = self.call()
        self.take("CLOSE_RAW_BLOCK")
        content = self.take("CONTENT")
        end = self.take("END_RAW_BLOCK")
        name = _name(call)
        if end.text != name:
            opened = self.source.where(opening.start)
            message = f"`{{{{{{{{/{end.text}}}}}}}}}` closes the raw block `{name}`, which was opened at {opened}"
            self.fail(end, "mismatched-block", message, f"write `{{{{{{{{/{name}}}}}}}}}`")
        body: list[Statement] = [Content(content.start, content.end, content.start, content.end)]
        return Block(opening.start, end.end, call, Program(body), None, Strip(), Strip(), Strip(), raw=True)

    def partial(self, opening: Token) -> Partial:
        start = self.next.start
        head: Path | Literal | Call = self.subexpression() if self.next.kind == "OPEN_SEXPR" else self.head()
        call = self.arguments(start, head)
        closing = self.take("CLOSE")
        strip = _strip(opening, closing)
        if opening.kind == "OPEN_PARTIAL":
            return Partial(opening.start, closing.end, call, strip)
        program = self.program()
        end, close_strip = self.close(opening, call)
        return Partial(opening.start, end, call, strip, program, close_strip)


def _strip(opening: Token, closing: Token) -> Strip:
    return Strip(opening.text[2:3] == "~", closing.text[-3:-2] == "~")


def _close_chain(inverse: Program | None, strip: Strip) -> None:
    """The branch of an `{{else if}}` ends where what holds it ends: Handlebars.js prepareBlock."""
    if inverse and inverse.chained and isinstance(inverse.body[0], Block):
        inverse.body[0].close_strip = strip


def _else_hint(call: Call) -> str:
    """What to write for an `else` that is opened as a block."""
    written = {"else": "{{else if value}}" if call.params else "{{else}}"}
    written |= dict.fromkeys(("elseif", "elsif", "elif"), "{{else if value}}")
    found = written.get(_name(call), "")
    return f"write `{found}` there, without `#`" if found else ""


def _name(call: Call) -> str:
    return call.head.original if not isinstance(call.head, Call) else _name(call.head)
