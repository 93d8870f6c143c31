"""Finds a missing value in another context: `../title`, or `title` inside an `if`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from cuecard.errors import Problem, TemplateRenderError
from cuecard.model import Json
from cuecard.template.syntax.nodes import Block, Call, Expression, Mustache, Partial, Path, Program, Statement, branches
from cuecard.template.syntax.source import Source

_KEEPS = ("if", "unless")
_ENTERS = ("each", "with")


def pointed(
    error: TemplateRenderError, source: Source, program: Program, values: Mapping[str, Json]
) -> TemplateRenderError:
    """The error with a hint: the path to the value, if the template's values contain one with that name."""
    return TemplateRenderError(_pointed(problem, source, program, values) for problem in error.problems)


def _pointed(problem: Problem, source: Source, program: Program, values: Mapping[str, Json]) -> Problem:
    if problem.code != "missing-value" or problem.span is None or problem.name != source.name:
        return problem
    at = source.starts[problem.span.line - 1] + problem.span.column - 1
    for path, depth in _paths(program.body, at, 0):
        told = path.parts[:1] and problem.message.startswith(f"`{path.parts[0]}` ") and path.parts[0] in values
        if not told or path.data or path.parts.count(path.parts[0]) > 1 or depth is None or path.depth == depth:
            return problem
        return replace(problem, advice=_advice(path, depth))
    return problem


def _advice(path: Path, depth: int) -> str:
    written = "../" * depth + ".".join(path.parts)
    if path.depth > depth:
        return f"`..` leaves the template here, because `if` and `unless` keep the context: write `{written}`"
    return f"`{path.parts[0]}` is outside of this block: write `{written}`"


def _paths(body: list[Statement], at: int, depth: int | None) -> Iterator[tuple[Path, int | None]]:
    """The path at an offset, and how many contexts out the values are; None if that is uncertain."""
    for node in body:
        if not node.start <= at < node.end or not isinstance(node, Mustache | Block | Partial):
            continue
        yield from ((path, depth) for path in _in_call(node.call, at))
        for program in branches(node):
            inside = _inside(node, depth) if isinstance(node, Block) and program is node.program else depth
            yield from _paths(program.body, at, None if isinstance(node, Partial) else inside)


def _inside(node: Block, depth: int | None) -> int | None:
    """How many contexts out the values are inside a block."""
    name = node.call.head.original if isinstance(node.call.head, Path) else ""
    value: Any = node.call.params[0] if node.call.params else None
    if depth is None or node.decorator or (name not in _KEEPS and name not in _ENTERS):
        return None
    if name in _KEEPS:
        return depth
    # A block that keeps its context adds no level.
    return depth + 1 if isinstance(value, Path) and value.parts else None


def _in_call(call: Call, at: int) -> Iterator[Path]:
    waiting: list[Expression] = [call.head, *call.params, *(value for _, value in call.hash)]
    for each in waiting:
        if isinstance(each, Call):
            waiting += [each.head, *each.params, *(value for _, value in each.hash)]
        elif isinstance(each, Path) and each.start == at:
            yield each
