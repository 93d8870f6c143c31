"""Helpers and rankers that a file names."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from cuecard.config.agent_file import AgentFile
from cuecard.config.documents.document import Document
from cuecard.config.documents.document import Path as Place
from cuecard.config.tools_spec import BM25, KNOWN, REMOVED_RANKER, HelpersSpec, RankerName, parse_ranker, was_ranker
from cuecard.errors import REMOVED, DidYouMean, Problem, SpecError
from cuecard.records import dataclass
from cuecard.template.rules import Helper


@dataclass(frozen=True, slots=True)
class NamedHelpers:
    """Named helpers, with their place as an empty problem to be filled in."""

    spec: HelpersSpec
    place: Problem

    def problem(self, code: str, message: str, hint: str) -> Problem:
        """A problem at the place that names them."""
        return replace(self.place, code=code, message=message, advice=hint)


LoadHelpers: TypeAlias = Callable[[NamedHelpers], Mapping[str, Helper]]
"""Loads the functions by name; raises `SpecError` if they are unavailable."""


def refuse_helpers(named: NamedHelpers) -> Mapping[str, Helper]:
    """The loader if code is not allowed: it loads nothing.

    Raises:
        SpecError: always.
    """
    message = f"`{named.spec.code}` is code, and this program does not load code named by files"
    hint = "if you trust this agent's files, allow it: `Engine.open(..., allow_code=True)`, or `--allow-code`"
    raise SpecError(named.problem("code-not-allowed", message, hint))


def named_helpers(document: Document, spec: AgentFile) -> Iterator[NamedHelpers]:
    """The helpers that an agent file names, in order."""
    listed = isinstance(document.value.get("helpers"), list)
    for number, each in enumerate(spec.helpers):
        yield NamedHelpers(each, document.problem(("helpers", number) if listed else ("helpers",), "", ""))


def load_all(named: Sequence[NamedHelpers], load: LoadHelpers) -> tuple[tuple[str, Helper], ...]:
    """All helpers by name; of two with the same name, the later.

    Raises:
        SpecError: with every problem of every place.
    """
    functions: dict[str, Helper] = {}
    problems: list[Problem] = []
    for each in named:
        try:
            functions |= load(each)
        except SpecError as error:
            problems += error.problems
    if problems:
        raise SpecError(problems)
    return tuple(functions.items())


PLACE: Place = ("tools", "search", "ranker")

_FORMS = "or a function of yours: `my_package:rank`"


@dataclass(frozen=True, slots=True)
class NamedRanker:
    """A named ranker, with its place as an empty problem to be filled in."""

    name: RankerName = BM25
    place: Problem = Problem("", "")

    def problem(self, code: str, message: str, hint: str) -> Problem:
        """A problem at the place that names it."""
        return replace(self.place, code=code, message=message, advice=hint)


def named_ranker(document: Document, spec: AgentFile) -> NamedRanker:
    """The ranker of a validated agent file."""
    return NamedRanker(parse_ranker(spec.tools.search.ranker) or BM25, document.problem(PLACE, "", ""))


def check_ranker(document: Document, spec: AgentFile) -> Iterator[Problem]:
    """The problem of an invalid ranker name. Whether a ranker is available is checked by those who use it."""
    written = spec.tools.search.ranker
    if was_ranker(written):
        yield document.problem(PLACE, REMOVED, f"the ranker `{written}` was removed", REMOVED_RANKER)
    elif parse_ranker(written) is None:
        message = f"there is no ranker `{written}`"
        yield document.problem(PLACE, "unknown-ranker", message, DidYouMean(written, frozenset(KNOWN), _FORMS))
