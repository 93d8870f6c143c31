"""pybars3 as a second backend: it runs the blocks and joins the text of a tree from our parser.

Parsing, whitespace control and checks are the same for every backend. pybars3 0.9.7 would render many tags wrongly, so
each tag is passed to it as a call of a function without arguments, and expressions are evaluated by our own generated
code: values are looked up, printed, tested and escaped alike, errors know their place, and no name or literal of a
template reaches pybars3. Blocks that it cannot run correctly are rejected with the reason.

The only module that uses pybars3.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache, partial
from importlib.util import find_spec
from typing import Any, NamedTuple

from cuecard.errors import CuecardError, Problem, TemplateRenderError, TemplateSyntaxError
from cuecard.model import Json
from cuecard.template.backends.backend import ProgramCode
from cuecard.template.backends.code import At, Function
from cuecard.template.backends.codegen import ProgramWriter
from cuecard.template.backends.python_backend import execute
from cuecard.template.rules import BLOCKS, BUILT_IN, Rules
from cuecard.template.runtime.runtime import Runtime
from cuecard.template.runtime.scope import Body, Data, Env, Fn, Scope
from cuecard.template.syntax.nodes import Block, Partial, Program, Statement, TextNode, as_path
from cuecard.template.syntax.source import TemplateSource

_COMPILING = threading.Lock()
"""All pybars3 compilers share state: two at a time would mix up their templates."""


def pybars3(program: Program, source: TemplateSource, rules: Rules) -> ProgramCode:
    """A backend for `compile_template`: pybars3 compiles the tree from our parser.

    Raises:
        TemplateSyntaxError: for what our own backend rejects, for every construct that pybars3 cannot render, and when
            pybars3 is not installed.
    """
    if find_spec("pybars") is None:
        hint = 'run `pip install "cuecard[pybars3]"`, or choose the backend `cuecard`'
        raise TemplateSyntaxError(Problem("backend-missing", "pybars3 is not installed", hint, source.name))
    writer = _Writer(source, rules, program)
    text = writer.text(program)
    if writer.problems:
        raise TemplateSyntaxError(writer.problems)
    return ProgramCode(writer.places, lambda runtime: _load(text, writer, runtime))


def _load(text: str, writer: _Writer, runtime: Runtime) -> Body:
    functions = execute(writer.source.name, "\n".join(writer.finished), writer.constants, runtime)
    table = {name: partial(call, functions[name]) for name, call in writer.called.items()}
    with _wrapped(writer.source, TemplateSyntaxError):
        render = _compile(text)

    def body(context: Json, data: Data, scope: Scope, _params: Any, env: Env) -> str:
        with _wrapped(writer.source, TemplateRenderError):
            return str(render(_Frame(context, data, scope, None, env), helpers=table))

    return body


@lru_cache(256)
def _compile(text: str) -> Any:
    """The function of a text; parts of different templates are often the same text, since their tags are numbers."""
    import pybars  # noqa: PLC0415 - optional, and takes a third of a second to load

    with _COMPILING:
        compiler = pybars.Compiler()
        # Whitespace is handled already, and the pattern takes exponential time on a line of empty blocks.
        compiler.whitespace_control = lambda written: written
        render = compiler.compile(text)
        # It would stay there forever, once for every version of every template.
        sys.modules.pop(render.__module__, None)
        return render


@contextmanager
def _wrapped(source: TemplateSource, kind: type[CuecardError]) -> Iterator[None]:
    try:
        yield
    except (CuecardError, RecursionError):
        raise
    except Exception as error:
        message = f"pybars3 failed: {type(error).__name__}: {error}"
        hint = "choose the backend `cuecard`, and report this template"
        raise kind(Problem("backend-failed", message, hint, source.name)) from error


class _Frame(NamedTuple):
    """The surroundings of a branch: what pybars3 uses as the context, and the arguments of generated code."""

    context: Json
    data: Data
    scope: Scope
    params: None
    env: Env

    def bind(self, branch: Callable[[_Frame], Any]) -> Fn:
        """A pybars3 branch as a branch of the runtime."""
        body: Body = lambda *inner: str(branch(_Frame(*inner)))  # noqa: E731 - it has a type
        return Fn(body, self.data, self.scope, None, self.env)


def _print(function: Callable[..., str], this: Any) -> str:
    return str(function(*this.context))


def _choose(function: Callable[..., str | bool | None], this: Any, branches: Any) -> Any:
    """A block: the text it made from its branches, or which branch to render in its place."""
    frame: _Frame = this.context
    made = function(*frame, frame.bind(branches["fn"]), frame.bind(branches["inverse"]))
    return str(made) if isinstance(made, str) else branches["fn" if made else "inverse"](frame)


class _Writer(ProgramWriter):
    """Writes a program as text for pybars3, and as Python the functions `f0`, `f1` ... that this text calls.

    `boxed` says that a branch keeps the context of its block (`At.boxed`).
    """

    def __init__(self, source: TemplateSource, rules: Rules, program: Program) -> None:
        super().__init__(source, rules, program)
        self.called: dict[str, Callable[..., Any]] = {}

    def text(self, program: Program | None, *, boxed: bool = False) -> str:
        return "".join(self.tag(node, boxed=boxed) for node in program.body) if program else ""

    def tag(self, node: Statement, *, boxed: bool) -> str:
        if isinstance(node, Block):
            return self.blocked(node, boxed=boxed)
        if isinstance(node, TextNode):
            text = self.source.text[node.first : node.last]
            # pybars3 takes any `{{` for a tag, and drops the carriage return of a line break.
            if "{{" not in text and not text.endswith("{") and "\r" not in text:
                return text
        if isinstance(node, Partial) and node.program:
            self.refuse(node, "cannot read a partial with a block (`{{#> ...}}`)")
            return ""
        at = At(Function(), (), boxed)
        self.statement(node, at)
        return "".join(f"{{{{{{{self.define(piece, _print)}}}}}}}" for piece in at.function.pieces)

    def define(self, code: str, call: Callable[..., Any]) -> str:
        name = f"f{len(self.called)}"
        self.called[name] = call
        self.finished += [f"def {name}(c, d, s, b, k, then=None, other=None):", "    f = type(c) is dict"]
        self.finished += [f"    return {code}"]
        return name

    def blocked(self, node: Block, *, boxed: bool) -> str:
        if node.decorator or node.raw:
            inline, raw = "cannot read an inline partial", "prints a raw block even where its helper is missing"
            self.refuse(node, inline if node.decorator else raw)
            return ""
        if any(branch and branch.block_params for branch in (node.program, node.inverse)):
            self.refuse(node, "cannot read block parameters (`as |name|`)")
        at, name = At(Function(), (), boxed), self.helper_name(as_path(node.call.head), At(Function()))
        branches = "then" if node.program else "None", "other" if node.inverse else "None"
        if name in BLOCKS and name not in self.rules.helpers:
            code, then, other = self.built_in_code(name, node, at), name in {"if", "unless"}, True
        elif name in {*self.rules.helpers, *BUILT_IN} or node.call.has_arguments:
            code, then, other = f"block({self.invoke(node.call, at, branches)}, {self.place(node)})", False, False
        else:
            code, then, other = self.section_of(node, at, branches), False, boxed
        opened = self.define(code, _choose)
        inverse = f"{{{{else}}}}{self.text(node.inverse, boxed=other)}" if node.inverse else ""
        return f"{{{{#{opened}}}}}{self.text(node.program, boxed=then)}{inverse}{{{{/{opened}}}}}"

    def built_in_code(self, name: str, node: Block, at: At) -> str:
        """The code for a text, for None (the other branch), or for the choice of a branch."""
        if len(node.call.params) != 1:
            self.block(node, at)
            return at.function.pieces[0]
        value, place = self.value(node.call.params[0], at), self.place(node.call)
        if name in {"each", "with"}:
            return f"{'each' if name == 'each' else 'within'}({value}, then, {place})"
        zero = next((self.value(each, at) for key, each in node.call.hash if key == "includeZero"), "None")
        test = f"falsy({value}, {place}, include_zero=not falsy({zero}, {place}))"
        return test if name == "unless" else f"not {test}"

    def refuse(self, node: Statement, message: str) -> None:
        at = node.call if isinstance(node, Block) else node
        hint = "write it another way, or choose the backend `cuecard`"
        self.problems.append(self.source.problem(at.start, at.end, "backend-unsupported", f"pybars3 {message}", hint))
