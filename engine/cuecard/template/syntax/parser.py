"""Parses tokens into a syntax tree by the grammar of Handlebars.js 4.7."""

from __future__ import annotations

from itertools import pairwise
from typing import NoReturn, TypeAlias

from cuecard.errors import Problem, TemplateLimitError
from cuecard.template.syntax.calls import HEADS, CallParser
from cuecard.template.syntax.habits import WORDS
from cuecard.template.syntax.lexer import Token
from cuecard.template.syntax.nodes import (
    Block,
    Comment,
    HelperCall,
    Literal,
    Mustache,
    Partial,
    Path,
    Program,
    Statement,
    Strip,
    TextNode,
)
from cuecard.template.syntax.source import EnoughError, Mistakes, TagError, TemplateSource

MAX_DEPTH = 100
"""The maximum depth of blocks, and the maximum number of branches in a chain of `{{else if}}`."""

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

_UNKNOWN = "\0"
"""The name of a block whose tag is wrong; any name closes it."""

_Opened: TypeAlias = tuple[HelperCall, tuple[str, ...], Token]
"""What a tag calls, its block parameters, and its end."""


def parse(source: TemplateSource) -> Program:
    """The tree of a template, as written: whitespace control comes after.

    Raises:
        TemplateSyntaxError: with every tag that makes no sense, and the first unbalanced block.
        TemplateLimitError: when blocks or parentheses are nested too deep.
    """
    mistakes = Mistakes()
    try:
        program = _Parser(source, mistakes).template()
    except TemplateLimitError:
        mistakes.refuse()
        raise
    except EnoughError:
        program = Program([])
    mistakes.refuse()
    return program


