"""Contradictory conditions, which can never all hold at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from cuecard.config.documents.document import Document, Path
from cuecard.config.sections.condition import ConditionSpec
from cuecard.errors import Problem
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
