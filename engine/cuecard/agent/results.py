"""The templates of results (`results` in the agent file): compiled, with the marks that results must not imitate."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import partial

from cuecard.agent.sections.elements import line_starts
from cuecard.agent.world import World
from cuecard.config.documents.document import Document, Path, inline_problem, problem_at
from cuecard.config.results_spec import ResultSpec
from cuecard.errors import Problem, TemplateError, did_you_mean
from cuecard.records import dataclass
from cuecard.template import Helper, Limits, Template, compile_template, element_names
from cuecard.template.guards.layout import LayoutGuard, layout_guard

READS = ("content", "result", "tool", "cut")
"""The names that the template of a result may read."""

_DEFAULT = "{{{content}}}"
_FENCES = "```", "~~~"


@dataclass(frozen=True, slots=True)
class ResultForm:
    """How the results of some tools are rendered.

    Attributes:
        name: the tool, or the pattern of names.
        spec: limits, marker, trust.
        text: the template.
        error: the template for failed calls.
        source: where the template is written, as `file:line`.
        names: the elements that the templates write.
        own: the beginnings of their lines, such as `Exit code: `, so that no result can imitate such a line.
        fences: whether they contain code fences.
    """

    name: str
    spec: ResultSpec
    text: Template
    error: Template
    source: str
    names: frozenset[str]
    own: LayoutGuard | None
    fences: bool


ResultForms = tuple[ResultForm, ...]


def form_of(forms: ResultForms, tool: str) -> ResultForm | None:
    """The form for a tool's results: the one with its name, otherwise the first whose pattern matches."""
    named = (form for form in forms if form.name == tool)
    return next(named, None) or next((form for form in forms if fnmatchcase(tool, form.name)), None)


@dataclass(frozen=True, slots=True)
class ResultText:
    """A template of a result, for checks; `place` moves a problem of it to where it is written."""

    template: Template
    place: Callable[[Problem], Problem]


class ResultTexts:
    """The forms of an agent's results, as far as they could be compiled, and their `problems`."""

    def __init__(self, world: World) -> None:
        """Compile all templates."""
        self._world = world
        self.texts: list[ResultText] = []
        self.problems: list[Problem] = []
        made = [self._form(name, spec) for name, spec in world.spec.results.items()]
        self.forms: ResultForms = tuple(form for form in made if form)

    def _form(self, name: str, spec: ResultSpec) -> ResultForm | None:
        document, at = self._world.document, ("results", name)
        key: Path = (*at, "text") if (*at, "text") in document.values else at
        text, origin = self._written(name, spec, key)
        error = self._compiled(spec.error or _DEFAULT, f"results.{name}.error", (*at, "error"))
        if text is None or error is None:
            return None
        partials = tuple(each.text for each in self._world.sources.partials)
        names = frozenset[str]().union(*map(element_names, (text.text, error.text, *partials)))
        fences = any(fence in each.text for each in (text, error) for fence in _FENCES)
        return ResultForm(name, spec, text, error, origin, names, _own(text.text, error.text), fences)

    def _written(self, name: str, spec: ResultSpec, key: Path) -> tuple[Template | None, str]:
        """The template, and where it is written."""
        document, sources = self._world.document, self._world.sources
        if spec.file is None:
            paths = {source.name: source.path for source in sources.texts()}
            origin = document.origin(key).name
            where = f"{paths.get(origin, origin)}:{document.span(key).line}"
            return self._compiled(spec.text if spec.text is not None else _DEFAULT, f"results.{name}", key), where
        file = next((source for source in sources.results if source.path == spec.file), None)
        if file is None:  # that it is missing was reported already
            return None, ""
        return self._compiled(file.text, file.name, None), f"{file.path}:1"

    def _compiled(self, text: str, name: str, at: Path | None) -> Template | None:
        """The compiled template, unless it is invalid; `at` is its path in the agent file."""
        world = self._world
        files = {each.stem: each.name for each in world.sources.partials}
        partials = tuple((each.stem, each.text) for each in world.sources.partials)
        partial_texts = {each.stem: (each.name, each.text) for each in world.sources.partials}
        place = partial(_placed, world.document, name, at, files)
        try:
            template = world.memo(_compile, text, name, partials, world.limits, world.helpers)
        except TemplateError as error:
            self.problems += map(place, error.problems)
            return None
        unknown = [use for use in template.inputs if use.name not in READS]
        for use in unknown:
            message = f"`{use.name}` is nothing that the template of a result can read"
            hint = f"{did_you_mean(use.name, READS)}\nfields of the result are written `result.{use.name}`"
            source = partial_texts.get(use.template, (name, text))
            self.problems.append(place(problem_at(*source, use.span, "undeclared-input", message, hint)))
        self.texts.append(ResultText(template, place))
        return None if unknown else template


def _compile(
    text: str, name: str, partials: tuple[tuple[str, str], ...], limits: Limits, helpers: tuple[tuple[str, Helper], ...]
) -> Template:
    made = partial(compile_template, escaping="marks", limits=limits)
    return made(text, name=name, partials=dict(partials), helpers=dict(helpers))


def _placed(document: Document, name: str, at: Path | None, files: Mapping[str, str], problem: Problem) -> Problem:
    """The problem at the place where the text is written."""
    if problem.name == name and at is not None:
        return inline_problem(document, at, problem)
    return replace(problem, name=files.get(problem.name, problem.name))


def _own(*texts: str) -> LayoutGuard | None:
    starts = (mark for text in texts for mark in line_starts(text, whole=True))
    usable = [mark for mark in dict.fromkeys(starts) if "\\" not in mark and not mark.startswith("<")]
    return layout_guard(usable) if usable else None


def check_results(document: Document, forms: Sequence[ResultForm], search: str) -> Iterator[Problem]:
    """Problems of entries without an effect, and of the search tool."""
    for form in forms:
        at = ("results", form.name)
        if form.name == search:
            message = f"`{search}` is the search tool, whose results are sent as they are"
            yield document.problem(at, "no-effect", message, "remove it", key=True)
        yield from _silent(document, form)
        yield from _usual(document, form, [each.name for each in forms if each is not form])


def _usual(document: Document, form: ResultForm, others: Sequence[str]) -> Iterator[Problem]:
    """The problem of an entry without keys, which only makes sense if it exempts its tools from a pattern."""
    if not form.spec.model_fields_set and not any(fnmatchcase(form.name, each) for each in others):
        message, hint = f"`{form.name}` says nothing: its results are sent as they are anyway", "remove it"
        yield document.problem(("results", form.name), "no-effect", message, hint, key=True, severity="warning")


def _silent(document: Document, form: ResultForm) -> Iterator[Problem]:
    """The problem of a template that ignores what the tool returned."""
    if not {"content", "result", "cut"} & {use.name for use in form.text.inputs}:
        message, hint = f"the template of `{form.name}` shows nothing of a result", f"write `{_DEFAULT}` into it"
        yield document.problem(("results", form.name), "no-effect", message, hint, key=True, severity="warning")