class _Parser(CallParser):
    def __init__(self, source: TemplateSource, mistakes: Mistakes) -> None:
        super().__init__(source, mistakes)
        self.depth = 0

    def template(self) -> Program:
        program = self.program()
        while (token := self.next).kind != "EOF":
            self.misfit(self.unopened(token) if token.kind == "OPEN_ENDBLOCK" else self.stray_else(token))
            self.skip_tag()
            program = self.program()
        return program

    def unopened(self, token: Token) -> Problem:
        """A tag that closes a block that was never opened."""
        self.index += 1
        try:
            name = self.head().original if self.next.kind in HEADS else ""
        except TagError:
            name = ""
        message = f"`{{{{/{name}}}}}` closes a block that was never opened"
        end = self.tokens[self.index].end
        return self.problem(token, "unopened-block", message, self.way_to_open(name, token), to=end)

    def stray_else(self, token: Token) -> Problem:
        """An `else` outside any block."""
        hint = "put it inside a block, or remove it"
        return self.problem(token, "stray-else", "`else` is outside of any block", hint)

    def misfit(self, problem: Problem) -> None:
        """Record that blocks are unbalanced, if that is certain."""
        if self.mistakes.is_tangled:
            raise EnoughError
        self.mistakes.add(problem)

    def give_up(self, problem: Problem) -> NoReturn:
        """Record that blocks are unbalanced, and stop reading: from here on, it is unclear what belongs together."""
        self.misfit(problem)
        raise EnoughError

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
            self.too_deep(self.next, f"{what} more than {MAX_DEPTH} levels deep", hint)

    def statement(self) -> Statement:
        token = self.take(*_BEGINNINGS)
        if token.kind == "CONTENT":
            return TextNode(token.start, token.end, token.start, token.end)
        if token.kind == "COMMENT":
            return Comment(token.start, token.end, _strip(token, token))
        if token.kind in {"OPEN_BLOCK", "OPEN_INVERSE"}:
            return self.block(token)
        if token.kind == "OPEN_RAW_BLOCK":
            return self.raw_block(token)
        if token.kind in {"OPEN_PARTIAL", "OPEN_PARTIAL_BLOCK"}:
            return self.partial(token)
        return self.attempt(lambda: self.mustache(token)) or _nothing(token)

    def mustache(self, opening: Token) -> Mustache:
        if opening.text.endswith("*"):
            self.fail(opening, "decorator", "decorators are not supported", 'only `{{#*inline "name"}}` is')
        call = self.call()
        closing = self.take("CLOSE_UNESCAPED" if opening.kind == "OPEN_UNESCAPED" else "CLOSE")
        return Mustache(opening.start, closing.end, call, opening.kind == "OPEN", _strip(opening, closing))

    def block(self, opening: Token) -> Block:
        decorator = opening.text.endswith("*")
        call, params, closing = self.opening_tag()
        if decorator and _name(call) not in {"inline", _UNKNOWN}:
            message = f"`{_name(call)}` is not a decorator"
            hint = 'only `{{#*inline "name"}}` is'
            self.mistakes.add(self.problem(opening, "decorator", message, hint, to=call.end))
        program: Program | None = self.program()
        if program:
            program.block_params = params
        inverse, inverse_strip = self.inverse(chain=opening.kind == "OPEN_BLOCK")
        if decorator and inverse:
            message = "an inline partial has no `else`"
            self.mistakes.add(self.problem(opening, "decorator", message, "remove the branch", to=closing.end))
        end, close_strip = self.close(opening, call)
        _close_chain(inverse, close_strip)
        if opening.kind == "OPEN_INVERSE":
            program, inverse = inverse, program
        strip = _strip(opening, closing)
        return Block(opening.start, end, call, program, inverse, strip, inverse_strip, close_strip, decorator)

    def opening_tag(self) -> _Opened:
        """The content of the tag that opens a block; a block with any name if the tag is wrong."""
        return self.attempt(self.opened) or self.unknown()

    def unknown(self) -> _Opened:
        """Replaces a wrong tag, so that the rest of its block can be read."""
        token = self.tokens[self.index - 1]
        return HelperCall(token.start, token.end, Path(token.start, token.end, _UNKNOWN, (), 0), (), ()), (), token

    def opened(self) -> _Opened:
        call = self.call()
        params: list[str] = []
        if self.next.kind == "OPEN_BLOCK_PARAMS":
            self.take("OPEN_BLOCK_PARAMS")
            params.append(self.take("ID").text)
            while self.next.kind == "ID":
                params.append(self.take("ID").text)
            if self.next.kind == "CLOSE":
                message, hint = "the names after `as |` are not closed", f"write `as |{' '.join(params)}|`"
                self.fail(self.next, "unexpected-token", message, hint)
            self.take("CLOSE_BLOCK_PARAMS")
        return call, tuple(params), self.take("CLOSE")

    def inverse(self, *, chain: bool) -> tuple[Program | None, Strip]:
        """The other branch, if there is one; an `{{else if}}` becomes a branch with one block."""
        if self.next.kind == "INVERSE":
            token = self.take("INVERSE")
            return self.program(), _strip(token, token)
        if self.next.kind != "OPEN_INVERSE_CHAIN" or not chain:
            return None, Strip()
        self.deeper("`else` branches and blocks nest", "choose the text before rendering the template")
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

    def close(self, opening: Token, call: HelperCall) -> tuple[int, Strip]:
        name = _name(call)
        if name == _UNKNOWN and self.next.kind != "OPEN_ENDBLOCK":
            raise EnoughError
        tag = self.source.text[opening.start : opening.end].replace("~", "") + name
        if self.next.kind in _BRANCHES:
            message, hint = (
                f"`{tag}}}}}` cannot have this `else`",
                "`else` comes once, and last; before it, `else if`",
            )
            self.give_up(self.problem(self.next, "stray-else", message, hint))
        if self.next.kind == "EOF":
            hint = self.way_to_close(name, opening)
            self.give_up(self.problem(opening, "unclosed-block", f"`{name}` is not closed", hint, to=call.end))
        token = self.take("OPEN_ENDBLOCK")
        closing = self.attempt(lambda: self.closing_tag(token, opening, call)) or self.tokens[self.index - 1]
        return closing.end, _strip(token, closing)

    def closing_tag(self, token: Token, opening: Token, call: HelperCall) -> Token:
        """The end of the tag that closes a block; its head is at the cursor."""
        name, head = _name(call), self.head()
        if name not in {head.original, _UNKNOWN}:
            opened = self.source.where(opening.start)
            message = f"`{{{{/{head.original}}}}}` closes `{name}`, which was opened at {opened}"
            hint = _else_hint(call) or f"write `{{{{/{name}}}}}`"
            self.give_up(self.problem(token, "mismatched-block", message, hint, to=self.next.end))
        if self.next.kind in (*HEADS, "OPEN_SEXPR"):
            message = f"`{self.next.text}` follows the block's name"
            self.fail(self.next, "unexpected-token", message, f"a block is closed by its name alone: `{{{{/{name}}}}}`")
        return self.take("CLOSE")

    def way_to_open(self, name: str, closing: Token) -> str:
        """The hint for a block that is closed but was never opened."""
        for first, second in pairwise(self.tokens):
            if first.kind == "OPEN" and second.text == name and first.start < closing.start:
                if name in WORDS:
                    return WORDS[name]
                return f"write `{{{{#{name} ...}}}}` at {self.source.where(first.start)}: a block opens with `#`"
        return f"remove it, or open it with `{{{{#{name}}}}}`"

    def way_to_close(self, name: str, opening: Token) -> str:
        """The hint for a block that is never closed."""
        endings = (f"end{name}", "endfor") if name == "each" else (f"end{name}",)
        for first, second in pairwise(self.tokens):
            if first.kind == "OPEN" and second.text in endings and first.start > opening.start:
                return f"write `{{{{/{name}}}}}` for the `{{{{{second.text}}}}}` at {self.source.where(first.start)}"
        return f"add `{{{{/{name}}}}}`"

    def raw_block(self, opening: Token) -> Statement:
        call = self.attempt(self.opened_raw)
        try:
            content, end = self.take("CONTENT"), self.take("END_RAW_BLOCK")
        except TagError as error:
            if self.next.kind == "BAD":
                raise EnoughError from None  # it has no end: everything after it is part of it
            self.mistakes.add(error.problem)
            self.index += 1
            return _nothing(opening)
        if call is None:
            return _nothing(opening)
        name = _name(call)
        if end.text != name:
            opened = self.source.where(opening.start)
            message = f"`{{{{{{{{/{end.text}}}}}}}}}` closes the raw block `{name}`, which was opened at {opened}"
            self.mistakes.add(self.problem(end, "mismatched-block", message, f"write `{{{{{{{{/{name}}}}}}}}}`"))
        body: list[Statement] = [TextNode(content.start, content.end, content.start, content.end)]
        return Block(opening.start, end.end, call, Program(body), None, Strip(), Strip(), Strip(), raw=True)

    def opened_raw(self) -> HelperCall:
        call = self.call()
        self.take("CLOSE_RAW_BLOCK")
        return call

    def opened_partial(self) -> _Opened:
        start = self.next.start
        head: Path | Literal | HelperCall = self.subexpression() if self.next.kind == "OPEN_SEXPR" else self.head()
        return self.arguments(start, head), (), self.take("CLOSE")

    def partial(self, opening: Token) -> Partial:
        call, _, closing = self.attempt(self.opened_partial) or self.unknown()
        strip = _strip(opening, closing)
        if opening.kind == "OPEN_PARTIAL":
            return Partial(opening.start, closing.end, call, strip)
        program = self.program()
        end, close_strip = self.close(opening, call)
        return Partial(opening.start, end, call, strip, program, close_strip)


def _nothing(token: Token) -> Comment:
    """Replaces a wrong tag."""
    return Comment(token.start, token.end, Strip())


def _strip(opening: Token, closing: Token) -> Strip:
    return Strip(opening.text[2:3] == "~", closing.text[-3:-2] == "~")


def _close_chain(inverse: Program | None, strip: Strip) -> None:
    """The branch of an `{{else if}}` ends where its parent ends: Handlebars.js prepareBlock."""
    if inverse and inverse.chained and isinstance(inverse.body[0], Block):
        inverse.body[0].close_strip = strip


def _else_hint(call: HelperCall) -> str:
    """What to write instead of an `else` opened as a block."""
    written = {"else": "{{else if value}}" if call.params else "{{else}}"}
    written |= dict.fromkeys(("elseif", "elsif", "elif"), "{{else if value}}")
    found = written.get(_name(call), "")
    return f"write `{found}` there, without `#`" if found else ""


def _name(call: HelperCall) -> str:
    return call.head.original if not isinstance(call.head, HelperCall) else _name(call.head)
