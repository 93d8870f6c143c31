"""pybars3 as a second backend: it runs the blocks, resolves the paths and prints the text of what our parser has read.

Our parser, whitespace control and checks come first, whichever backend follows. What pybars3 0.9.7 would render wrongly
is then written in a way that it renders rightly, or refused with the reason:

- Each tag becomes a call of one of the functions below, with the number of its node: values are printed, judged, walked
  and escaped by the same runtime as ever, and errors know their place. An `{{else if}}` becomes a block in a block.
- Names reach pybars3 only in brackets, and only those that it cannot mistake for Python; literals stay here.
- Values are wrapped: pybars3 finds keys and items in them, never attributes or methods.

The only module that knows pybars3.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from cuecard.errors import CuecardError, Problem, TemplateRenderError, TemplateSyntaxError
from cuecard.template.backend import Code
from cuecard.template.codegen import generate
from cuecard.template.nodes import (
    Block,
    Call,
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
from cuecard.template.rules import BLOCKS, BUILT_IN, HOOKS, Rules, wants_options
from cuecard.template.runtime import Runtime, found_in
from cuecard.template.scope import NULL_CONTEXT, Body, Data, Env, Fn, Options, Scope, outer, up
from cuecard.template.source import Source
from cuecard.template.values import has, lookup

if TYPE_CHECKING:
    from cuecard.model import Json

_COMPILING = threading.Lock()
"""All compilers of pybars3 share one state: two at a time mix up their templates."""

_OWN_NAMES = ("", ".", "/", "this")
"""Names that pybars3 reads as a step to nowhere, even in brackets."""


def pybars3(program: Program, source: Source, rules: Rules) -> Code:
    """A backend for `compile_template`: pybars3 compiles what our parser has read.

    Raises:
        TemplateSyntaxError: for what our own backend refuses, for every construct that pybars3 cannot render, and when
            pybars3 is not installed.
    """
    if find_spec("pybars") is None:
        hint = "run `pip install 'cuecard[pybars3]'`, or choose the backend `cuecard`"
        raise TemplateSyntaxError(Problem("backend-missing", "pybars3 is not installed", hint, source.name))
    generate(program, source, rules)
    writer = _Writer(source, rules)
    text = writer.program(program)
    if writer.problems:
        raise TemplateSyntaxError(writer.problems)
    places = [(node.start, node.end) for node in writer.nodes]
    return Code(places, lambda runtime: _load(text, _Functions(runtime, writer.nodes, rules)))


def _load(text: str, functions: _Functions) -> Body:
    source, table = functions.runtime.source, functions.table()
    with _wrapped(source, TemplateSyntaxError):
        render = _compile(text)

    def body(context: Json, data: Data, scope: Scope, _params: Any, env: Env) -> str:
        with _wrapped(source, TemplateRenderError):
            return str(render(_Frame(context, data, scope, env), helpers=table))

    return body


def _compile(text: str) -> Any:
    import pybars  # noqa: PLC0415 - optional, and takes a third of a second to load

    with _COMPILING:
        compiler = pybars.Compiler()
        # Whitespace is settled already, and its pattern takes exponential time on a line of empty blocks.
        compiler.whitespace_control = lambda written: written
        render = compiler.compile(text)
        # It would stay there for ever, once for every version of every template.
        sys.modules.pop(render.__module__, None)
        return render


@contextmanager
def _wrapped(source: Source, kind: type[CuecardError]) -> Iterator[None]:
    try:
        yield
    except (CuecardError, RecursionError):
        raise
    except Exception as error:
        message = f"pybars3 failed: {type(error).__name__}: {error}"
        hint = "choose the backend `cuecard`, and report this template"
        raise kind(Problem("backend-failed", message, hint, source.name)) from error


@dataclass(frozen=True, slots=True)
class _Read:
    """A value on the way along a path, what it was found in, and how the next step is taken."""

    value: Json
    owner: Json = None
    step: Callable[[Json, str], Json] = lookup

    def __getitem__(self, name: str) -> _Read:
        return _Read(self.step(self.value, name), self.value, self.step)


@dataclass(frozen=True, slots=True)
class _Frame:
    """Where a branch is rendered: what pybars3 takes for its context. `boxed`: null is an object as `this`."""

    context: Json
    data: Data
    scope: Scope
    env: Env
    boxed: bool = False

    def __getitem__(self, name: str) -> _Read:
        if not name.startswith("@"):
            return _Read(lookup(self.context, name), self.context)
        kind, _, depth = name.partition("-")
        step = found_in if kind == "@private" else lookup
        return _Read(self.start(int(depth), data=kind != "@outer"), step=step)

    def start(self, depth: int, *, data: bool) -> Json:
        """Where a path begins: `../` leads out of contexts, `@../` out of frames of `@data`."""
        if data:
            return up(self.data, depth)
        return outer(self.scope, depth) if depth else self.context

    @property
    def this(self) -> Json:
        """The context as a value."""
        return NULL_CONTEXT if self.boxed and self.context is None else self.context

    def inside(self) -> _Frame:
        """The same frame, in a branch that keeps the context."""
        return replace(self, boxed=True)


class _Writer:
    """Writes a program as text for pybars3; what a tag refers to by number stands in `nodes`."""

    def __init__(self, source: Source, rules: Rules) -> None:
        self.source, self.rules = source, rules
        self.nodes: list[Statement | Expression] = []
        self.problems: list[Problem] = []

    def program(self, program: Program | None) -> str:
        return "".join(map(self.statement, program.body)) if program else ""

    def statement(self, node: Statement) -> str:
        if isinstance(node, Content):
            return self.content(node)
        if isinstance(node, Mustache):
            printer = "html" if node.escaped else "attribute" if node.start in self.rules.attributes else "bare"
            return self.printed(printer, node, self.invoke(node.call))
        if isinstance(node, Partial):
            return self.partial(node)
        return self.block(node) if isinstance(node, Block) else ""

    def content(self, node: Content) -> str:
        text = self.source.text[node.first : node.last]
        # pybars3 takes any `{{` for a tag, and drops the carriage return of a line break.
        plain = "{{" not in text and not text.endswith("{") and "\r" not in text
        return text if plain else self.printed("content", node)

    def printed(self, function: str, node: Statement, *values: str) -> str:
        return f"{{{{{{{self.called(function, node, *values)}}}}}}}"

    def called(self, function: str, node: Statement | Expression, *values: str) -> str:
        return " ".join([function, self.number(node), *values])

    def number(self, node: Statement | Expression) -> str:
        self.nodes.append(node)
        return str(len(self.nodes) - 1)

    def partial(self, node: Partial) -> str:
        if node.program:
            self.refuse(node, "pybars3 cannot read a partial with a block (`{{#> ...}}`)")
        name = [self.invoke(node.call.head)] if isinstance(node.call.head, Call) else []
        return self.printed("partial", node, *name, *self.arguments(node.call))

    def block(self, node: Block) -> str:
        if node.decorator or node.raw:
            inline, raw = "cannot read an inline partial", "prints a raw block even where its helper is missing"
            self.refuse(node.call, f"pybars3 {inline if node.decorator else raw}")
            return ""
        if any(branch and branch.block_params for branch in (node.program, node.inverse)):
            self.refuse(node.call, "pybars3 cannot read block parameters (`as |name|`)")
        name = _name(node.call)
        supplied = name in self.rules.helpers
        if name in BLOCKS and not supplied:
            return self.built_in(name, node)
        if supplied:
            opening = self.called("block", node, self.number(node.call), *self.arguments(node.call))
            return self.branches(node, "block", opening)
        if name in BUILT_IN or node.call.has_arguments:
            return self.printed("plain", node, self.invoke(node.call))
        return self.branches(node, "section", self.called("section", node, self.invoke(node.call)))

    def built_in(self, name: str, node: Block) -> str:
        if len(node.call.params) != 1:
            self.refuse(node.call, f"pybars3 does not tell that `{name}` takes one value")
        zero = [value for key, value in node.call.hash if key == "includeZero"][:1] if name in {"if", "unless"} else []
        values = [self.value(each) for each in (*node.call.params, *zero)]
        return self.branches(node, name, self.called(name, node.call, *values))

    def branches(self, node: Block, name: str, opening: str) -> str:
        inverse = f"{{{{else}}}}{self.program(node.inverse)}" if node.inverse else ""
        return f"{{{{#{opening}}}}}{self.program(node.program)}{inverse}{{{{/{name}}}}}"

    def invoke(self, call: Call) -> str:
        """A head with its arguments, decided as our own backend does."""
        if any(hook in self.rules.helpers for hook in HOOKS):
            self.refuse(call, f"pybars3 calls helpers named `{'` and `'.join(HOOKS)}` by rules of its own")
        head, name = as_path(call.head), _name(call)
        if name in self.rules.helpers:
            return f"({self.called('call', call, *self.arguments(call))})"
        if name in BUILT_IN and (call.has_arguments or call.nested or not self.rules.strict):
            if name != "log" and (name != "lookup" or len(call.params) != 2):
                self.refuse(call, f"pybars3 does not tell that `{name}` cannot be called like this")
            return f"({self.called(name, call, *self.arguments(call))})"
        if call.has_arguments or call.nested:
            self.refuse(call, f"pybars3 does not tell that `{head.original}` is no helper")
        return self.path(head, "must")

    def arguments(self, call: Call) -> list[str]:
        return [self.value(each) for each in (*call.params, *(value for _, value in _pairs(call)))]

    def value(self, node: Expression) -> str:
        if isinstance(node, Literal):
            return f"({self.called('literal', node)})"
        return self.invoke(node) if isinstance(node, Call) else self.path(node, "path")

    def path(self, path: Path, function: str) -> str:
        data = "@data" if self.rules.strict or self.rules.assume_objects else "@private"
        start = f"{data}-{path.depth}" if path.data else f"@outer-{path.depth}" if path.depth else ""
        for part in path.parts:
            if part in _OWN_NAMES or part.startswith("@") or not part.isprintable() or set(part) & set("'\\]"):
                self.refuse(path, f"pybars3 misreads the name `{part}` in a path")
        segments = [f"[{part}]" for part in (start, *path.parts) if part]
        return f"({self.called(function, path, '.'.join(segments) or '.')})"

    def refuse(self, node: Statement | Expression, message: str) -> None:
        hint = "write it another way, or choose the backend `cuecard`"
        self.problems.append(self.source.problem(node.start, node.end, "backend-unsupported", message, hint))


@dataclass(frozen=True, slots=True)
class _Functions:
    """What pybars3 calls, each with its scope, the number of a node, and values; blocks also get their branches."""

    runtime: Runtime
    nodes: list[Statement | Expression]
    rules: Rules

    def table(self) -> dict[str, Callable[..., Any]]:
        """The functions by the names that the writer gives them."""
        return {
            "html": _printer(self.runtime.html),
            "bare": _printer(self.runtime.bare),
            "attribute": _printer(self.runtime.attribute),
            "plain": _printer(self.runtime.text),
            "content": self.content,
            "literal": self.literal,
            "path": self.path,
            "must": self.must,
            "lookup": self.lookup,
            "log": lambda _this, _number, *_values: None,
            "call": self.call,
            "partial": self.partial,
            "if": self.if_,
            "unless": self.unless,
            "each": self.each,
            "with": self.with_,
            "section": self.section,
            "block": self.block,
        }

    # -- text and values

    def content(self, _this: Any, number: int) -> str:
        node: Any = self.nodes[number]
        return self.runtime.source.text[node.first : node.last]

    def literal(self, _this: Any, number: int) -> Json:
        node: Any = self.nodes[number]
        return node.value

    def path(self, this: Any, number: int, found: Any, *, must: bool = False) -> Json:
        """What pybars3 found; where it is missing, the way is gone again, so that the first missing name is told."""
        if isinstance(found, _Frame):
            return found.this
        node: Any = self.nodes[number]
        if found.value is None or (must and node.parts and not has(found.owner, node.parts[-1])):
            self.check(this.context, number, must=must)
        value: Json = found.value
        return value

    def must(self, this: Any, number: int, found: Any) -> Json:
        return self.path(this, number, found, must=self.rules.strict)

    def check(self, frame: _Frame, number: int, *, must: bool) -> None:
        if not (self.rules.strict or self.rules.assume_objects):
            return
        node: Any = self.nodes[number]
        value = frame.start(node.depth, data=node.data)
        for position, part in enumerate(node.parts, 1):
            step = self.runtime.strict if must and position == len(node.parts) else self.runtime.assume
            value = step(value, part, number)

    def lookup(self, _this: Any, number: int, value: Json, key: Json) -> Json:
        return self.runtime.lookup(value, key, number)

    def call(self, this: Any, number: int, *values: Json, fn: Fn | None = None, inverse: Fn | None = None) -> Json:
        call: Any = self.nodes[number]
        name = as_path(call.head)
        helper = self.rules.helpers[name.parts[0]]
        params, pairs = _arguments(call, values)
        options = Options(name.original, pairs, this.context.this, this.context.data, fn, inverse)
        return self.runtime.call(helper, params, options, number, wants_options=wants_options(helper))

    def partial(self, this: Any, number: int, *values: Json) -> str:
        node: Any = self.nodes[number]
        frame: _Frame = this.context
        dynamic = isinstance(node.call.head, Call)
        name = values[0] if dynamic else node.call.head.original
        params, pairs = _arguments(node.call, values[dynamic:])
        context = params[0] if params else frame.this
        added = pairs if node.call.hash else None
        return self.runtime.partial(
            name, context, added, (frame.data, frame.scope, frame.env), None, node.indent, number
        )

    # -- blocks

    def if_(self, this: Any, branches: Any, number: int, value: Json, zero: Json = None) -> Any:
        falsy = self.runtime.falsy(value, number, include_zero=not self.runtime.falsy(zero, number))
        return branches["inverse" if falsy else "fn"](this.context.inside())

    def unless(self, this: Any, branches: Any, number: int, value: Json, zero: Json = None) -> Any:
        return self.if_(this, {"fn": branches["inverse"], "inverse": branches["fn"]}, number, value, zero)

    def each(self, this: Any, branches: Any, number: int, value: Json) -> Any:
        text = self.runtime.each(value, _branch(this.context, branches["fn"]), number)
        return branches["inverse"](this.context.inside()) if text is None else text

    def with_(self, this: Any, branches: Any, number: int, value: Json) -> Any:
        text = self.runtime.within(value, _branch(this.context, branches["fn"]), number)
        return branches["inverse"](this.context.inside()) if text is None else str(text)

    def section(self, this: Any, branches: Any, number: int, value: Json) -> Any:
        frame: _Frame = this.context
        text = self.runtime.section(value, _branch(frame, branches["fn"]), frame.context, number)
        return branches["inverse"](frame) if text is None else str(text)

    def block(self, this: Any, branches: Any, number: int, call: int, *values: Json) -> str:
        node: Any = self.nodes[number]
        fn = _branch(this.context, branches["fn"]) if node.program else None
        inverse = _branch(this.context, branches["inverse"]) if node.inverse else None
        return str(self.runtime.text(self.call(this, call, *values, fn=fn, inverse=inverse), number))


def _printer(function: Callable[[Json, int], str]) -> Callable[[Any, int, Json], str]:
    return lambda _this, number, value: str(function(value, number))


def _name(call: Call) -> str:
    """The name of the helper that a call may mean."""
    head = as_path(call.head)
    return head.parts[0] if head.is_simple and not head.data else ""


def _pairs(call: Call) -> list[tuple[str, Expression]]:
    """The pairs of a hash as Handlebars.js builds it: last pair first, and without a written `undefined`."""
    return [
        (k, v) for k, v in reversed(call.hash) if not (isinstance(v, Literal) and v.original == "undefined" != v.value)
    ]


def _arguments(call: Call, values: tuple[Json, ...]) -> tuple[tuple[Json, ...], Mapping[str, Json]]:
    count = len(call.params)
    return values[:count], dict(zip((key for key, _ in _pairs(call)), values[count:], strict=True))


def _branch(frame: _Frame, branch: Callable[[_Frame], Any]) -> Fn:
    """A branch of pybars3 as a branch of the runtime."""

    def body(context: Json, data: Data, scope: Scope, _params: Any, env: Env) -> str:
        return str(branch(_Frame(context, data, scope, env)))

    return Fn(body, frame.data, frame.scope, None, frame.env)
