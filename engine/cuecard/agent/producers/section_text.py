"""The texts of sections, written in an agent file or in files that it names: compiled, with their places."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Protocol

from cuecard.agent.sections.layout import Layout
from cuecard.agent.sections.section import Render
from cuecard.agent.sections.section_source import default_text
from cuecard.agent.sections.selections import EditionSource
from cuecard.agent.world import World
from cuecard.config.documents.document import inline_problem, problem_at
from cuecard.config.sections.section_spec import SOURCES, SectionSpec
from cuecard.errors import Problem, TemplateError
from cuecard.records import dataclass
from cuecard.template import BACKENDS, Helper, InputUse, Limits, Template, compile_template
from cuecard.template.syntax.nodes import Program, Statement
from cuecard.template.syntax.source import TemplateSource


@dataclass(frozen=True, slots=True)
class SectionText:
    """The compiled text of a section, and where it is written.

    Attributes:
        source: the text that contains it, from `start` to `end` (offsets, `end` exclusive).
        program: the syntax tree of all of that text.
        inputs: the inputs that it reads, including those read by partials.
        render: renders it.
        origin: where it is written, as `file:line`.
        place: moves a problem of the source to where it is written.
        problem: creates a problem of the whole section from code, message, hint and severity.
        conditional: whether a block of a template decides if it is included.
    """

    source: TemplateSource
    program: Program
    start: int
    end: int
    inputs: tuple[InputUse, ...]
    render: Render
    origin: str
    place: Callable[[Problem], Problem]
    problem: Callable[..., Problem]
    conditional: bool = False

    @property
    def statements(self) -> tuple[Statement, ...]:
        """The statements of the syntax tree that belong to the section."""
        return tuple(node for node in self.program.body if self.start <= node.start < self.end)


class Producer(Protocol):
    """Produces the texts of an agent's sections.

    `frame` are the texts around them, with names for manifests; `problems` are those found so far.
    """

    layout: Layout
    frame: tuple[tuple[str, SectionText], ...]
    problems: list[Problem]

    def text(self, written: EditionSource) -> SectionText | None:
        """The text of a section; None if it could not be compiled, as `problems` then says."""

    def label(self, spec: SectionSpec) -> str:
        """The name of a section in errors."""

    def heading(self, spec: SectionSpec) -> str:
        """The heading of a section."""

    def leads(self, spec: SectionSpec) -> tuple[tuple[str, str], ...]:
        """The groups around a section, the outermost first, each with its heading."""

    def no_protocols(self) -> Problem:
        """The hint if no section has a place for tool instructions."""


def written_text(world: World, written: EditionSource) -> SectionText:
    """The text of a section, from the agent file or the file that it names, or the default for a section without
    either.

    Raises:
        TemplateError: with every reason why it does not compile, at its place.
        LookupError: when its file is missing, which was reported already.
    """
    spec = written.spec
    files = {source.path: source for source in world.sources.sections}
    file = files[spec.file] if spec.file is not None else None
    source = TemplateSource(file.name, file.text) if file else TemplateSource(spec.id, default_text(spec))
    partials = tuple((each.stem, each.text) for each in world.sources.partials)
    place = partial(_placed, world, written, source.name)
    backend = world.spec.template.backend if world.spec.template else "cuecard"
    try:
        given = (source.text, source.name, partials, backend, world.limits, world.helpers)
        template = world.memo(_compile, *given)
    except TemplateError as error:
        raise type(error)(map(place, error.problems)) from None
    origin = f"{spec.file}:1" if file else _origin(world, written)
    told = partial(world.document.problem, written.at)
    text = template.text
    return SectionText(source, template.program, 0, len(text), template.inputs, template.render, origin, place, told)


def use_problem(world: World, text: SectionText, use: InputUse, code: str, message: str, hint: str) -> Problem:
    """A problem at the place where a text, or a partial that it calls, reads an input."""
    files = {each.stem: each for each in world.sources.partials}
    if use.template in files:
        file = files[use.template]
        return problem_at(file.name, file.text, use.span, code, message, hint)
    return text.place(problem_at(text.source.name, text.source.text, use.span, code, message, hint))


def _compile(
    text: str,
    name: str,
    partials: tuple[tuple[str, str], ...],
    backend: str,
    limits: Limits,
    helpers: tuple[tuple[str, Helper], ...],
) -> Template:
    made = partial(compile_template, escaping="marks", backend=BACKENDS[backend], limits=limits)
    return made(text, name=name, partials=dict(partials), helpers=dict(helpers))


def _placed(world: World, written: EditionSource, name: str, problem: Problem) -> Problem:
    """The problem at the place in the file where the text is written."""
    if problem.name == name and written.spec.file is None:
        return inline_problem(world.document, written.place("text"), problem)
    files = {file.stem: file.name for file in world.sources.partials}
    return replace(problem, name=files.get(problem.name, problem.name))


def _origin(world: World, written: EditionSource) -> str:
    """The line of the section, or of its text if that is in another file."""
    document, spec = world.document, written.spec
    key = next((key for key in ("text", *SOURCES) if getattr(spec, key) is not None), "id")
    text, paths = written.place(key), {source.name: source.path for source in world.sources.texts()}
    at = text[:-1] if document.origin(text) is document.origin(text[:-1]) else text
    name = document.origin(at).name
    return f"{paths.get(name, name)}:{document.span(at).line}"
