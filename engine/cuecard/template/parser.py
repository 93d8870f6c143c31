"""Tokens to a syntax tree, by the grammar of Handlebars.js 4.7."""

from __future__ import annotations

from typing import NoReturn

from cuecard.errors import Problem, TemplateLimitError, TemplateSyntaxError
from cuecard.template.lexer import Token, tokenize
from cuecard.template.nodes import (
    Block,
    Call,
    Comment,
    Content,
    Expression,
    Literal,
    Mustache,
    Partial,
    Path,
    Program,
    Statement,
    Strip,
)
from cuecard.template.source import Source

MAX_DEPTH = 100
"""How deep blocks and parentheses may nest."""

_HEADS = ("ID", "SEGMENT", "DATA", "STRING", "NUMBER", "BOOLEAN", "UNDEFINED", "NULL")
_BRANCHES = ("INVERSE", "OPEN_INVERSE_CHAIN")
_END = ("EOF", "OPEN_ENDBLOCK", *_BRANCHES)
_SHOWN = {"EOF": "the end of the template", "CLOSE": "`}}`", "CLOSE_SEXPR": "`)`", "EQUALS": "`=`"}


def parse(source: Source) -> Program:
    """The tree of a template, as written: whitespace control comes after.

    Raises:
        TemplateSyntaxError: at the first construct that no reading makes sense of.
        TemplateLimitError: when blocks or parentheses nest too deep.
    """
    return _Parser(source).template()


