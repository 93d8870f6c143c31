"""Text to tokens, and numbers as JavaScript reads them."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

from cuecard.errors import Problem
from cuecard.records import dataclass
from cuecard.template.syntax import habits
from cuecard.template.syntax.source import Mistakes, TemplateSource

SPACES = " \t\n\v\f\r\u00a0\u1680" + "".join(map(chr, range(0x2000, 0x200B))) + "\u2028\u2029\u202f\u205f\u3000\ufeff"
"""What JavaScript's `\\s` matches."""

_S = rf"[{SPACES}]"
_NAME = rf"""[^{SPACES}!"#%-,./;->@\[-^`{{-~]+"""
_AFTER_NAME = rf"(?=[=~}}{SPACES}/.)|])"
_AFTER_LITERAL = rf"(?=[~}}{SPACES})])"

_OPENINGS: tuple[tuple[str, str], ...] = (
    ("OPEN_PARTIAL", r"\{\{~?>"),
    ("OPEN_PARTIAL_BLOCK", r"\{\{~?#>"),
    ("OPEN_BLOCK", r"\{\{~?#\*?"),
    ("OPEN_ENDBLOCK", r"\{\{~?/"),
    ("INVERSE", rf"\{{\{{~?\^{_S}*~?\}}\}}|\{{\{{~?{_S}*else{_S}*~?\}}\}}"),
    ("OPEN_INVERSE", r"\{\{~?\^"),
    ("OPEN_INVERSE_CHAIN", rf"\{{\{{~?{_S}*else\b"),
    ("OPEN_UNESCAPED", r"\{\{~?\{"),
    ("OPEN_AMPERSAND", r"\{\{~?&"),
    ("OPEN", r"\{\{~?\*?"),
)
_INSIDE: tuple[tuple[str, str], ...] = (
    ("SPACE", rf"{_S}+"),
    ("OPEN_SEXPR", r"\("),
    ("CLOSE_SEXPR", r"\)"),
    ("CLOSE_RAW_BLOCK", r"\}\}\}\}"),
    ("CLOSE_UNESCAPED", r"\}~?\}\}"),
    ("CLOSE", r"~?\}\}"),
    ("EQUALS", r"="),
    ("ID", rf"\.\.|\.{_AFTER_NAME}"),
    ("SEP", r"[/.]"),
    ("STRING", r'"(?:\\"|[^"])*"' + r"|'(?:\\'|[^'])*'"),
    ("DATA", r"@"),
    ("BOOLEAN", rf"(?:true|false){_AFTER_LITERAL}"),
    ("UNDEFINED", rf"undefined{_AFTER_LITERAL}"),
    ("NULL", rf"null{_AFTER_LITERAL}"),
    ("NUMBER", rf"-?[0-9]+(?:\.[0-9]+)?{_AFTER_LITERAL}"),
    ("OPEN_BLOCK_PARAMS", rf"as{_S}+\|"),
    ("CLOSE_BLOCK_PARAMS", r"\|"),
    ("ID", _NAME + _AFTER_NAME),
    ("SEGMENT", r"\[(?:\\\]|[^\]])*\]"),
)


def _alternatives(rules: tuple[tuple[str, str], ...]) -> re.Pattern[str]:
    # ASCII: `\b` as in JavaScript.
    named = (f"(?P<{kind}_{number}>{pattern})" for number, (kind, pattern) in enumerate(rules))
    return re.compile("|".join(named), re.ASCII)


_OPENING, _TOKEN = _alternatives(_OPENINGS), _alternatives(_INSIDE)
_WORD = re.compile(_NAME)
_UNCLOSED = {'"': ("text", '"'), "'": ("text", "'"), "[": ("bracket", "]")}
_HINTS = (
    (",", "parameters are separated by spaces"),
    ("~", "`~` stands at the braces, as in `{{~name}}`; values that follow each other are `{{one}}{{two}}`"),
    ("+-*%/<>&!;", habits.CALCULATED),
    (
        "}",
        "a tag ends with as many braces as it began with: `{{name}}` or `{{{name}}}`; write `\\{{` for literal braces",
    ),
    ("", "put a name with other characters in brackets, as in `[my name]`, and a text in quotes"),
)
_CLOSINGS = ("CLOSE", "CLOSE_UNESCAPED", "CLOSE_RAW_BLOCK")
_COMMENT_END, _LONG_COMMENT_END = re.compile(r"\}\}"), re.compile(r"--~?\}\}")
_RAW_END = re.compile(r"\{\{\{\{/(" + _NAME + r")\}\}\}\}")


