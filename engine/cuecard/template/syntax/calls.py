"""Parses calls: a head with its arguments, paths, literals and parentheses. The lower half of the parser."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NoReturn, TypeVar

from cuecard.errors import Problem, TemplateLimitError
from cuecard.template.syntax import habits
from cuecard.template.syntax.lexer import Token, number_text, tokenize
from cuecard.template.syntax.nodes import Expression, HelperCall, Literal, Path
from cuecard.template.syntax.source import Mistakes, TagError, TemplateSource

MAX_NESTED = 40
"""The maximum depth of parentheses, and the maximum number of names in a path."""

HEADS = ("ID", "SEGMENT", "DATA", "STRING", "NUMBER", "BOOLEAN", "UNDEFINED", "NULL")
"""The tokens that a head or an argument may begin with; an argument may also begin with a parenthesis."""

_LITERALS = ("STRING", "NUMBER", "BOOLEAN", "UNDEFINED", "NULL")
_SHOWN = {"EOF": "the end of the template", "CLOSE": "`}}`", "CLOSE_SEXPR": "`)`", "EQUALS": "`=`", "ID": "a name"}
_HINTS = {
    "EOF": "finish the tag",
    "CLOSE": "write a name, as in `{{user}}`",
    "CLOSE_UNESCAPED": "write a name, as in `{{{user}}}`",
    "CLOSE_SEXPR": "parentheses contain a helper and its values: `(helper value)`",
    "CLOSE_BLOCK_PARAMS": "block parameters end an opening tag: `{{#each items as |item index|}}`",
    "EQUALS": "write a name before `=` and a value after it",
}
_SHOWN |= {"CLOSE_UNESCAPED": "`}}}`", "CLOSE_RAW_BLOCK": "`}}}}`", "CLOSE_BLOCK_PARAMS": "`|`"}
_TAG_ENDS = ("CLOSE", "CLOSE_UNESCAPED", "CLOSE_RAW_BLOCK", "INVERSE", "EOF")
_SCOPED = re.compile(r"\A\.|this\b", re.ASCII)
_ESCAPED = re.compile(r"\\([\\\]])")

Read = TypeVar("Read")


class CallParser:
    """A cursor over the tokens of a template that reads the contents of tags."""

    def __init__(self, source: TemplateSource, mistakes: Mistakes) -> None:
        """Read the tokens, recording mistakes."""
        self.source: TemplateSource = source
        self.mistakes: Mistakes = mistakes
        self.tokens: list[Token] = list(tokenize(source, mistakes))
        self.index: int = 0
        self.parentheses: int = 0

    @property
    def next(self) -> Token:
        """The token at the cursor."""
        return self.tokens[self.index]

    def take(self, *kinds: str) -> Token:
        """The token at the cursor, which must be of one of these kinds; advances the cursor."""
        token = self.next
        if token.kind not in kinds:
            self.unexpected(token, kinds)
        self.index += 1
        return token

    def call(self) -> HelperCall:
        """A head and its arguments."""
        return self.arguments(self.next.start, self.head())

    def arguments(self, start: int, head: Path | Literal | HelperCall) -> HelperCall:
        """The arguments after a head, then the `name=value` pairs."""
        params: list[Expression] = []
        pairs: list[tuple[str, Expression]] = []
        while True:
            if self.next.kind in {"ID", "SEGMENT"} and self.tokens[self.index + 1].kind == "EQUALS":
                key = segment_text(self.take("ID", "SEGMENT"))
                self.take("EQUALS")
                pairs.append((key, self.param()))
            elif self.next.kind not in (*HEADS, "OPEN_SEXPR"):
                return HelperCall(start, self.tokens[self.index - 1].end, head, tuple(params), tuple(pairs))
            elif pairs:
                message = "a positional value follows `name=value`"
                self.fail(self.next, "unexpected-value", message, "put it before the named values")
            else:
                params.append(self.param())

    def param(self) -> Expression:
        """An argument."""
        return self.subexpression() if self.next.kind == "OPEN_SEXPR" else self.head()

    def subexpression(self) -> HelperCall:
        """`(head arguments)`."""
        opening = self.take("OPEN_SEXPR")
        self.parentheses += 1
        if self.parentheses > MAX_NESTED:
            self.too_deep(
                opening, f"parentheses are nested more than {MAX_NESTED} levels deep", "prepare the value in a helper"
            )
        call = self.call()
        closing = self.take("CLOSE_SEXPR")
        self.parentheses -= 1
        return HelperCall(opening.start, closing.end, call.head, call.params, call.hash, nested=True)

    def head(self) -> Path | Literal:
        """A path or a literal."""
        token = self.next
        if token.kind in _LITERALS:
            self.index += 1
            return _literal(token)
        return self.path()

    def path(self) -> Path:
        """Names with `.` or `/` between them (Handlebars.js preparePath)."""
        first = self.take("ID", "SEGMENT", "DATA")
        data = first.kind == "DATA"
        segments = [self.take("ID", "SEGMENT") if data else first]
        separators = [""]
        while self.next.kind == "SEP":
            separators.append(self.take("SEP").text)
            if self.next.kind in _LITERALS:
                self.literal_step(first)
            segments.append(self.take("ID", "SEGMENT"))
        original = "".join(s + segment_text(t) for s, t in zip(separators, segments, strict=True))
        parts: list[str] = []
        depth = 0
        for token in segments:
            name = segment_text(token)
            if token.kind == "SEGMENT" or name not in {"..", ".", "this"}:
                parts.append(name)
            elif parts:
                message = f"`{name}` is inside the path `{original}`"
                self.fail(token, "invalid-path", message, "`..`, `.` and `this` are only allowed at the beginning")
            else:
                depth += name == ".."
        if parts[:1] == [""]:
            parts = []  # `[]` is the context itself (Handlebars.js PathExpression)
        if len(parts) > MAX_NESTED:
            self.too_deep(first, f"a path has more than {MAX_NESTED} names", "pass the inner value as an input")
        scoped = not data and bool(_SCOPED.search(original))
        return Path(first.start, segments[-1].end, "@" * data + original, tuple(parts), depth, data, scoped)

    def literal_step(self, first: Token) -> NoReturn:
        """Raise: a path that begins at `first` continues with a number or another literal."""
        token, path = self.next, self.source.text[first.start : self.tokens[self.index - 1].start]
        message = f"`{token.text}` is a value, but a path continues with a name or brackets"
        self.fail(token, "unexpected-token", message, habits.literal_step(path, token.text))

    def foreign(self, token: Token) -> None:
        """Raise if the token is an operator or a filter of another language."""
        text, start = self.source.text, token.start
        start -= token.kind == "EQUALS" and text[start - 1] == "="
        sign = habits.operator(text, start)
        if sign in {"==", "===", "||"}:
            message = f"`{sign}` is not allowed here in a tag"
            self.fail(
                self.tokens[self.index - (start < token.start)],
                "unexpected-token",
                message,
                habits.compared(sign),
                to=start + len(sign),
            )
        following = self.tokens[min(self.index + 1, len(self.tokens) - 1)]
        if token.kind == "CLOSE_BLOCK_PARAMS" and following.kind == "ID" and (value := self.path_before()):
            hint = habits.piped(value, following.text)
            self.fail(token, "unexpected-token", "`|` is not allowed here in a tag", hint, to=following.end)

    def path_before(self) -> str:
        """The path that ends at the cursor."""
        index = self.index
        while index and self.tokens[index - 1].kind in {"ID", "SEGMENT", "DATA", "SEP"}:
            index -= 1
            if index and self.tokens[index - 1].end < self.tokens[index].start:
                break
        return self.source.text[self.tokens[index].start : self.tokens[self.index - 1].end]

    def unexpected(self, token: Token, kinds: tuple[str, ...]) -> NoReturn:
        """Raise: another token was expected."""
        if token.kind in {"EQUALS", "CLOSE_BLOCK_PARAMS"}:
            self.foreign(token)
        shown = _SHOWN["EOF"] if token.kind == "EOF" else f"`{token.text}`"
        wanted = next((_SHOWN[kind] for kind in kinds if kind in _SHOWN), "a name or a value")
        hint = _HINTS.get(token.kind, "check how the tag continues, or write `\\{{` for literal braces")
        if wanted == "`)`":
            hint = "close the parenthesis"
        elif shown.startswith("`}") and wanted.startswith("`}"):
            hint = "a tag needs as many closing as opening braces; write `{{!}}` or a space before a brace of your text"
        self.fail(token, "unexpected-token", f"found {shown} where {wanted} is expected", hint)

    def too_deep(self, token: Token, message: str, hint: str) -> NoReturn:
        """Raise: a limit was exceeded."""
        raise TemplateLimitError(self.source.problem(token.start, token.end, "too-deep", message, hint))

    def fail(self, token: Token, code: str, message: str, hint: str, *, to: int = 0) -> NoReturn:
        """Raise: a mistake at a token, or from there to an offset."""
        raise TagError(self.problem(token, code, message, hint, to=to))

    def problem(self, token: Token, code: str, message: str, hint: str, *, to: int = 0) -> Problem:
        """A mistake at a token, or from there to an offset."""
        return self.source.problem(token.start, to or token.end, code, message, hint)

    def attempt(self, read: Callable[[], Read]) -> Read | None:
        """The result of reading a tag; None if it is wrong, which is recorded, with the cursor after the tag."""
        parentheses = self.parentheses
        try:
            return read()
        except TagError as error:
            self.parentheses = parentheses
            if not self.skip_tag():
                self.mistakes.add(error.problem)
            return None

    def skip_tag(self) -> bool:
        """Move the cursor to the end of the current tag; whether the tag contains a mistake found by the lexer."""
        is_told = False
        while self.next.kind not in _TAG_ENDS:
            is_told |= self.next.kind == "BAD"
            self.index += 1
        self.index += self.next.kind != "EOF"
        return is_told


def segment_text(token: Token) -> str:
    """The name that a token represents: `[a b]` is `a b` (Handlebars.js id; brackets that span two lines stay)."""
    if token.kind != "SEGMENT":
        return token.text
    text = _ESCAPED.sub(r"\1", token.text)
    return text if set("\n\r\u2028\u2029") & set(text) else text[1:-1]


def _literal(token: Token) -> Literal:
    text = token.text
    if token.kind == "STRING":
        value = text[1:-1].replace("\\" + text[0], text[0])
        return Literal(token.start, token.end, value, value)
    if token.kind == "BOOLEAN":
        return Literal(token.start, token.end, text == "true", text)
    if token.kind == "NUMBER":
        number = float(text)
        exact = number.is_integer() and abs(number) < 2**53
        return Literal(token.start, token.end, int(number) if exact else number, number_text(number))
    return Literal(token.start, token.end, None, token.kind.lower())
