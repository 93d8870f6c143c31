"""A template: parsed and checked when it is made, compiled once, at the first render."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from functools import partial
from typing import Literal, TypeVar

from cuecard.errors import (
    CuecardError,
    Problem,
    TemplateError,
    TemplateLimitError,
    TemplateRenderError,
    TemplateSyntaxError,
)
from cuecard.model import Json
from cuecard.model.argument_problems import refuse, wrong
from cuecard.model.boundary import checked
from cuecard.template.backends.backend import Backend
from cuecard.template.backends.python_backend import python
from cuecard.template.backends.registry import BACKENDS
from cuecard.template.guards.escaping import Escaping
from cuecard.template.inputs import InputUse, inputs_of, pointed
from cuecard.template.markup.outline import Outline, make_outline
from cuecard.template.markup.tags import element_names, in_attributes
from cuecard.template.rules import USUAL, WORK_LEFT, Helper, Limits, Rules
from cuecard.template.runtime.partials import too_much_output
from cuecard.template.runtime.runtime import MarkingRuntime, Runtime
from cuecard.template.runtime.scope import Data, Env
from cuecard.template.syntax.nodes import Block, Program, Statement
from cuecard.template.syntax.parser import parse
from cuecard.template.syntax.source import TemplateSource
from cuecard.template.syntax.whitespace import control_whitespace
from cuecard.template.units import TemplateUnit, callees_first, inline_names

T = TypeVar("T")


def all_of(work: Iterable[Callable[[], T]]) -> list[T]:
    """The results of all of these, or one error with all their problems."""
    results: list[T] = []
    errors: list[TemplateError] = []
    for each in work:
        try:
            results.append(each())
        except TemplateError as error:
            errors.append(error)
    if errors:
        raise joined_errors(errors)
    return results


def joined_errors(errors: Iterable[TemplateError]) -> TemplateError:
    """One error with the problems of all errors."""
    errors = list(errors)
    limits = all(isinstance(error, TemplateLimitError) for error in errors)
    return (TemplateLimitError if limits else TemplateSyntaxError)(p for error in errors for p in error.problems)


def recursion(name: str) -> TemplateLimitError:
    """The problem for Python's own recursion limit."""
    hint = "call it from a shallower stack, or use fewer nested blocks and partials"
    return TemplateLimitError(Problem("too-deep", "Python's recursion limit was reached", hint, name))


def unreadable_value(name: str, error: Exception) -> TemplateRenderError:
    """The problem for values that fail while they are read: objects posing as mappings or texts may raise anything."""
    message = f"a value cannot be read: it raised {type(error).__name__}"
    hint = "pass only texts, numbers, lists and mappings"
    return TemplateRenderError(Problem("not-data", message, hint, name))


MAX_TEMPLATE = 1_000_000
"""The maximum length of a template in characters."""


@checked
def compile_template(
    text: str,
    *,
    name: str = "template",
    partials: Mapping[str, str] | None = None,
    helpers: Mapping[str, Helper] | None = None,
    strict: bool = True,
    assume_objects: bool = False,
    escaping: Escaping = "text",
    names: Collection[str] = (),
    backend: Literal["cuecard", "pybars3"] | Backend = "cuecard",
    limits: Limits = USUAL,
) -> Template:
    """Compile a Handlebars template.

    Args:
        text: the template.
        name: its name in errors.
        partials: templates that it can call, by name.
        helpers: functions on values, by name: positional parameters and `name=value` pairs as keywords, or, with a
            parameter named `options`, hash, context, `@data` and the branches of the block. What an inline helper
            returns is data unless it is `trusted()`; what a block helper returns is printed as it is.
        strict: treat a missing value, helper or partial as an error (Handlebars' strict mode, and stricter).
        assume_objects: in a path, all but the last value must exist (Handlebars' assumeObjects).
        escaping: how `{{{x}}}` prints data; `handlebars` prints it as it is, and `marks` between marks, for a gate
            (`guards/gate.py`) that must tell data from the author's text.
        names: elements that trusted values contain, such as `<get_page>`; as with the template's own elements, no data
            may open or close them.
        backend: what runs the checked template; all backends give the same text and errors. `pybars3` needs its extra.
        limits: limits on the work and the output of one render.

    Raises:
        InputError: with every argument of the wrong type.
        TemplateSyntaxError: with every problem of the template and its partials.
        TemplateLimitError: when the template is too large or nests too deep.
    """
    sources = {key: TemplateSource(key, value) for key, value in (partials or {}).items()}
    try:
        modes = strict, assume_objects, escaping, limits
        return Template(TemplateSource(name, text), sources, helpers or {}, modes, _backend(backend), frozenset(names))
    except RecursionError:
        raise recursion(name) from None


def _check_rendering(values: object, data: object) -> None:
    """Values within the mappings are checked when they are printed."""
    given = {"values": values} if data is None else {"values": values, "data": data}
    should = "a mapping of values by name"
    refuse([wrong(name, should, each) for name, each in given.items() if not issubclass(type(each), Mapping)])