@dataclass(frozen=True, slots=True)
class Token:
    """A kind, the text as written, and its offset."""

    kind: str
    text: str
    start: int
    end: int


def tokenize(source: TemplateSource, mistakes: Mistakes) -> Iterator[Token]:
    """The tokens of a template, ending with one of kind `EOF`.

    An unclosed tag, or a character that a tag must not contain, is recorded as a mistake and replaced by a token of
    kind `BAD` and one that closes the tag.
    """
    return _Lexer(source, mistakes).tokens()


class _Lexer:
    def __init__(self, source: TemplateSource, mistakes: Mistakes) -> None:
        self.source, self.text, self.position, self.mistakes = source, source.text, 0, mistakes

    def tokens(self) -> Iterator[Token]:
        while self.position < len(self.text):
            yield from self.content()
            if self.text.startswith("{{", self.position):
                yield from self.tag()
        yield Token("EOF", "", len(self.text), len(self.text))

    def content(self) -> Iterator[Token]:
        """Text up to the next tag. A backslash before `{{` turns the tag into text; two produce a backslash and a
        tag.
        """
        while (start := self.position) < len(self.text):
            found = self.text.find("{{", start)
            end = len(self.text) if found < 0 else found
            slashes = _slashes(self.text, start, end) if found >= 0 else 0
            yield from self.slice(start, end - (slashes > 0))
            self.position = end
            if slashes != 1:
                return
            self.position = self.end_of_escape(end + 2)
            yield from self.slice(end, self.position)

    def end_of_escape(self, start: int) -> int:
        """The end of the text that a backslash protects: before the next tag, or before the backslashes of that tag."""
        found = self.text.find("{{", start)
        return len(self.text) if found < 0 else found - _slashes(self.text, start, found)

    def slice(self, start: int, end: int) -> Iterator[Token]:
        if end > start:
            yield Token("CONTENT", self.text[start:end], start, end)

    def tag(self) -> Iterator[Token]:
        start = self.position
        if self.text.startswith("{{{{", start):
            yield from self.raw_block(start)
            return
        mark = 3 if self.text.startswith("{{~", start) else 2
        if self.text.startswith("!", start + mark):
            yield self.comment(start, mark)
            return
        match = _OPENING.match(self.text, start)
        kind, end = _kind(match), match.end() if match else start + 2
        self.position = end
        yield Token(kind, self.text[start:end], start, end)
        if kind != "INVERSE":
            yield from self.inside(start)

    def inside(self, opening: int) -> Iterator[Token]:
        while True:
            match = _TOKEN.match(self.text, self.position)
            if match is None:
                self.mistakes.add(self.unreadable(opening))
                yield from self.rest_of_tag()
                return
            kind = _kind(match)
            token = Token(kind, match.group(), self.position, match.end())
            self.position = match.end()
            if kind == "SPACE":
                continue
            yield token
            if kind in _CLOSINGS:
                return

    def rest_of_tag(self) -> Iterator[Token]:
        """The unreadable rest of a tag, up to its end; if there is no end on its line, it is unclear what was a tag."""
        start = self.position
        ends = [self.text.find(mark, start) for mark in ("}}", "{{", "\n")]
        end = min((each for each in ends if each >= 0), default=len(self.text))
        is_closed = end == ends[0]
        self.mistakes.is_tangled |= not is_closed
        self.position = end + 2 * is_closed
        yield Token("BAD", self.text[start:end], start, end)
        yield Token("CLOSE", self.text[end : self.position], end, self.position)

    def unreadable(self, opening: int) -> Problem:
        name = _WORD.match(self.text, self.position)
        at = name.end() if name else self.position
        rest = self.text[at : at + 1]
        if rest == "[" and (found := habits.bracket(self.text, opening, at)):
            end, message, hint = found
            return self.source.problem(at, end, "unexpected-character", message, hint)
        if rest in {"<", "&", "!", ">"} and (rest != "<" or habits.is_comparison(self.text, at)):
            sign = habits.operator(self.text, at) or rest
            message = f"`{sign}` is not allowed here in a tag"
            return self.source.problem(at, at + len(sign), "unexpected-character", message, habits.compared(sign))
        if not rest or rest in "<{" or "\n" in self.text[opening:at]:
            hint = "close it with `}}`, or write `\\{{` for literal braces"
            return self.source.problem(opening, at, "unclosed-tag", "this tag is not closed", hint)
        if rest in _UNCLOSED:
            what, mark = _UNCLOSED[rest]
            message, hint = f"this {what} is not closed", f"close it with `{mark}`"
            return self.source.problem(at, at + 1, "unclosed-text", message, hint)
        hint = habits.called(self.text, opening, at) if rest == "(" else _hint(rest)
        return self.source.problem(at, at + 1, "unexpected-character", f"`{rest}` is not allowed here in a tag", hint)

    def comment(self, start: int, mark: int) -> Token:
        long = self.text.startswith("!--", start + mark)
        # The dashes of `{{!--}}` open and close it, as in Handlebars.js.
        close = (_LONG_COMMENT_END if long else _COMMENT_END).search(self.text, start + mark + 1)
        if close is None:
            hint = f"close it with `{'--' if long else ''}}}}}`"
            message = "this comment is not closed"
            self.mistakes.add(self.source.problem(start, start + mark + 1, "unclosed-comment", message, hint))
            self.mistakes.is_tangled = True
        self.position = close.end() if close else len(self.text)
        return Token("COMMENT", self.text[start : self.position], start, self.position)

    def raw_block(self, start: int) -> Iterator[Token]:
        self.position = start + 4
        yield Token("OPEN_RAW_BLOCK", "{{{{", start, start + 4)
        yield from self.inside(start)
        begin, depth = self.position, 1
        at = begin
        while depth:
            found = self.text.find("{{{{", at)
            if found < 0:
                message, hint = "this raw block is not closed", "close it with `{{{{/name}}}}`"
                self.mistakes.add(self.source.problem(start, begin, "unclosed-block", message, hint))
                self.mistakes.is_tangled = True
                self.position = len(self.text)
                yield Token("BAD", self.text[begin:], begin, self.position)
                return
            end = _RAW_END.match(self.text, found)
            depth += -1 if end else 1 if self.text[found + 4 : found + 5] != "/" else 0
            at = found + 4
            if end and not depth:
                yield Token("CONTENT", self.text[begin:found], begin, found)
                yield Token("END_RAW_BLOCK", end.group(1), found, end.end())
                self.position = end.end()


