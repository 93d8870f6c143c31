"""Builds an agent from texts."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from cuecard.agent.agent import Agent
from cuecard.agent.checks.budget import Counted, over_budget
from cuecard.agent.core import core_tools
from cuecard.agent.draft import Draft, make_draft
from cuecard.agent.helpers import LoadHelpers, refuse_helpers
from cuecard.agent.memo import Memo
from cuecard.agent.ranker import NamedRanker, named_ranker
from cuecard.catalogue.catalogue import Catalogue
from cuecard.config.documents.texts import AgentSources
from cuecard.config.layers import origins
from cuecard.errors import Problem, SpecError
from cuecard.model import CountTokens, FileText
from cuecard.template import clean, without_controls
from cuecard.template.guards.gate import Gate


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
        agent = Counted(draft.specification.document, draft.spec, draft.assembly, protocols, _bytes)
        # No token is shorter than a byte, so tokens are only counted where bytes exceed a budget.
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
        gate=Gate(names, draft.spec.words.elements, layout.escaping, layout.guard, layout.markdown),
        ranker=named_ranker(draft.specification.document, draft.spec) if draft.specification else NamedRanker(),
        results=draft.results,
    )


def _bytes(text: str) -> int:
    return len(text.encode())


def _refuse(problems: Iterable[Problem]) -> None:
    if found := tuple(problems):
        raise SpecError(found)


def _files(sources: AgentSources) -> dict[str, FileText]:
    """The files that sections may show, by path; missing files are not included."""
    texts = {source.path: str(clean(without_controls(source.text))[0]) for source in sources.files}
    found = {path: FileText(path, text) for path, text in texts.items()}
    return {**found, **{path: FileText(path, None, error) for path, error in sources.unread}}


def _origins(draft: Draft) -> dict[str, str]:
    """The file and line that each value comes from, if files are layered."""
    if draft.specification is None or not draft.specification.layered:
        return {}
    document = draft.specification.document
    paths = {source.name: source.path for source in draft.sources.texts()}
    return {name: f"{paths.get(found.name, found.name)}:{line}" for name, found, line in origins(document)}
