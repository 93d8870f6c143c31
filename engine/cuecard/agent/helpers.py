"""The helpers that an agent file names; read here, and loaded outside the core."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from cuecard.config.agent_file import AgentFile
from cuecard.config.documents.yaml_text import Document
from cuecard.config.helpers_spec import HelpersSpec
from cuecard.errors import Problem, SpecError
from cuecard.records import dataclass
from cuecard.template.backends.rules import Helper


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
    message = f"`{named.spec.code}` is code, and this host does not load code named by files"
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