def _hint(character: str) -> str:
    return next((hint for characters, hint in _HINTS if character in characters), _HINTS[-1][1])


def _slashes(text: str, start: int, end: int) -> int:
    """The number of backslashes, at most two, before `end` and not before `start`."""
    return 2 if text.endswith("\\\\", start, end) else int(text.endswith("\\", start, end))


def _kind(match: re.Match[str] | None) -> str:
    return str(match.lastgroup).rpartition("_")[0] if match else "OPEN"


_DECIMAL = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


def number_of(text: str) -> float:
    """The number that JavaScript uses for a text in comparisons: 0 if blank, NaN if it is not a decimal number."""
    text = text.strip()
    if not text:
        return 0
    return float(text) if _DECIMAL.fullmatch(text) else math.nan


def number_text(value: float) -> str:
    """A boolean or number as JavaScript formats it (ECMA-262, Number::toString); integers below 1e21 are exact."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int) and abs(value) < 10**21:
        return str(value)
    try:
        return _float_text(float(value))
    except OverflowError:
        return "Infinity" if value > 0 else "-Infinity"


def _float_text(value: float) -> str:
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    if value == 0:
        return "0"
    sign = "-" if value < 0 else ""
    mantissa, _, exponent = f"{abs(value)!r}".partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction.removesuffix("0") if fraction == "0" else whole + fraction).lstrip("0")
    point = len(whole) + int(exponent or 0)
    if whole == "0":
        point -= len(fraction) - len(fraction.lstrip("0")) + 1
    digits = digits.rstrip("0") or "0"
    return sign + _place_point(digits, point)


def _place_point(digits: str, point: int) -> str:
    count = len(digits)
    if count <= point <= 21:
        return digits + "0" * (point - count)
    if 0 < point <= 21:
        return f"{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return f"0.{'0' * -point}{digits}"
    exponent = f"e{'+' if point > 0 else '-'}{abs(point - 1)}"
    return digits + exponent if count == 1 else f"{digits[0]}.{digits[1:]}{exponent}"
