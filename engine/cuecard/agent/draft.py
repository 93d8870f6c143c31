"""What can be made of an agent's texts. It goes on after each problem, so that one run reports every one of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

from cuecard.agent.checks.inputs import check_inputs, check_section_inputs
from cuecard.agent.checks.invisible import refuse_escaped, refuse_invisible
from cuecard.agent.checks.tools import check_order, check_tools
from cuecard.agent.checks.words import check_words
from cuecard.agent.core import Backend, Core, read_core
from cuecard.agent.instructions import read_instructions
from cuecard.agent.listed import Listed
from cuecard.agent.memo import Memo
from cuecard.agent.own_models import read_own_models
from cuecard.config.agent_file import AgentFile
from cuecard.config.documents.texts import AgentSources
from cuecard.config.documents.validation import validate
from cuecard.config.documents.yaml_text import Document, read_yaml
from cuecard.config.layers import lay_over
from cuecard.config.models_file import ModelsFile
from cuecard.config.words_spec import ENGLISH
from cuecard.errors import CuecardError, Problem
from cuecard.model import ToolCard
from cuecard.template import Escaping

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True, eq=False)
class Draft:
    """An agent as far as it could be made; what could not is None, and `problems` says why."""

    sources: AgentSources
    document: Document | None
    spec: AgentFile | None
    core: Core | None
    listed: Listed | None
    cards: Mapping[str, ToolCard]
    problems: tuple[Problem, ...]
    models: ModelsFile | None = None

    @property
    def has_errors(self) -> bool:
        """Whether no agent can be made of it."""
        return self.spec is None or any(problem.severity == "error" for problem in self.problems)


def make_draft(sources: AgentSources, memo: Memo) -> Draft:
    """Read, compile and check everything that can be."""
    problems = [*sources.problems, *_invisible(sources, memo)]
    document = _attempt(lambda: _read(sources), problems)
    spec = _attempt(lambda: validate(document, AgentFile), problems) if document else None
    written = spec.template if spec else None
    escaping: Escaping = written.escaping if written else "text"
    backend: Backend = written.backend if written else "cuecard"
    template, partials = sources.template, sources.partials
    cards, named, found = read_instructions(sources.instructions, memo)
    words = spec.words if spec else ENGLISH
    given = (partials, escaping, backend, named | words.elements)
    core = _attempt(lambda: memo(read_core, template, *given), problems) if template else None
    listed = Listed(document, spec, sources, memo, named) if document and spec and spec.sections else None
    problems += [*(core.problems if core else ()), *(listed.problems if listed else ())]
    models, wrong = read_own_models(sources.models, memo)
    problems += [*found, *wrong]
    if document and spec:
        problems += [
            *document.warnings,
            *refuse_escaped(document),
            *(check_words(document, spec.words, listed.guard) if listed else ()),
            *(check_inputs(document, spec, core.inputs, sources) if core else ()),
            *(check_section_inputs(document, spec, listed.uses, instructed=_instructed(cards)) if listed else ()),
        ]
        problems += _check_tools(document, spec, named, cards, sources)
    return Draft(sources, document, spec, core, listed, cards, tuple(problems), models)


def _invisible(sources: AgentSources, memo: Memo) -> Iterator[Problem]:
    """In files that may be missing it is no error: those are shown without it."""
    shown = {source.path for source in sources.files} - {source.path for source in sources.sections}
    for source in sources.texts():
        for problem in memo(refuse_invisible, source):
            yield replace(problem, severity="warning") if source.path in shown else problem


def _instructed(cards: Mapping[str, ToolCard]) -> bool:
    return any(card.instructions for card in cards.values())


def _read(sources: AgentSources) -> Document:
    """The agent file laid over those that it extends."""
    layers = [(read_yaml(source.text, source.name), sources.folder(source)) for source in sources.layers]
    return lay_over([*layers, (read_yaml(sources.agent.text, sources.agent.name), "")])


def _check_tools(
    document: Document,
    spec: AgentFile,
    named: frozenset[str],
    cards: Mapping[str, ToolCard],
    sources: AgentSources,
) -> Iterator[Problem]:
    if sources.instructions:
        without = {name for name, card in cards.items() if card.instructions is None}
        yield from check_tools(document, spec, named, discovers=not named or not named <= without)
        yield from check_order(document, spec, sources.instructions)


def _attempt(read: Callable[[], Result], problems: list[Problem]) -> Result | None:
    try:
        return read()
    except CuecardError as error:
        problems += error.problems
        return None
