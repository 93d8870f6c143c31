"""From texts to a compiled agent, with every problem on the way."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from typing import TypeVar

from cuecard.agent.agent import Agent
from cuecard.agent.assembly import Assembly
from cuecard.agent.checks.budget import CountedAgent, over_budget
from cuecard.agent.checks.inputs import check_clocks, check_inputs, check_words
from cuecard.agent.checks.partials import check_partials
from cuecard.agent.checks.tools import check_asked, check_file_order, check_gates, check_named, check_tools
from cuecard.agent.host_functions import (
    LoadHelpers,
    NamedRanker,
    check_ranker,
    load_all,
    named_helpers,
    named_ranker,
    refuse_helpers,
)
from cuecard.agent.instructions import InstructionFile, Instructions, lost_instructions, read_instructions
from cuecard.agent.producers.section_list import SectionList
from cuecard.agent.producers.xml_core import XmlCore, read_core
from cuecard.agent.results import ResultForms, ResultText, ResultTexts, check_results
from cuecard.agent.sections.elements import elements_written
from cuecard.agent.sections.section import PROTOCOLS
from cuecard.agent.sections.selections import check_selections
from cuecard.agent.specification import Specification, core_tools, read_own_models, read_specification
from cuecard.agent.trees import Trees, read_trees
from cuecard.agent.world import Memo, World
from cuecard.catalogue.catalogue import Catalogue
from cuecard.config.agent_file import AgentFile
from cuecard.config.documents.sources import AgentSources, SkillSource, refuse_escaped, refuse_invisible
from cuecard.config.layers import origins
from cuecard.config.models_file import ModelsFile
from cuecard.config.skills.skill_file import left_out
from cuecard.config.tools_spec import CuesSpec
from cuecard.config.words_spec import Words
from cuecard.errors import CuecardError, Problem, SpecError
from cuecard.model import CountTokens, FileText, ToolCard
from cuecard.model.prompt import most_tokens
from cuecard.records import dataclass
from cuecard.sources.tools import Protocol, make_protocol
from cuecard.template import clean, without_controls
from cuecard.template.guards.gate import PromptGate
from cuecard.template.syntax.source import TemplateSource

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True, eq=False)
class AgentDraft:
    """An agent as far as it could be built; missing parts are None, and `problems` says why.

    `told` are the entries of its tools, and `protocols` the rendered instructions of each that has any.
    """

    sources: AgentSources
    specification: Specification | None
    assembly: Assembly | None
    told: Instructions
    problems: tuple[Problem, ...]
    partials: Trees
    names: frozenset[str] = frozenset()
    models: ModelsFile | None = None
    results: ResultForms = ()
    result_texts: tuple[ResultText, ...] = ()
    protocols: Mapping[str, Protocol] = field(default_factory=dict)

    @property
    def spec(self) -> AgentFile | None:
        """The agent file."""
        return self.specification.spec if self.specification else None

    @property
    def cards(self) -> Mapping[str, ToolCard]:
        """Its tools by name."""
        return self.told.cards

    @property
    def has_errors(self) -> bool:
        """Whether there are errors, so that no agent can be built."""
        return self.assembly is None or any(problem.severity == "error" for problem in self.problems)


def make_draft(sources: AgentSources, memo: Memo, load: LoadHelpers = refuse_helpers) -> AgentDraft:
    """Read, compile and check as much as possible."""
    problems = [*sources.problems, *_invisible(sources, memo)]
    specification = _attempt(lambda: read_specification(sources, memo), problems)
    own = (specification.spec.tools.search.tool,) if specification and specification.spec else ()
    items = _items(sources, specification) if specification else ()
    whole = not lost_instructions(sources, specification)
    told = read_instructions(sources.instructions, memo, items, own=own, are_all=whole)
    cards, found = told.cards, told.problems
    models, wrong = read_own_models(sources.models, memo)
    draft = AgentDraft(sources, specification, None, told, (), {}, models=models)
    problems += specification.problems if specification else ()
    if specification is None or specification.spec is None:
        problems += _template_problems(sources, memo)
        return replace(draft, problems=(*problems, *found, *wrong))
    document, spec = specification.document, specification.spec
    names = elements_written(spec, sources) | told.names
    named = [*named_helpers(document, spec)]
    helpers = _attempt(lambda: load_all(named, load), problems)
    if helpers is None:  # their calls would be reported as mistakes
        return replace(draft, problems=(*problems, *found, *wrong))
    world = World(document, spec, sources, memo, names, specification.removed, helpers)
    problems += check_selections(document, spec, specification.removed) if specification.outlined else ()
    assembly = _attempt(lambda: _assemble(world, outlined=specification.outlined), problems)
    problems += assembly.problems if assembly else ()
    problems += [*found, *wrong, *document.warnings, *refuse_escaped(document)]
    problems += check_words(document, spec.words, assembly.layout.guard) if assembly else ()
    results = ResultTexts(world)
    known = told.known if sources.instructions else None
    problems += [*results.problems, *check_named(document, spec, known)]
    problems += check_results(document, results.forms, spec.tools.search.tool)
    partials = _partials(sources, memo)
    problems += _check_sections(world, assembly, partials, cards, results) if assembly else ()
    asked = check_asked((use for each in assembly.all_compiled for use in each.uses), known) if assembly else ()
    problems += [*_check_tools(world, told), *dict.fromkeys(asked), *check_ranker(document, spec)]
    made = replace(draft, assembly=assembly, problems=tuple(problems), partials=partials, names=world.names)
    protocols = _protocols(told, spec, memo)
    return replace(made, results=results.forms, result_texts=tuple(results.texts), protocols=protocols)


def _items(sources: AgentSources, specification: Specification) -> tuple[int, ...]:
    """The item of `tools: instructions:` of each file; only in an agent that extends another, one may change others."""
    named = _instructions(specification) if sources.layers else ()
    places = [posixpath.normpath(place) for place in named]
    return tuple(
        next((at for at, place in enumerate(places) if place == "." or f"{source.path}/".startswith(f"{place}/")), 0)
        for source in sources.instructions
    )


def _instructions(specification: Specification) -> Sequence[str]:
    """What `tools: instructions:` names: also beside mistakes, or an entry over another would be one more of them."""
    if specification.spec:
        return specification.spec.tools.instructions
    tools = specification.document.value.get("tools")
    named = tools.get("instructions") if isinstance(tools, dict) else None
    return [each for each in named if isinstance(each, str)] if isinstance(named, list) else ()


def _assemble(world: World, *, outlined: bool) -> Assembly | None:
    """The sections, from a template or a list; None if the template is missing, which was reported already."""
    if world.spec.template is None:
        return Assembly(world, SectionList(world))
    template = world.sources.template
    core = XmlCore(world, template) if template else None
    return Assembly(world, core) if core and outlined else None


def _template_problems(sources: AgentSources, memo: Memo) -> Sequence[Problem]:
    """The problems of the template if the agent file itself is invalid."""
    if sources.template is None:
        return ()
    try:
        return memo(read_core, sources.template, sources.partials, "cuecard").problems
    except CuecardError as error:
        return error.problems


def _check_sections(
    world: World, assembly: Assembly, partials: Trees, cards: Mapping[str, ToolCard], results: ResultTexts
) -> Iterator[Problem]:
    document, spec = world.document, world.spec
    compiled = assembly.all_compiled
    uses = [use for each in compiled for use in each.uses]
    texts = [(each.text.source, each.text.program) for each in compiled]
    texts += [(TemplateSource(each.template.name, each.template.text), each.template.program) for each in results.texts]
    # It is unknown what a section reads if it does not compile, so nothing is reported as unused.
    yield from dict.fromkeys(check_inputs(document, spec, uses, are_all=assembly.is_whole))
    yield from dict.fromkeys(check_clocks(document, spec, (each.section.spec for each in compiled)))
    instructed = assembly.is_whole and any(card.instructions for card in cards.values())
    if instructed and all(use.name != PROTOCOLS for use in uses):
        yield assembly.no_protocols()
    yield from check_partials(
        texts, partials, world.sources.partials, are_all=assembly.is_whole and not results.problems
    )


def _partials(sources: AgentSources, memo: Memo) -> Trees:
    try:
        return memo(read_trees, sources.partials)
    except CuecardError:  # reported when they are compiled
        return {}


def _invisible(sources: AgentSources, memo: Memo) -> Iterator[Problem]:
    """Optional files may contain invisible characters: they are shown without them."""
    shown = {source.path for source in sources.files} - {source.path for source in sources.sections}
    for source in sources.texts():
        lenient = isinstance(source, SkillSource) and not source.strict
        for problem in memo(refuse_invisible, source):
            told = replace(problem, severity="warning") if source.path in shown else problem
            yield left_out(told) if lenient else told


def _check_tools(world: World, told: Instructions) -> Iterator[Problem]:
    if world.sources.instructions:
        yield from check_tools(world.document, world.spec, told.known)
        categories = frozenset(card.category for card in told.cards.values())
        yield from check_gates(world.document, world.spec, told.known, categories)
        yield from check_file_order(world.document, world.spec, world.sources.instructions)


def _protocols(told: Instructions, spec: AgentFile, memo: Memo) -> dict[str, Protocol]:
    """The rendered instructions by tool; those of unchanged files are not made again."""
    words, cues = spec.words.protocols, spec.tools.cues
    made: dict[str, Protocol | None] = {}
    for file in told.files:
        made |= memo(_protocols_of, file, words, cues)
    several = {tool for texts in told.hidden.values() for tool, _ in texts}  # entries that lie over each other
    made |= {tool: memo(make_protocol, tool, told.cards[tool].instructions, words, cues) for tool in several}
    return {name: protocol for name in told.cards if (protocol := made[name])}


def _protocols_of(file: InstructionFile, words: Words, cues: CuesSpec) -> dict[str, Protocol | None]:
    return {card.name: make_protocol(card.name, card.instructions, words, cues) for card in file.cards}


def _attempt(read: Callable[[], Result | None], problems: list[Problem]) -> Result | None:
    try:
        return read()
    except CuecardError as error:
        problems += error.problems
        return None


def build_agent(
    sources: AgentSources,
    memo: Memo | None = None,
    load: LoadHelpers = refuse_helpers,
    counter: Callable[[str], CountTokens] | None = None,
) -> Agent:
    """Check and compile an agent.

    Args:
        sources: its texts.
        memo: the memo of earlier builds of this agent; unchanged parts are neither parsed nor compiled again.
        load: loads the helpers that the agent file names.
        counter: counts tokens in an encoding, to refuse core tools for which a budget has no room.

    Raises:
        SpecError: with every problem of every file.
    """
    draft = make_draft(sources, memo or Memo(), load)
    if draft.spec is None or draft.assembly is None or draft.has_errors:
        raise SpecError(draft.problems)
    protocols = draft.protocols
    if counter and draft.specification:
        agent = CountedAgent(draft.specification.document, draft.spec, draft.assembly, protocols, most_tokens)
        if any(over_budget(agent)):
            _refuse(over_budget(replace(agent, count=counter(draft.spec.tokens.encoding))))
    layout, names = draft.assembly.layout, draft.names.union(protocols)
    return Agent(
        spec=draft.spec,
        sha256=sources.sha256(),
        editions=draft.assembly.editions,
        layout=layout,
        catalogue=Catalogue(draft.cards.values()),
        core=core_tools(draft.spec.tools, draft.cards),
        protocols=protocols,
        names=names,
        warnings=draft.problems,
        files=_files(sources),
        origins=_origins(draft),
        models=draft.models,
        gate=PromptGate(names, draft.spec.words.elements, layout.escaping, layout.guard, layout.markdown),
        ranker=named_ranker(draft.specification.document, draft.spec) if draft.specification else NamedRanker(),
        results=draft.results,
    )


def _refuse(problems: Iterable[Problem]) -> None:
    if found := tuple(problems):
        raise SpecError(found)


def _files(sources: AgentSources) -> dict[str, FileText]:
    """The files that sections may show, by path; missing files are not included."""
    texts = {source.path: str(clean(without_controls(source.text))[0]) for source in sources.files}
    found = {path: FileText(path, text) for path, text in texts.items()}
    return {**found, **{path: FileText(path, None, error) for path, error in sources.unread}}


def _origins(draft: AgentDraft) -> dict[str, str]:
    """The file and line that each value comes from, if files are layered."""
    if draft.specification is None or not draft.specification.layered:
        return {}
    document = draft.specification.document
    paths = {source.name: source.path for source in draft.sources.texts()}
    return {name: f"{paths.get(found.name, found.name)}:{line}" for name, found, line in origins(document)}
