"""Declared inputs and words, compared with the sections that read them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Protocol, get_args

from cuecard.agent.sections.section import BUILT_IN
from cuecard.config.agent_file import AgentFile, InputSpec
from cuecard.config.documents.document import Document, Path
from cuecard.config.sections.section_spec import SectionSpec
from cuecard.config.values import InputType, is_of_type
from cuecard.config.words_spec import WordsSpec
from cuecard.errors import InputError, Problem, did_you_mean
from cuecard.model import Json
from cuecard.template.dates import check_locale, zone_named
from cuecard.template.guards.layout import LayoutGuard, guard_layout
from cuecard.template.rules import TOOL
from cuecard.template.syntax.habits import is_foreign_brace, word_hint


class Use(Protocol):
    """An input that is read, and a function for problems at that place, from code, message and hint."""

    @property
    def name(self) -> str:
        """The name of the input."""

    @property
    def path(self) -> tuple[str, ...]:
        """The keys that are read of it."""

    @property
    def is_printed(self) -> bool:
        """Whether that value is printed."""

    @property
    def problem(self) -> Callable[[str, str, str], Problem]:
        """Create a problem at that place."""


def check_inputs(
    document: Document, spec: AgentFile, uses: Sequence[Use], *, are_all: bool = True
) -> Iterator[Problem]:
    """Problems of undeclared, reserved and, if these are all uses, unused inputs, in all profiles and variants."""
    declared = {*spec.inputs, *BUILT_IN}
    for use in uses:
        if use.name not in declared and not use.name.startswith(TOOL):
            yield _undeclared(document, use, declared)
        if use.path and use.name in spec.inputs:
            yield from _inside(use, spec.inputs[use.name])
        elif use.is_printed and use.name in spec.inputs and spec.inputs[use.name].type == "object":
            hint = f"write `json {use.name}` or `xml {use.name}`, or name one of its keys"
            yield use.problem("object-printed", f"`{use.name}` is an object, which cannot be printed as text", hint)
    used = {use.name for use in uses}
    for name in spec.inputs:
        yield from _lifetime(document, name, spec.inputs[name])
        yield from _declaration(document, name, used if are_all else {*used, name})
        yield from _default(document, name, spec.inputs[name])


def check_clocks(document: Document, spec: AgentFile, sections: Iterable[SectionSpec]) -> Iterator[Problem]:
    """Problems of inputs that name a time zone or locale, and can have a value that is none."""
    for each in sections:
        for clock in filter(None, (each.clock, each.facts.clock if each.facts else None)):
            for name, exists in ((clock.zone_input, zone_named), (clock.locale_input, check_locale)):
                if declared := spec.inputs.get(name):
                    yield from _not_there(document, ("inputs", name, "default"), declared.default, exists)
                    for at, value in enumerate(declared.values or ()):
                        yield from _not_there(document, ("inputs", name, "values", at), value, exists)


def _not_there(document: Document, path: Path, value: Json, exists: Callable[[str], object]) -> Iterator[Problem]:
    try:
        if isinstance(value, str) and value:
            exists(value)
    except InputError as error:
        yield from (document.problem(path, each.code, each.message, each.hint) for each in error.problems)


def _inside(use: Use, spec: InputSpec) -> Iterator[Problem]:
    """The problem of a key that no value of the declared type has."""
    key, *further = use.path
    is_length = key == "length" and not further
    if spec.type == "object" or (spec.type == "list" and (is_length or key.isdecimal())):
        return
    if spec.type == "string" and is_length and not use.is_printed:
        return
    message = f"`{use.name}` is of type {spec.type} and has no `{'.'.join(use.path)}`"
    hint = f"read `{use.name}` itself, or declare it as an object"
    if spec.type == "list":
        hint = f"items are addressed by their index, as in `{use.name}.[0]`; their keys are read inside `each`"
    elif is_length and spec.type == "string":
        hint = f"pass its length as an input; it can be tested, as in `{{{{#if {use.name}.length}}}}`"
    yield use.problem("wrong-path", message, hint)


def _lifetime(document: Document, name: str, spec: InputSpec) -> Iterator[Problem]:
    """The problem of an input that may change within a turn, and is said to stay."""
    if spec.tier == "step" and spec.lifetime == "conversation":
        message = f"`{name}` may change between the requests of a turn, so its text leaves when the turn ends"
        hint = "remove `lifetime`, or write `turn` or `step`"
        yield document.problem(("inputs", name, "lifetime"), "wrong-lifetime", message, hint)


def _default(document: Document, name: str, spec: InputSpec) -> Iterator[Problem]:
    """The problem of a default that would be rejected in a turn; null stands for no value."""
    if spec.default is not None and not is_of_type(spec.default, spec.type):
        message = f"the default of `{name}` should be of type {spec.type}, not {type(spec.default).__name__}"
        told = next((kind for kind in get_args(InputType) if is_of_type(spec.default, kind)), "object")
        hint = f"write a default of type {spec.type}, or `type: {told}`"
        yield document.problem(("inputs", name, "default"), "wrong-default", message, hint)
    elif spec.merge and not (spec.type == "object" and spec.default):
        message, hint = (
            f"`{name}` has no default to merge with",
            "give it `type: object` and a default, or remove `merge`",
        )
        yield document.problem(("inputs", name, "merge"), "no-effect", message, hint, key=True)
    elif spec.optional and spec.type not in {"object", "list"}:
        message = f"`{name}` has no keys that a value could lack"
        hint = "write `default: null` for an input that your program may leave out, or remove `optional`"
        yield document.problem(("inputs", name, "optional"), "no-effect", message, hint, key=True)
    elif spec.values is not None:
        yield from _values(document, name, spec, spec.values)


def _values(document: Document, name: str, spec: InputSpec, values: Sequence[Json]) -> Iterator[Problem]:
    """Problems of `values` with the wrong type or listed twice, and of a default that is not among them."""
    for place, value in enumerate(values):
        if value in values[:place]:
            message = f"{value!r} is listed twice among the values of `{name}`"
            yield document.problem(("inputs", name, "values", place), "wrong-value", message, "remove it")
        if value is not None and not is_of_type(value, spec.type):
            message = f"`{name}` is of type {spec.type} and can never be {value!r}"
            yield document.problem(("inputs", name, "values", place), "wrong-value", message, "write another value")
    if spec.default is not None and spec.default not in values:
        message = f"the default of `{name}` is not one of its values"
        hint = did_you_mean(str(spec.default), map(str, values))
        yield document.problem(("inputs", name, "default"), "wrong-default", message, hint)


def _undeclared(document: Document, use: Use, declared: Collection[str]) -> Problem:
    hint = word_hint(use.name) or did_you_mean(use.name, declared)
    problem = use.problem("undeclared-input", f"`{use.name}` is not an input", hint)
    if problem.span and is_foreign_brace(problem.source, problem.span.column - problem.clipped):
        return replace(problem, advice="write `\\{{` for literal braces")
    elsewhere = f" in {document.name}" if problem.name != document.name else ""
    return replace(problem, advice=f"{problem.hint}\nor declare it under `inputs:`{elsewhere}".lstrip())


def _declaration(document: Document, name: str, used: Collection[str]) -> Iterator[Problem]:
    path = ("inputs", name)
    if name in BUILT_IN:
        message, hint = f"`{name}` is filled by the engine", "remove the declaration"
        yield document.problem(path, "reserved-input", message, hint, key=True)
    elif name not in used:
        message, hint = f"no template reads `{name}`", "use it or remove it"
        yield document.problem(path, "unused-input", message, hint, key=True, severity="warning")


def check_words(document: Document, words: WordsSpec, guard: LayoutGuard | None) -> Iterator[Problem]:
    """An error for each line of the working memory that looks like a layout mark, which data must not imitate."""
    for path, text in _lines(words) if guard else ():
        if guard and path in document.values and guard_layout(text, guard)[0] != text:
            message = f"`{'.'.join(map(str, path))}` looks like a heading or separator of the layout"
            hint = "the working memory is printed as data: put the heading into `title:` of its section"
            yield document.problem(path, "wrong-value", message, hint)


def _lines(words: WordsSpec) -> Iterator[tuple[Path, str]]:
    for key, text in words.texts.items():
        if key.startswith("memory.") and key != "memory.unnamed":
            yield ("words", *key.split(".", 2)), text