class _Parser:
    def __init__(self, source: Source) -> None:
        self.source = source
        self.tokens = list(tokenize(source))
        self.index = self.depth = 0

    @property
    def next(self) -> Token:
        return self.tokens[self.index]

    def take(self, *kinds: str) -> Token:
        token = self.next
        if token.kind not in kinds:
            self.unexpected(token, kinds)
        self.index += 1
        return token

    def template(self) -> Program:
        program = self.program()
        token = self.next
        if token.kind == "OPEN_ENDBLOCK":
            self.index += 1
            name = self.head().original if self.next.kind in _HEADS else ""
            self.fail(token, "unopened-block", f"`{{{{/{name}}}}}` closes a block that was never opened", "remove it")
        if token.kind in _BRANCHES:
            self.fail(token, "stray-else", "`else` stands outside of any block", "put it inside a block, or remove it")
        return program

    def program(self) -> Program:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            message = f"blocks nest more than {MAX_DEPTH} deep"
            token = self.next
            raise TemplateLimitError(self.source.problem(token.start, token.end, "too-deep", message, "use partials"))
        body: list[Statement] = []
        while self.next.kind not in _END:
            body.append(self.statement())
        self.depth -= 1
        return Program(body)

    def statement(self) -> Statement:
        token = self.take(
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
        escaped = opening.kind == "OPEN"
        return Mustache(opening.start, closing.end, call, escaped, _strip(opening, closing))

    def block(self, opening: Token) -> Block:
        decorator = opening.text.endswith("*")
        call, params, closing = self.opening_tag()
        if decorator and _name(call) != "inline":
            message = f"`{_name(call)}` is not a decorator"
            self.fail(opening, "decorator", message, 'only `{{#*inline "name"}}` is')
        program: Program | None = self.program()
        if program:
            program.block_params = params
        inverse, inverse_strip = self.inverse(chain=opening.kind == "OPEN_BLOCK")
        if decorator and inverse:
            self.fail(opening, "decorator", "an inline partial has no `else`", "remove the branch")
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
            self.take("CLOSE_BLOCK_PARAMS")
        return call, tuple(params), self.take("CLOSE")

    def inverse(self, *, chain: bool) -> tuple[Program | None, Strip]:
        """The other branch, if there is one; an `{{else if}}` makes a branch of one block."""
        if self.next.kind == "INVERSE":
            token = self.take("INVERSE")
            return self.program(), _strip(token, token)
        if self.next.kind != "OPEN_INVERSE_CHAIN" or not chain:
            return None, Strip()
        self.depth += 1
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
        if self.next.kind != "OPEN_ENDBLOCK":
            if self.next.kind in _BRANCHES:
                self.fail(
                    self.next,
                    "stray-else",
                    f"`{{{{#{name}}}}}` has no room for this `else`",
                    "the last branch is `else`",
                )
            self.fail(opening, "unclosed-block", f"`{name}` is never closed", f"add `{{{{/{name}}}}}`", to=call.end)
        token = self.take("OPEN_ENDBLOCK")
        head = self.head()
        if head.original != name:
            message = (
                f"`{{{{/{head.original}}}}}` closes `{name}`, which was opened at {self.source.where(opening.start)}"
            )
            self.fail(token, "mismatched-block", message, f"write `{{{{/{name}}}}}`", to=head.end)
        closing = self.take("CLOSE")
        return closing.end, _strip(token, closing)

    def raw_block(self, opening: Token) -> Block:
        call = self.call()
        self.take("CLOSE_RAW_BLOCK")
        body: list[Statement] = []
        if self.next.kind == "CONTENT":
            token = self.take("CONTENT")
            body = [Content(token.start, token.end, token.start, token.end)]
        end = self.take("END_RAW_BLOCK")
        if end.text != _name(call):
            message = f"`{end.text}` closes the raw block `{_name(call)}`"
            self.fail(end, "mismatched-block", message, f"write `{{{{{{{{/{_name(call)}}}}}}}}}`")
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

    def call(self) -> Call:
        return self.arguments(self.next.start, self.head())

    def arguments(self, start: int, head: Path | Literal | Call) -> Call:
        params: list[Expression] = []
        pairs: list[tuple[str, Expression]] = []
        while True:
            if self.next.kind in {"ID", "SEGMENT"} and self.tokens[self.index + 1].kind == "EQUALS":
                key = _segment(self.take("ID", "SEGMENT"))
                self.take("EQUALS")
                pairs.append((key, self.param()))
            elif self.next.kind in (*_HEADS, "OPEN_SEXPR") and not pairs:
                params.append(self.param())
            elif self.next.kind in (*_HEADS, "OPEN_SEXPR"):
                message = "a value without a name stands after `name=value`"
                self.fail(self.next, "unexpected-value", message, "put it before the named values")
            else:
                return Call(start, self.tokens[self.index - 1].end, head, tuple(params), tuple(pairs))

    def param(self) -> Expression:
        return self.subexpression() if self.next.kind == "OPEN_SEXPR" else self.head()

    def subexpression(self) -> Call:
        self.depth += 1
        opening = self.take("OPEN_SEXPR")
        if self.depth > MAX_DEPTH:
            message = f"parentheses nest more than {MAX_DEPTH} deep"
            raise TemplateLimitError(self.source.problem(opening.start, opening.end, "too-deep", message))
        call = self.call()
        closing = self.take("CLOSE_SEXPR")
        self.depth -= 1
        return Call(opening.start, closing.end, call.head, call.params, call.hash)

    def head(self) -> Path | Literal:
        token = self.next
        if token.kind in {"STRING", "NUMBER", "BOOLEAN", "UNDEFINED", "NULL"}:
            self.index += 1
            return _literal(token)
        return self.path()

    def path(self) -> Path:
        first = self.take("ID", "SEGMENT", "DATA")
        data = first.kind == "DATA"
        segments = [self.take("ID", "SEGMENT") if data else first]
        separators = []
        while self.next.kind == "SEP":
            separators.append(self.take("SEP").text)
            segments.append(self.take("ID", "SEGMENT"))
        end = segments[-1].end
        original = "".join(s + _segment(t) for s, t in zip(["", *separators], segments, strict=True))
        parts: list[str] = []
        depth = 0
        for token in segments:
            name, bare = _segment(token), token.kind == "ID"
            if bare and name in {"..", ".", "this"}:
                if parts:
                    message = f"`{name}` stands inside the path `{original}`"
                    self.fail(token, "invalid-path", message, "`..`, `.` and `this` stand only at the beginning")
                depth += name == ".."
            else:
                parts.append(name)
        scoped = not data and segments[0].kind == "ID" and segments[0].text in {".", "this"}
        return Path(first.start, end, ("@" if data else "") + original, tuple(parts), depth, data, scoped)

    def unexpected(self, token: Token, kinds: tuple[str, ...]) -> NoReturn:
        shown = _SHOWN.get(token.kind, f"`{token.text}`")
        wanted = next((_SHOWN[kind] for kind in kinds if kind in _SHOWN), "a name or a value")
        self.fail(token, "unexpected-token", f"{shown} stands where {wanted} is expected", "")

    def fail(self, token: Token, code: str, message: str, hint: str, *, to: int = 0) -> NoReturn:
        problem: Problem = self.source.problem(token.start, to or token.end, code, message, hint)
        raise TemplateSyntaxError(problem)


def _strip(opening: Token, closing: Token) -> Strip:
    return Strip(opening.text[2:3] == "~", closing.text[-3:-2] == "~")


def _close_chain(inverse: Program | None, strip: Strip) -> None:
    """The branch of an `{{else if}}` ends where what holds it ends: Handlebars.js prepareBlock."""
    if inverse and inverse.chained and isinstance(inverse.body[0], Block):
        inverse.body[0].close_strip = strip


def _segment(token: Token) -> str:
    return token.text[1:-1].replace("\\]", "]") if token.kind == "SEGMENT" else token.text


def _name(call: Call) -> str:
    return call.head.original if not isinstance(call.head, Call) else "("


def _literal(token: Token) -> Literal:
    text = token.text
    if token.kind == "STRING":
        value = text[1:-1].replace("\\" + text[0], text[0])
        return Literal(token.start, token.end, value, value)
    if token.kind == "BOOLEAN":
        return Literal(token.start, token.end, text == "true", text)
    if token.kind == "NUMBER":
        number = float(text)
        return Literal(token.start, token.end, int(number) if number.is_integer() else number, _js_number(number))
    return Literal(token.start, token.end, None, "undefined" if token.kind == "UNDEFINED" else "null")


def _js_number(number: float) -> str:
    return str(int(number)) if number.is_integer() else repr(number)
