"""From texts to an agent. It goes on after each problem, so that one run reports every problem of every file."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from cuecard.agent.checks import check_inputs, check_tools, refuse_invisible
from cuecard.agent.instructions import read_instructions
from cuecard.agent.nouns import BUILT_IN, Agent, Section
from cuecard.errors import CuecardError, Problem, SpecError
from cuecard.model import Tier
from cuecard.sections.protocols import make_protocol
from cuecard.spec.agent_file import AgentFile
from cuecard.spec.sources import AgentSources, SourceText
from cuecard.spec.validate import validate
from cuecard.spec.yaml_text import read_yaml
from cuecard.template import Escaping, Part, compile_template, element_names
from cuecard.tools import Catalogue

Result = TypeVar("Result")


def build_agent(sources: AgentSources) -> Agent:
    """Check and compile an agent.

    Raises:
        SpecError: with every problem of every file.
    """
    problems = [*sources.problems, *(p for source in sources.texts() for p in refuse_invisible(source))]
    document = _attempt(lambda: read_yaml(sources.agent.text, sources.agent.name), problems)
    spec = _attempt(lambda: validate(document, AgentFile), problems) if document else None
    parts = _attempt(lambda: _parts(sources, spec.template.escaping if spec else "text"), problems) or ()
    cards, named, found = read_instructions(sources.instructions)
    problems += found
    if document and spec:
        problems += [*document.warnings, *check_inputs(document, spec, parts, sources.template)]
        problems += check_tools(document, spec, named) if sources.instructions else []
    if spec is None or any(p.severity == "error" for p in problems):
        raise SpecError(problems)
    sections = tuple(_section(part, sources.template) for part in parts)
    protocols = {name: made for name, card in cards.items() if (made := make_protocol(card))}
    names = frozenset(protocols).union(*(element_names(s.text) for s in (sources.template, *sources.partials) if s))
    return Agent(spec, sources.sha256(), sections, Catalogue(cards.values()), protocols, names, tuple(problems))


def _attempt(read: Callable[[], Result], problems: list[Problem]) -> Result | None:
    try:
        return read()
    except CuecardError as error:
        problems += error.problems
        return None


def _parts(sources: AgentSources, escaping: Escaping) -> tuple[Part, ...]:
    if sources.template is None:
        return ()
    partials = {partial.stem: partial.text for partial in sources.partials}
    source = sources.template
    template = compile_template(source.text, name=source.name, partials=partials, escaping=escaping)
    return template.outline().parts


def _section(part: Part, source: SourceText | None) -> Section:
    reads = frozenset(use.name for use in part.inputs)
    where = f"{source.path}:{part.span.line}" if source else ""
    return Section(part.id, _tier(reads), reads, where, part.render)


def _tier(reads: frozenset[str]) -> Tier:
    tiers = {BUILT_IN.get(name, "call") for name in reads}
    return "step" if "step" in tiers else "call" if tiers else "static"
