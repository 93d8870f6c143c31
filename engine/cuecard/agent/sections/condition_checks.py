"""Conditions that can never hold or contradict each other, and alternatives that are never chosen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from cuecard.agent.sections.conditions import parts_of, paths_read, sections_asked
from cuecard.agent.sections.section import Section
from cuecard.agent.sections.selections import EditionSource
from cuecard.config.agent_file import InputSpec
from cuecard.config.documents.document import Document, Path
from cuecard.config.sections.section_spec import TEXTS, ConditionSpec
from cuecard.config.values import is_of_type
from cuecard.errors import Problem, did_you_mean
from cuecard.model import Json

_HINT = "remove one of the two, or write `any` in place of `all`"


def contradictions(document: Document, at: Path, parts: Sequence[ConditionSpec]) -> Iterator[Problem]:
    """An error at the second of any two parts of an `all` that exclude each other.

    Args:
        document: the agent file.
        at: the path of the list of parts.
        parts: the conditions that must all hold.
    """
    for number, part in enumerate(parts):
        told = next((each for before in parts[:number] for each in _excluded(before, part)), None)
        if told is not None:
            yield document.problem((*at, number), "wrong-condition", told, _HINT)


def _excluded(first: ConditionSpec, second: ConditionSpec) -> Iterator[str]:
    if first.not_ == second or second.not_ == first:
        yield "this and its opposite can never hold at once"
    one, other = first.equals or {}, second.equals or {}
    for path in _shared(one, other):
        if not any(each in _values(other[path]) for each in _values(one[path])):
            yield f"`{path}` can never have both of these values"
    for low, high in ((first, second), (second, first)):
        least, most = low.at_least or {}, high.at_most or {}
        for path in _shared(least, most):
            if least[path] > most[path]:
                yield f"`{path}` can never be at least {least[path]:g} and at most {most[path]:g}"


def _shared(one: Mapping[str, object], other: Mapping[str, object]) -> list[str]:
    return [path for path in one if path in other]


def _values(wanted: Json) -> list[Json]:
    return wanted if isinstance(wanted, list) else [wanted]


_NO_SIZE = "boolean"
_LENGTHS = ("string", "list", "object")


def check_condition(
    document: Document, at: Path, condition: ConditionSpec, inputs: Mapping[str, InputSpec]
) -> Iterator[Problem]:
    """The problems of a condition, each at its place; undeclared inputs are reported elsewhere.

    Args:
        document: the agent file.
        at: the path of the condition.
        condition: the condition.
        inputs: the agent's declared inputs.
    """
    for place, part in parts_of(condition):
        yield from _empty(document, (*at, *place), part)
        for path in paths_read(part):
            yield from _inside(document, (*at, *place), path, inputs)
        for path, wanted in (part.equals or {}).items():
            spec = inputs.get(path)
            if spec is not None:
                yield from _equals(document, (*at, *place, "equals", path), spec, wanted)
        yield from contradictions(document, (*at, *place, "all"), part.all or ())
        for key, table in (("at_least", part.at_least), ("at_most", part.at_most)):
            for path, limit in (table or {}).items():
                if path in inputs:
                    yield from _size(document, (*at, *place, key, path), inputs[path], limit)


def _size(document: Document, at: Path, spec: InputSpec, limit: float) -> Iterator[Problem]:
    """The problem of an impossible size."""
    name = at[-1]
    if spec.type == _NO_SIZE:
        message = f"`{name}` is true or false and has no size"
        yield document.problem(at, "wrong-condition", message, f"write `input: {name}`")
    elif spec.type in _LENGTHS and limit < 0:
        message = f"`{name}` is of type {spec.type}, and its length is never below 0"
        yield document.problem(at, "wrong-condition", message, "write 0 or more")


def _empty(document: Document, at: Path, part: ConditionSpec) -> Iterator[Problem]:
    """The problem of an empty list of values, which nothing can equal."""
    if part.tool == "":
        yield document.problem((*at, "tool"), "wrong-condition", "no tool has an empty name", "write a tool's name")
    if part.model is not None and "" in part.model:
        # in a choice, `model` is its own key, which `at` then ends with
        place = at if at[-1] == "model" else (*at, "model")
        yield document.problem(place, "wrong-condition", "no model has an empty name", "write a model's name, or `*`")
    for path, wanted in (part.equals or {}).items():
        if wanted == []:
            hint = f"list the values that it may have; for an empty one write `not: {path}`"
            message = f"`{path}` can never be one of no values"
            yield document.problem((*at, "equals", path), "wrong-condition", message, hint)


def _inside(document: Document, at: Path, path: str, inputs: Mapping[str, InputSpec]) -> Iterator[Problem]:
    """The problem of a path into a value that has no keys."""
    name, dot, _ = path.partition(".")
    spec = inputs.get(name)
    if dot and spec is not None and spec.type != "object":
        message = f"`{path}` cannot exist: `{name}` is of type {spec.type}"
        yield document.problem(at, "wrong-condition", message, f"use `{name}`, or declare it with `type: object`")


def _equals(document: Document, at: Path, spec: InputSpec, wanted: Json) -> Iterator[Problem]:
    several = isinstance(wanted, list)
    for number, each in enumerate(wanted if several else [wanted]):
        place = (*at, number) if several else at
        if each is not None and not is_of_type(each, spec.type):
            message = f"`{at[-1]}` is of type {spec.type} and can never be {each!r}"
            yield document.problem(place, "wrong-condition", message, _as_type(each, spec))
        elif each is not None and spec.values is not None and each not in spec.values:
            hint = did_you_mean(str(each), map(str, spec.values))
            yield document.problem(place, "wrong-condition", f"`{at[-1]}` can never be {each!r}", hint)


def _as_type(wanted: Json, spec: InputSpec) -> str:
    if spec.type == "string":
        return f'write "{str(wanted).lower() if isinstance(wanted, bool) else wanted}"'
    if spec.type == "list":
        return "test its length: `at_least: {NAME: 1}`"
    return f"write a value of type {spec.type}"


def alternatives(written: EditionSource) -> Sequence[EditionSource]:
    """The section once for each of its alternative texts."""
    if written.spec.choose is None:
        return (written,)
    at = written.place("choose")
    texts = ({**dict.fromkeys(TEXTS), "text": choice.text, "file": choice.file} for choice in written.spec.choose)
    return [EditionSource(written.spec.model_copy(update=text), (*at, index)) for index, text in enumerate(texts)]


def conditions_of(written: EditionSource) -> Iterator[tuple[Path, ConditionSpec]]:
    """Its conditions, each with its place."""
    if written.spec.when:
        yield written.place("when"), written.spec.when
    for index, choice in enumerate(written.spec.choose or ()):
        if choice.condition:
            yield (*written.place("choose"), index, "model" if choice.model else "when"), choice.condition


def check_waiting(
    document: Document, written: EditionSource, section: Section, known: Mapping[str, Section]
) -> Iterator[Problem]:
    """Problems of conditions on sections that do not exist, that wait themselves, or that change from step to step."""
    for at, condition in conditions_of(written):
        for place, part in parts_of(condition):
            if part.empty is not None:
                path = (*at, *place, "empty")
                if at[-1] != "when" or "choose" in at:
                    message = "a section's text is chosen before any section is rendered"
                    yield document.problem(path, "wrong-condition", message, "split it into two sections with `when`")
                else:
                    yield from _asked(document, path, part.empty, section, known)


def _asked(
    document: Document, at: Path, name: str, section: Section, known: Mapping[str, Section]
) -> Iterator[Problem]:
    other = known.get(name)
    if other is None:
        yield document.problem(at, "unknown-section", f"there is no section `{name}`", did_you_mean(name, known))
    elif name == section.id or (other.spec.when and any(sections_asked(other.spec.when))):
        message = (
            f"`{name}` itself depends on another section" if name != section.id else "a section cannot depend on itself"
        )
        yield document.problem(at, "wrong-condition", message, "refer to a section that depends on no other")
    elif other.tier == "step":
        message = f"`{name}` changes with each model request, but sections are chosen once per user message"
        yield document.problem(at, "wrong-condition", message, "refer to a section of tier `static` or `call`")
