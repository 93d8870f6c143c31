"""Random Handlebars templates, biased to odd whitespace and to what engines get wrong.

What is left out on purpose, because no engine outside JavaScript can or should do the same: two unescaped numbers side
by side (JavaScript adds them), functions in the data, and property names of JavaScript's own objects.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from handlebars_js.reference import Case
from handlebars_js.values import (
    ITEM,
    LISTS,
    OBJECTS,
    PRIVATE,
    SCALARS,
    TEXTS,
    random_data,
    random_private,
)

SPACES = ("", "", "", " ", "  ", "\n", "\n\n", " \n", "\n  ", "\t", "\r\n", " \r\n\t", "\u00a0", "\n \n ")
CONTENT = ("a", "b c", "x\n", ".\n  ", "<p>", "a}b", " }} ", " { ", "-- ", "~", "|", "\\ ", "\u2028", "\x0b", "\f")
INSIDE = ("", "", "", "", " ", "  ", "\n", "\t")
PASSED = "{{#if @partial-block}}\n  {{> @partial-block obj}}\n{{/if}}"
BLOCKS = ("", "", "", "{{#if @partial-block}}({{> @partial-block}}){{/if}}", PASSED)
"""What a partial may do with the block that it is called with."""
STRICT_BLOCKS = ("", "", "{{> @partial-block}}")
SCRAPS = (*"{}~#/^&>!|=.[]()@\"'* \n\\", "{{", "}}", "else", " as |x|", "{{{{", "}}}}", "{{else}}", "{{/if}}")
PARTIALS = ("card", "row", "note")


class Writer:
    """Writes one template; `wide` is everything that Handlebars knows, otherwise what every engine claims to know."""

    def __init__(self, random: Random, *, wide: bool, strict: bool = False) -> None:
        self.random, self.wide, self.strict = random, wide, strict
        self.params: list[str] = []
        self.partials: tuple[str, ...] = PARTIALS

    def program(self, depth: int = 3) -> str:
        parts = [self.spaces()]
        for _ in range(self.random.choice((0, 1, 1, 2, 2, 3))):
            parts += [self.statement(depth), self.spaces()]
        return "".join(parts)

    def statement(self, depth: int) -> str:
        kinds: list[Callable[[int], str]] = [self.content, self.mustache, self.comment, self.partial]
        if depth:
            kinds += [self.condition, self.condition, self.each, self.scope]
        if self.wide:
            kinds += [self.raw_mustache, self.escaped, self.helper_call]
            if depth:
                kinds += [self.section, self.helper_block, self.partial_block, self.inline, self.raw_block]
        return self.random.choice(kinds)(depth - 1)

    # -- text

    def spaces(self) -> str:
        return self.random.choice(SPACES)

    def content(self, _depth: int) -> str:
        return self.random.choice(CONTENT if self.wide else CONTENT[:5]) + self.spaces()

    def escaped(self, _depth: int) -> str:
        if self.random.random() < 0.5:
            return "\\" + self.random.choice(("{{name}}", "{{{name}}}", "{{#if}}", "{{", "{{> card}}", "{{!x}}"))
        return self.random.choice(("\\\\{{name}}", "\\\\\\{{name}}", "\\\\{{{name}}}", "\\\\{{!x}}"))

    def comment(self, _depth: int) -> str:
        if self.wide and self.random.random() < 0.5:
            body = self.random.choice((" {{name}} ", "", " }} ", "-", " a\n b ", "!"))
            return self.braces(f"!--{body}--")
        return self.braces("!" + self.random.choice((" x ", "", " a\n b ", "- x -")))

    # -- tags

    def tilde(self) -> str:
        return "~" if self.random.random() < 0.15 else ""

    def braces(self, inner: str) -> str:
        return "{{" + self.tilde() + inner + self.tilde() + "}}"

    def gap(self) -> str:
        return self.random.choice(INSIDE)

    def tag(self, inner: str, mark: str = "") -> str:
        if mark == "else":
            return self.braces(f"{self.gap()}else{' ' * bool(inner)}{inner}{self.gap()}")
        return self.braces(f"{mark}{self.gap()}{inner}{self.gap()}")

    def mustache(self, _depth: int) -> str:
        return self.tag(self.path())

    def raw_mustache(self, _depth: int) -> str:
        # A letter goes first: see the note at the top about numbers.
        if self.random.random() < 0.3:
            return f"r{self.tag(self.path(), '&')}"
        return "r{{{" + self.path() + self.gap() + "}}}"

    def helper_call(self, _depth: int) -> str:
        call = f"safe {self.value()}" if self.random.random() < 0.1 else self.call()
        return f"h{self.tag(call)}"

    def partial(self, _depth: int) -> str:
        name = self.random.choice(self.partials) if self.partials else ""
        if self.wide and self.random.random() < 0.1:
            return self.tag(f'(lookup this "which"){self.partial_arguments()}', ">")
        if not name:
            return ""
        return self.tag(name + (self.partial_arguments() if self.wide else ""), ">")

    def partial_arguments(self) -> str:
        context = f" {self.path()}" if self.random.random() < 0.3 else ""
        return context + (self.pairs() if self.random.random() < 0.3 else "")

    # -- blocks

    def block(self, name: str, rest: str, depth: int, mark: str = "#", params: tuple[str, ...] = ()) -> str:
        opening = f"{name} {rest}".rstrip() + (f" as |{' '.join(params)}|" if params else "")
        before, self.params = self.params, [*self.params, *params]
        body = self.program(depth)
        self.params = before
        return self.tag(opening, mark) + body + self.inverse(depth) + self.tag(name, "/")

    def inverse(self, depth: int) -> str:
        chance = self.random.random()
        if chance < 0.5:
            return ""
        if self.wide and chance < 0.65:
            kind = self.random.choice(("if", "if", "unless", "with", "each"))
            return self.tag(f"{kind} {self.path()}", "else") + self.program(depth) + self.inverse(depth)
        if self.wide and chance < 0.8:
            return self.braces(f"^{self.gap()}") + self.program(depth)
        return self.tag("", "else") + self.program(depth)

    def condition(self, depth: int) -> str:
        extra = " includeZero=true" if self.wide and self.random.random() < 0.1 else ""
        return self.block(self.random.choice(("if", "if", "unless")), self.value() + extra, depth)

    def each(self, depth: int) -> str:
        items = '(lookup this "list")' if self.wide and self.random.random() < 0.1 else self.list_path()
        return self.block("each", items, depth, params=self.block_params(2))

    def scope(self, depth: int) -> str:
        return self.block("with", self.path(), depth, params=self.block_params(1))

    def block_params(self, count: int) -> tuple[str, ...]:
        if not self.wide or self.random.random() < 0.7:
            return ()
        return tuple(self.random.sample(("it", "key", "name", "list"), self.random.randint(1, count)))

    def section(self, depth: int) -> str:
        mark = self.random.choice(("#", "#", "^"))
        name = self.random.choice((self.path(), self.list_path()))
        if mark == "^":
            other = self.tag("", "else") + self.program(depth) if self.random.random() < 0.3 else ""
            return self.tag(name, "^") + self.program(depth) + other + self.tag(name, "/")
        return self.block(name, "", depth)

    def helper_block(self, depth: int) -> str:
        kind = self.random.choice(("wrap", "choose", "inside", "entries", "marked"))
        if kind == "entries":
            return self.block(kind, self.list_path(), depth, params=self.block_params(3))
        return self.block(kind, "" if kind == "wrap" else self.value(), depth)

    def partial_block(self, depth: int) -> str:
        name = self.random.choice((*self.partials, "missing"))
        arguments = self.partial_arguments()
        return self.tag(name + arguments, "#>") + self.program(depth) + self.tag(name, "/")

    def inline(self, depth: int) -> str:
        name = self.random.choice(("card", "own"))
        quoted = self.random.choice((f'"{name}"', f"'{name}'"))
        before, self.params = self.params, []
        body = self.program(depth)
        self.params = before
        call = self.tag(f"own{self.partial_arguments()}", ">") if name == "own" else ""
        return self.tag(f"inline {quoted}", "#*") + body + self.tag("inline", "/") + call

    def raw_block(self, _depth: int) -> str:
        name = self.random.choice(("verbatim", "verbatim", "name", "absent"))
        body = self.random.choice(("{{name}}", " {{#if}} ", "", "\n{{{x}}}\n", "{{{{in}}}} y {{{{/in}}}}", "x"))
        return "{{{{" + name + "}}}}" + body + "{{{{/" + name + "}}}}"

    # -- expressions

    def path(self) -> str:
        choose = self.random.choice
        if self.params and self.random.random() < 0.5:
            return choose(self.params) + choose(("", "", "", "") if self.strict else ("", "", ".name", ".[0]"))
        simple = choose(choose((SCALARS, SCALARS, LISTS, OBJECTS, ITEM)))
        simple = simple if simple != "log" else "./log"
        if not self.wide:
            return choose((simple if simple not in {"1", "if", "./log"} else "name", "this", f"obj.{choose(ITEM)}"))
        if simple == "if":
            simple = choose(("this.if", "[if].x", "./if"))
        return choose((simple, simple, self.long_path(), self.odd_path()))

    def long_path(self) -> str:
        choose = self.random.choice
        head = choose((choose(OBJECTS), choose(LISTS), "this", ".", "..", "../..", "@root", "../this"))
        separator = choose((".", "/"))
        tail = separator.join(choose((*ITEM, "[0]", "[1]", "length", "deep")) for _ in range(choose((0, 1, 1, 2))))
        if head == "." and tail:
            return f"./{tail}"
        return f"{head}{'/' if head.endswith('..') else separator}{tail}" if tail else head

    def odd_path(self) -> str:
        choose = self.random.choice
        data = ("@index", "@key", "@first", "@last", "@../index", "@../key", f"@{choose(PRIVATE)}", "@mark.list.[0]")
        odd = ("[two words].[a.b]", "[two words].[c\\]d]", '"two words"', "[a-b]", "a-b", "12", "1", "true", "null")
        return choose((choose(data), choose(odd)))

    def list_path(self) -> str:
        choose = self.random.choice
        wide = (choose(OBJECTS), "this", "../list", "@root.things", "tags", self.path())
        return choose((choose(LISTS), choose(wide) if self.wide else "this"))

    def value(self) -> str:
        if not self.wide:
            return self.path()
        return self.random.choice((self.path, self.path, self.literal, self.subexpression))()

    def literal(self) -> str:
        text = self.random.choice(TEXTS).replace('"', "")
        return self.random.choice(
            ("true", "false", "null", "undefined", "0", "-1", "1.50", "12", f'"{text}"', "'q\"q'", '"e\\"e"')
        )

    def subexpression(self) -> str:
        return f"({self.call()})"

    def call(self) -> str:
        kind = self.random.choice(("join", "upper", "either", "pair", "pairs", "lookup"))
        if kind == "pairs":
            return f"pairs{self.pairs()}"
        if kind == "lookup":
            return f"lookup {self.path()} {self.value()}"
        count = {"upper": 1, "either": 2, "pair": 2}.get(kind, self.random.randint(1, 3))
        return " ".join([kind, *(self.value() for _ in range(count))])

    def pairs(self) -> str:
        keys = self.random.sample(("name", "list", "a", "x-y", "[k k]", "which"), self.random.randint(1, 2))
        return "".join(f" {key}={self.value()}" for key in keys)


def random_case(random: Random, *, wide: bool, strict: bool = False) -> Case:
    """One template with data, and partials that call only later ones, so that they end.

    Args:
        random: where the choices come from.
        wide: everything that Handlebars knows, or what every engine claims to know.
        strict: without two things in which our strict mode is another one: in Handlebars.js `{{#if @partial-block}}`
            runs the block without its context, and what is missing in a block parameter is no mistake.
    """
    partials = {}
    for index, name in enumerate(PARTIALS):
        writer = Writer(random, wide=wide, strict=strict)
        writer.partials = PARTIALS[index + 1 :]
        inner = writer.program(2)
        block = random.choice(STRICT_BLOCKS if strict else BLOCKS) if wide else ""
        partials[name] = inner + block
    template = Writer(random, wide=wide, strict=strict).program()
    return Case(template, random_data(random), partials, random_private(random) if wide else {}, strict=strict)


def broken_case(random: Random) -> Case:
    """A template with a few characters lost, doubled, swapped or put in at random."""
    template = Writer(random, wide=True).program(2)
    for _ in range(random.choice((1, 1, 2, 3))):
        at, much = random.randrange(len(template) + 1), random.choice((1, 1, 2, 3))
        added = random.choice(("", "", template[at : at + much] * 2, *SCRAPS))
        template = template[:at] + added + template[at + much :]
    return Case(template, random_data(random), {name: name for name in PARTIALS})
