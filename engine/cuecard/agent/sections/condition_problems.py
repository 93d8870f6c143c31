"""Checks conditions against inputs: conditions that can never hold, or that test something a value does not have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from cuecard.agent.sections.conditions import parts_of, paths_read
from cuecard.agent.sections.contradictions import contradictions
from cuecard.config.agent_file import InputSpec
from cuecard.config.documents.document import Document, Path
from cuecard.config.input_types import is_of_type
from cuecard.config.sections.condition import ConditionSpec
from cuecard.errors import Problem, did_you_mean
from cuecard.model import Json

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
