"""A syntax tree to Python source. Template text reaches the source only through `repr`, names only as numbers."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from cuecard.errors import Problem, TemplateSyntaxError, did_you_mean
from cuecard.model import Json
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
    as_path,
)
from cuecard.template.source import Source

Helper = Callable[..., Json]
"""A function on values: positional parameters, then `name=value` pairs as keywords; or a parameter named `options`."""

BLOCKS = ("if", "unless", "each", "with")
BUILT_IN = (*BLOCKS, "lookup", "log", "helperMissing", "blockHelperMissing")

_INLINED = 8
"""How deep branches are written into one function: Python limits how deep code may be indented."""


@dataclass(frozen=True, slots=True)
class Rules:
    """What a template is compiled by."""

    strict: bool
    assume_objects: bool
    helpers: Mapping[str, Helper]
    partials: Collection[str]
    attributes: Collection[int] = frozenset()


@dataclass(slots=True)
class Generated:
    """Python source; its functions take context, data, scope, block parameters, environment. `entry` is the first."""

    source: str
    entry: str
    places: list[tuple[int, int]]
    constants: dict[str, Any]


def generate(program: Program, source: Source, rules: Rules) -> Generated:
    """The code of a program.

    Raises:
        TemplateSyntaxError: for an unknown helper or partial, where that is certain, and for wrong arguments.
    """
    writer = _Writer(source, rules)
    entry = writer.function(program, ())
    if writer.problems:
        raise TemplateSyntaxError(writer.problems)
    return Generated("\n".join(writer.finished), entry, writer.places, writer.constants)


@dataclass(slots=True)
class _Function:
    lines: list[str] = field(default_factory=list)
    indent: int = 1
    temporaries: int = 0

    def add(self, line: str) -> None:
        self.lines.append("    " * self.indent + line)

    def temporary(self) -> str:
        self.temporaries += 1
        return f"v{self.temporaries}"


class _Writer:
    def __init__(self, source: Source, rules: Rules) -> None:
        self.source, self.rules = source, rules
        self.finished: list[str] = []
        self.places: list[tuple[int, int]] = []
        self.constants: dict[str, Any] = {}
        self.problems: list[Problem] = []
        self.functions = 0

    # -- functions

    def function(self, program: Program, params: tuple[tuple[str, ...], ...]) -> str:
        """Write a program as a function; its name."""
        self.functions += 1
        name = f"p{self.functions}"
        if program.block_params:
            params = (program.block_params, *params)
        inlines = self.inlines(program, params, name)
        out = _Function()
        if inlines:
            out.add(f"k = {inlines}(c, d, s, b, k)")
        out.add("o = []; a = o.append")
        self.body(program, params, out)
        out.add("return ''.join(o)")
        self.finished += [f"def {name}(c, d, s, b, k):", *out.lines]
        return name

    def inlines(self, program: Program, params: tuple[tuple[str, ...], ...], name: str) -> str:
        """Write a function that adds a program's inline partials to the environment; its name, if there are any."""
        blocks = [node for node in program.body if isinstance(node, Block) and node.decorator]
        if not blocks:
            return ""
        lines = [f"def x{name}(c, d, s, b, k):", "    k = Env(dict(k.partials), k.depth)"]
        for block in blocks:
            if len(block.call.params) != 1 or block.program is None:
                hint = 'write `{{#*inline "name"}}`'
                self.report(block.call, "wrong-arguments", "an inline partial has one name", hint)
                continue
            body = self.function(block.program, params)
            key = self.value(block.call.params[0], params)
            lines.append(f"    k.partials[str({key})] = Fn({body}, d, s, b, k).as_partial")
        self.finished += [*lines, "    return k"]
        return f"x{name}"

    def body(self, program: Program, params: tuple[tuple[str, ...], ...], out: _Function) -> None:
        for node in program.body:
            self.statement(node, params, out)

    def statement(self, node: Statement, params: tuple[tuple[str, ...], ...], out: _Function) -> None:
        if isinstance(node, Content):
            if text := self.source.text[node.first : node.last]:
                out.add(f"a({text!r})")
        elif isinstance(node, Mustache):
            self.mustache(node, params, out)
        elif isinstance(node, Partial):
            self.partial(node, params, out)
        elif isinstance(node, Block) and not node.decorator:
            self.block(node, params, out)
        else:
            out.add("pass") if isinstance(node, Comment) else None

    # -- statements

    def mustache(self, node: Mustache, params: tuple[tuple[str, ...], ...], out: _Function) -> None:
        head = as_path(node.call.head)
        if head.is_simple and head.parts[0] in BLOCKS and not self.bound(head, params) and not head.data:
            name = head.parts[0]
            if name not in self.rules.helpers and (node.call.has_arguments or not self.rules.strict):
                hint = f"write `{{{{#{name} ...}}}} ... {{{{/{name}}}}}`"
                self.report(node, "not-a-block", f"`{name}` is a block", hint)
                return
        value = self.invoke(node.call, params)
        printer = "E" if node.escaped else "A" if node.start in self.rules.attributes else "T"
        out.add(f"a({printer}({value}, {self.place(node)}))")

    def partial(self, node: Partial, params: tuple[tuple[str, ...], ...], out: _Function) -> None:
        call = node.call
        if len(call.params) > 1:
            message = f"a partial takes one context, not {len(call.params)}"
            self.report(node, "wrong-arguments", message, "pass the others as `name=value`")
        if isinstance(call.head, Call):
            name = self.invoke(call.head, params)
        else:
            original = call.head.original
            name = repr(original)
            known = original in self.rules.partials or original == "@partial-block" or node.program is not None
            if self.rules.strict and not known:
                hint = did_you_mean(original, self.rules.partials) or "put it into the partials folder"
                self.report(node, "unknown-partial", f"no partial is called `{original}`", hint)
        context = self.value(call.params[0], params) if call.params else "c"
        pairs = self.pairs(call, params) if call.hash else "None"
        block = self.branch(node.program, params, environment=True) if node.program else "None"
        place = self.place(node)
        out.add(f"a(partial({name}, {context}, {pairs}, (d, s, k), {block}, {node.indent!r}, {place}))")

    def block(self, node: Block, params: tuple[tuple[str, ...], ...], out: _Function) -> None:
        head = as_path(node.call.head)
        name = head.parts[0] if head.is_simple and not head.data and not self.bound(head, params) else ""
        if name in BLOCKS and name not in self.rules.helpers:
            self.built_in(name, node, params, out)
        elif name in self.rules.helpers or node.call.has_arguments or name in {"lookup", "log"}:
            out.add(f"a(T_({self.invoke(node.call, params, node)}, {self.place(node)}))")
        else:
            self.section(node, params, out)

    def built_in(self, name: str, node: Block, params: tuple[tuple[str, ...], ...], out: _Function) -> None:
        if len(node.call.params) != 1:
            message = f"`{name}` takes one value, not {len(node.call.params)}"
            self.report(node.call, "wrong-arguments", message, f"write `{{{{#{name} value}}}}`")
            return
        value, place, held = self.value(node.call.params[0], params), self.place(node.call), out.temporary()
        if name in {"if", "unless"}:
            zero = next((self.value(v, params) for k, v in node.call.hash if k == "includeZero"), "")
            extra = f", include_zero=not falsy({zero}, {place})" if zero else ""
            out.add(f"if {'' if name == 'unless' else 'not '}falsy({value}, {place}{extra}):")
            self.inline(node.program, params, out)
            if node.inverse:
                out.add("else:")
                self.inline(node.inverse, params, out)
            return
        branch = self.branch(node.program or Program([]), params)
        if name == "each":
            out.add(f"{held} = each({value}, {branch}, {place})")
        else:
            out.add(f"{held} = {value}")
            out.add(
                f"{held} = None if falsy({held}, {place}, include_zero=True) else {branch}({held}, None, ({held},))"
            )
        self.print_or_else(held, node.inverse, params, out)

    def section(self, node: Block, params: tuple[tuple[str, ...], ...], out: _Function) -> None:
        """`{{#x}}` of a value: JavaScript's blockHelperMissing, or the one that was supplied."""
        value, place, held = self.invoke(node.call, params), self.place(node), out.temporary()
        if "blockHelperMissing" in self.rules.helpers:
            options = self.options(node.call, params, node)
            helper = self.helper("blockHelperMissing")
            wants = wants_options(self.rules.helpers["blockHelperMissing"])
            out.add(f"a(T_(call({helper}, ({value},), {options}, {place}, wants_options={wants}), {place}))")
            return
        branch = self.branch(node.program, params) if node.program else "None"
        out.add(f"{held} = section({value}, {branch}, c, {place})")
        self.print_or_else(held, node.inverse, params, out)

    def print_or_else(
        self, held: str, inverse: Program | None, params: tuple[tuple[str, ...], ...], out: _Function
    ) -> None:
        out.add(f"if {held} is not None: a({held})")
        if inverse:
            out.add("else:")
            self.inline(inverse, params, out)

    def inline(self, program: Program | None, params: tuple[tuple[str, ...], ...], out: _Function) -> None:
        """A branch that keeps its context, written into the same function."""
        with _indented(out):
            plain = program is None or not (
                program.block_params or any(isinstance(n, Block) and n.decorator for n in program.body)
            )
            if program is None or not program.body:
                out.add("pass")
            elif plain and out.indent <= _INLINED:
                self.body(program, params, out)
                out.add("pass")
            else:
                out.add(f"a({self.branch(program, params)}(c))")

    def branch(self, program: Program, params: tuple[tuple[str, ...], ...], *, environment: bool = False) -> str:
        """A branch as a value that helpers and loops can call."""
        name = self.function(program, params)
        takes = bool(program.block_params)
        decorated = any(isinstance(n, Block) and n.decorator for n in program.body)
        env = f"x{name}(c, d, s, b, k)" if environment and decorated else "k"
        return f"Fn({name}, d, s, b, {env}, {takes})"

    # -- expressions

    def invoke(self, call: Call, params: tuple[tuple[str, ...], ...], block: Block | None = None) -> str:
        """The value of a head with its arguments: a helper's result, or what the path leads to."""
        if isinstance(call.head, Call):
            return self.invoke(call.head, params)
        head = as_path(call.head)
        simple = head.is_simple and not head.data and not self.bound(head, params)
        name = head.parts[0] if simple else ""
        if name in self.rules.helpers:
            return self.call_helper(name, call, params, block)
        if name == "lookup" and call.has_arguments:
            return self.call_lookup(call, params)
        if name == "log" and (call.has_arguments or not self.rules.strict):
            return "None"
        if call.has_arguments:
            return self.missing_helper(head, call, params, block)
        return self.path(head, params, strict=True)

    def call_helper(
        self, name: str, call: Call, params: tuple[tuple[str, ...], ...], block: Block | None, *, shown: str = ""
    ) -> str:
        arguments = "".join(f"{self.value(p, params)}, " for p in call.params)
        options = self.options(call, params, block, shown)
        wants = wants_options(self.rules.helpers[name])
        return f"call({self.helper(name)}, ({arguments}), {options}, {self.place(call)}, wants_options={wants})"

    def call_lookup(self, call: Call, params: tuple[tuple[str, ...], ...]) -> str:
        if len(call.params) != 2:
            return self.report(call, "wrong-arguments", "`lookup` takes a value and a key", "write `lookup value key`")
        value, key = (self.value(p, params) for p in call.params)
        return f"L({value}, text({key}, {self.place(call)}))"

    def missing_helper(self, head: Path, call: Call, params: tuple[tuple[str, ...], ...], block: Block | None) -> str:
        if "helperMissing" in self.rules.helpers:
            return self.call_helper("helperMissing", call, params, block, shown=head.original)
        message = f"no helper is called `{head.original}`"
        hint = did_you_mean(head.original, [*self.rules.helpers, *BUILT_IN[:6]])
        if self.rules.strict:
            return self.report(head, "unknown-helper", message, hint)
        return f"fail({self.place(head)}, 'unknown-helper', {message!r}, {hint!r})"

    def options(self, call: Call, params: tuple[tuple[str, ...], ...], block: Block | None, shown: str = "") -> str:
        name = shown or as_path(call.head if not isinstance(call.head, Call) else call.head.head).original
        branches = [(b and self.branch(b, params)) or "None" for b in ((block.program, block.inverse) if block else ())]
        return f"Options({', '.join([repr(name), self.pairs(call, params), 'c', 'd', *branches])})"

    def pairs(self, call: Call, params: tuple[tuple[str, ...], ...]) -> str:
        return "{" + ", ".join(f"{key!r}: {self.value(value, params)}" for key, value in call.hash) + "}"

    def value(self, node: Expression, params: tuple[tuple[str, ...], ...]) -> str:
        if isinstance(node, Literal):
            return repr(node.value)
        if isinstance(node, Call):
            return self.invoke(node, params)
        return self.path(node, params)

    def path(self, path: Path, params: tuple[tuple[str, ...], ...], *, strict: bool = False) -> str:
        """Lookups from the inside out; with `strict` the last one must succeed."""
        parts, found = path.parts, self.bound(path, params)
        if path.data:
            code = f"up(d, {path.depth})" if path.depth else "d"
        elif found:
            depth, index = found
            code, parts = f"L(b{'[1]' * depth}[0], '{index}')", parts[1:]
        else:
            code = f"outer(s, {path.depth})" if path.depth else "c"
        for position, part in enumerate(parts):
            if self.rules.strict and strict and position == len(parts) - 1:
                code = f"S({code}, {part!r}, {self.place(path)})"
            elif self.rules.strict or self.rules.assume_objects:
                code = f"M({code}, {part!r}, {self.place(path)})"
            else:
                code = f"L({code}, {part!r})"
        return code

    def bound(self, path: Path, params: tuple[tuple[str, ...], ...]) -> tuple[int, int] | None:
        """Where a path's first part is a block parameter: levels out, and position."""
        if path.data or path.depth or path.scoped or not path.parts:
            return None
        for depth, names in enumerate(params):
            if path.parts[0] in names:
                return depth, names.index(path.parts[0])
        return None

    # -- constants and errors

    def helper(self, name: str) -> str:
        for key, value in self.constants.items():
            if value is self.rules.helpers[name]:
                return key
        key = f"h{len(self.constants)}"
        self.constants[key] = self.rules.helpers[name]
        return key

    def place(self, node: Statement | Expression) -> int:
        self.places.append((node.start, node.end))
        return len(self.places) - 1

    def report(self, node: Statement | Expression, code: str, message: str, hint: str) -> str:
        """Note a mistake and go on, so that all of them are told at once."""
        self.problems.append(self.source.problem(node.start, node.end, code, message, hint))
        return "None"


@contextmanager
def _indented(out: _Function) -> Iterator[None]:
    out.indent += 1
    yield
    out.indent -= 1


def wants_options(helper: Helper) -> bool:
    """Whether a helper has a parameter named `options`."""
    try:
        return "options" in inspect.signature(helper).parameters
    except (TypeError, ValueError):
        return False
