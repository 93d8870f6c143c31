"""A template: parsed and checked when it is made, compiled to Python once, at the first render."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from cuecard.errors import CuecardError, Problem, TemplateLimitError, TemplateSyntaxError
from cuecard.model import Json
from cuecard.template.analysis import InputUse, inputs_of
from cuecard.template.backend import Backend, Code
from cuecard.template.codegen import Generated, Helper, Rules, generate
from cuecard.template.guard import Escaping
from cuecard.template.markup import element_names, in_attributes
from cuecard.template.nodes import Block, Literal, Partial, Program, Statement
from cuecard.template.parser import parse
from cuecard.template.runtime import Data, Env, Fn, Options, PartialBody, Runtime, Scope, outer, push, up
from cuecard.template.source import Source
from cuecard.template.values import lookup
from cuecard.template.whitespace import control_whitespace

if TYPE_CHECKING:
    from cuecard.template.outline import Outline

MAX_TEMPLATE = 1_000_000
"""How many characters a template may have."""


def python(program: Program, source: Source, rules: Rules) -> Code:
    """The backend of our own: generated Python."""
    generated = generate(program, source, rules)
    return Code(generated.places, lambda runtime: _load(source.name, generated, runtime))


def compile_template(
    text: str,
    *,
    name: str = "template",
    partials: Mapping[str, str] | None = None,
    helpers: Mapping[str, Helper] | None = None,
    strict: bool = True,
    assume_objects: bool = False,
    escaping: Escaping = "text",
    backend: Backend = python,
) -> Template:
    """Compile a Handlebars template.

    Args:
        text: the template.
        name: how errors call it.
        partials: templates that it may call, by name.
        helpers: functions on values, by name: positional parameters and `name=value` pairs as keywords, or, with a
            parameter named `options`, hash, context, `@data` and the branches of the block. What an inline helper
            returns is data unless it is `trusted()`; what a block helper returns is printed as it is.
        strict: a missing value, helper or partial is an error (Handlebars' strict mode, and then some).
        assume_objects: in a path, all but the last value must exist (Handlebars' assumeObjects).
        escaping: how `{{{x}}}` prints data; `handlebars` prints it as it is.
        backend: what makes the checked template run; it changes neither text nor errors.

    Raises:
        TemplateSyntaxError: with every problem of the template and its partials.
        TemplateLimitError: when the template is too large or nests too deep.
    """
    sources = {key: Source(f"{key}", value) for key, value in (partials or {}).items()}
    return Template(Source(name, text), sources, helpers or {}, (strict, assume_objects, escaping), backend)


class Template:
    """A compiled template; immutable, and safe to render in many threads at once."""

    def __init__(
        self,
        source: Source,
        partials: Mapping[str, Source],
        helpers: Mapping[str, Helper],
        options: tuple[bool, bool, Escaping],
        backend: Backend,
    ) -> None:
        """Use `compile_template`."""
        self.name, self.text = source.name, source.text
        self._helpers, self._options, self._backend = dict(helpers), options, backend
        parsed, problems = _parse_all({"": source, **partials})
        if problems:
            raise TemplateSyntaxError(problems)
        self._source, self._program = parsed.pop("")
        self._parsed = parsed
        self._known = {*parsed, *_inline_names([self._program, *(program for _, program in parsed.values())])}
        self._names = frozenset().union(*(element_names(s.text) for s in (source, *partials.values())))
        units, problems = [], []
        for each in ((self._source, self._program), *parsed.values()):
            try:
                units.append(self._unit(*each))
            except CuecardError as error:
                problems += error.problems
        if problems:
            raise TemplateSyntaxError(problems)
        self._main, self._partials = units[0], dict(zip(parsed, units[1:], strict=True))
        self.inputs: tuple[InputUse, ...] = self._inputs(self._program.body)

    def render(self, values: Mapping[str, Json], data: Mapping[str, Json] | None = None) -> str:
        """The text with these values.

        Args:
            values: JSON values by name; those marked `trusted()` are an author's, all others are data.
            data: private `@data`.

        Raises:
            TemplateRenderError: for a missing value, a value that is not JSON, or a helper that failed.
            TemplateLimitError: when it prints too much or partials recurse too deep.
        """
        return self.render_unit(self._main, values, data)

    def outline(self) -> Outline:
        """The sections of an XML core template.

        Raises:
            TemplateSyntaxError: with every place where it is not well-formed XML, whichever branches are taken.
        """
        from cuecard.template.outline import make_outline  # noqa: PLC0415 - loads lxml, which plain templates never need

        return make_outline(self, self._source, self._program)

    def part(self, body: Iterable[Statement]) -> Part:
        """Some of the template's top-level statements, as something that renders on its own."""
        inlines = [node for node in self._program.body if isinstance(node, Block) and node.decorator]
        statements = list(body)
        program = Program([*(i for i in inlines if i not in statements), *statements])
        return Part(self, self._unit(self._source, program), self._inputs(statements))

    def render_unit(self, unit: _Unit, values: Json, data: Mapping[str, Json] | None) -> str:
        """The text of a compiled unit in this template's world of partials."""
        frame: Data = {"root": values, **(data or {})}
        env = Env({name: partial.call for name, partial in self._partials.items()})
        try:
            text: str = unit.body(values, frame, (values, None), None, env)
        except RecursionError:
            hint = "render it from a shallower call, or use fewer nested blocks and partials"
            problem = Problem("too-deep", "Python's recursion limit was reached", hint, self.name)
            raise TemplateLimitError(problem) from None
        return text

    def _inputs(self, body: Iterable[Statement]) -> tuple[InputUse, ...]:
        return inputs_of(body, self._source, self._helpers, self._parsed)

    def _unit(self, source: Source, program: Program) -> _Unit:
        strict, assume_objects, escaping = self._options
        attributes = in_attributes(program, source.text)
        rules = Rules(strict, assume_objects, self._helpers, self._known, attributes)
        code = self._backend(program, source, rules)
        return _Unit(code, Runtime(source, code.places, escaping, self._names))


class Part:
    """A slice of a template that renders on its own; `inputs` is what it reads."""

    def __init__(self, template: Template, unit: _Unit, inputs: tuple[InputUse, ...]) -> None:
        """Use `Template.part`."""
        self._template, self._unit, self.inputs = template, unit, inputs

    def render(self, values: Mapping[str, Json], data: Mapping[str, Json] | None = None) -> str:
        """The text of this slice; see `Template.render`."""
        return self._template.render_unit(self._unit, values, data)


class _Unit:
    """The code of one text; it is compiled when it is first called, once, whichever thread comes first."""

    def __init__(self, code: Code, runtime: Runtime) -> None:
        self.code, self.runtime = code, runtime
        self._lock = threading.Lock()
        self._body: Any = None

    @property
    def body(self) -> Any:
        """The compiled function."""
        with self._lock:
            if self._body is None:
                self._body = self.code.load(self.runtime)
            return self._body

    def call(self, context: Json, data: Data, scope: Scope, env: Env) -> str:
        """The text as a partial."""
        text: str = self.body(context, data, push(context, scope), None, env)
        return text


def _load(name: str, generated: Generated, runtime: Runtime) -> Any:
    namespace: dict[str, Any] = {
        "__builtins__": {"str": str, "dict": dict},
        "Env": Env,
        "Fn": Fn,
        "Options": Options,
        "L": lookup,
        "S": runtime.strict,
        "M": runtime.assume,
        "E": runtime.html,
        "T": runtime.bare,
        "A": runtime.attribute,
        "T_": runtime.text,
        "text": runtime.text,
        "outer": outer,
        "up": up,
        "falsy": runtime.falsy,
        "each": runtime.each,
        "section": runtime.section,
        "call": runtime.call,
        "partial": runtime.partial,
        "fail": runtime.fail,
        **generated.constants,
    }
    exec(compile(generated.source, f"<template {name}>", "exec"), namespace)  # noqa: S102 - our own code: template text is in it only as literals
    return namespace[generated.entry]


def _parse_all(sources: Mapping[str, Source]) -> tuple[dict[str, tuple[Source, Program]], list[Problem]]:
    parsed: dict[str, tuple[Source, Program]] = {}
    problems: list[Problem] = []
    for name, source in sources.items():
        try:
            parsed[name] = (source, _parse(source))
        except CuecardError as error:
            problems += error.problems
    return parsed, problems


def _parse(source: Source) -> Program:
    if len(source.text) > MAX_TEMPLATE:
        message = f"the template has {len(source.text):,} characters; at most {MAX_TEMPLATE:,}"
        raise TemplateLimitError(Problem("template-too-large", message, "split it into partials", source.name))
    program = parse(source)
    control_whitespace(program, source.text)
    return program


def _inline_names(programs: Iterable[Program]) -> set[str]:
    """The names of all inline partials whose names are written out."""
    names: set[str] = set()
    stack: list[Program] = list(programs)
    while stack:
        for node in stack.pop().body:
            if isinstance(node, Block | Partial):
                inverse = node.inverse if isinstance(node, Block) else None
                stack += [branch for branch in (node.program, inverse) if branch]
            if isinstance(node, Block) and node.decorator and node.call.params:
                name = node.call.params[0]
                names |= {str(name.value)} if isinstance(name, Literal) else set()
    return names


__all__ = ["MAX_TEMPLATE", "Helper", "Part", "PartialBody", "Template", "compile_template"]