class Template:
    """A compiled template; immutable, and safe to render in many threads at once."""

    def __init__(
        self,
        source: TemplateSource,
        partials: Mapping[str, TemplateSource],
        helpers: Mapping[str, Helper],
        options: tuple[bool, bool, Escaping, Limits],
        backend: Backend,
        names: frozenset[str] = frozenset(),
    ) -> None:
        """Use `compile_template`."""
        self.name: str = source.name
        self.text: str = source.text
        self._helpers, self._options, self._backend = dict(helpers), options, backend
        self._limits = options[-1]
        sources = (source, *partials.values())
        programs = all_of([partial(_parse, each) for each in sources])
        self._source, self._program = source, programs[0]
        self._parsed = dict(zip(partials, zip(sources[1:], programs[1:], strict=True), strict=True))
        inlines, are_all = inline_names(programs)
        self._known = {*partials, *inlines}
        # A partial that an inline partial may replace is looked up at each call.
        self._lasting = frozenset(partials).difference(inlines) if are_all else frozenset[str]()
        self._plain: set[str] = set()
        self._names = names.union(*(element_names(each.text) for each in sources))
        # Found once per text, with all its mustaches: a single part would take those of other parts for markup.
        inside = [in_attributes(program, each.text) for each, program in zip(sources, programs, strict=True)]
        self._attributes = inside[0]
        self._inlines = [node for node in self._program.body if isinstance(node, Block) and node.decorator]
        self._units: dict[str, TemplateUnit] = {}
        self._main = self._compile(
            dict(zip((None, *partials), zip(sources, programs, inside, strict=True), strict=True))
        )
        self._env = Env({name: self._units[name].call for name in partials})
        self.inputs: tuple[InputUse, ...] = self._inputs(self._program.body)

    @property
    def program(self) -> Program:
        """Internal: the syntax tree of its text."""
        return self._program

    def render(self, values: Mapping[str, Json], data: Mapping[str, Json] | None = None) -> str:
        """Render the template with these values.

        Args:
            values: JSON values by name; those marked `trusted()` are the author's, all others are data.
            data: private `@data`.

        Raises:
            InputError: when `values` or `data` is not a mapping.
            TemplateRenderError: for a missing value, a value that is not JSON, or a helper that failed.
            TemplateLimitError: when it prints too much or partials recurse too deep.
        """
        if type(values) is not dict or data is not None:
            _check_rendering(values, data)
        return self.render_unit(self._main, values, data)

    def outline(self) -> Outline:
        """Internal: the sections of an XML core template.

        Raises:
            TemplateSyntaxError: with every place where it is not well-formed XML in every combination of branches.
        """
        return make_outline(self.part, self._source, self._program)

    def part(self, body: Iterable[Statement]) -> TemplatePart:
        """Internal: some of the template's top-level statements, rendered separately."""
        statements = list(body)
        program = Program([*(i for i in self._inlines if i not in statements), *statements])
        return TemplatePart(self, self._unit(self._source, program, self._attributes), self._inputs(statements))

    def render_unit(self, unit: TemplateUnit, values: Json, data: Mapping[str, Json] | None) -> str:
        """Internal: the text of a compiled unit, with this template's partials."""
        frame: Data = {"root": values} if data is None else {"root": values, **data, "_parent": data}
        before = WORK_LEFT.set([self._limits.work]) if unit.spends else None
        try:
            text = unit.body(values, frame, (values, None), None, self._env)
        except RecursionError:
            raise recursion(self.name) from None
        except TemplateRenderError as error:
            raise pointed(error, self._source, self._program, values) from error.__cause__
        except CuecardError:
            raise
        except Exception as error:
            raise unreadable_value(self.name, error) from error
        finally:
            if before is not None:
                WORK_LEFT.reset(before)
        if len(text) > self._limits.output:
            raise TemplateLimitError(too_much_output(self._limits.output, self.name))
        return text

    def _compile(self, texts: Mapping[str | None, tuple[TemplateSource, Program, frozenset[int]]]) -> TemplateUnit:
        """Compile all texts; the one without a name is the template. Problems are in the order of the texts."""
        order = callees_first({name: program for name, (_, program, _) in texts.items() if name is not None})
        units: dict[str | None, TemplateUnit] = {}
        failed: dict[str | None, TemplateError] = {}
        for name in (*order, None):
            try:
                unit = units[name] = self._unit(*texts[name])
            except TemplateError as error:
                failed[name] = error
            else:
                if name is not None:
                    self._units[name] = unit
                    self._plain |= {name} & self._lasting if unit.context_only else set()
        if failed:
            raise joined_errors(failed[name] for name in texts if name in failed)
        return units[None]

    def _inputs(self, body: Iterable[Statement]) -> tuple[InputUse, ...]:
        return inputs_of(body, self._source, self._helpers, self._parsed)

    def _unit(self, source: TemplateSource, program: Program, attributes: frozenset[int]) -> TemplateUnit:
        strict, assume_objects, escaping, limits = self._options
        rules = Rules(strict, assume_objects, self._helpers, self._known, attributes, frozenset(self._plain))
        code = self._backend(program, source, rules)
        kind = MarkingRuntime if escaping == "marks" else Runtime
        return TemplateUnit(code, kind(source, code.places, escaping, self._names, strict, self._units, limits))


class TemplatePart:
    """A slice of a template that is rendered separately; `inputs` is what it reads."""

    def __init__(self, template: Template, unit: TemplateUnit, inputs: tuple[InputUse, ...]) -> None:
        """Use `Template.part`."""
        self._template, self._unit = template, unit
        self.inputs = inputs

    def render(self, values: Mapping[str, Json], data: Mapping[str, Json] | None = None) -> str:
        """The text of this slice; see `Template.render`."""
        return self._template.render_unit(self._unit, values, data)


def _backend(named: str | Backend) -> Backend:
    return BACKENDS[named] if isinstance(named, str) else named


def _parse(source: TemplateSource) -> Program:
    if len(source.text) > MAX_TEMPLATE:
        message = f"the template has {len(source.text):,} characters; at most {MAX_TEMPLATE:,}"
        raise TemplateLimitError(Problem("template-too-large", message, "split it into partials", source.name))
    program = parse(source)
    control_whitespace(program, source.text)
    return program


__all__ = ["MAX_TEMPLATE", "Template", "TemplatePart", "compile_template", "python"]
