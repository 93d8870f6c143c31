"""From texts to an agent."""

from __future__ import annotations

from cuecard.agent.draft import Draft, make_draft
from cuecard.agent.elements import elements_written
from cuecard.agent.memo import Memo
from cuecard.agent.nouns import Agent
from cuecard.catalogue import Catalogue
from cuecard.config.documents.texts import AgentSources
from cuecard.config.layers import origins
from cuecard.errors import SpecError
from cuecard.model import FileText
from cuecard.sources.protocols import make_protocol
from cuecard.template import clean, element_names, without_controls


def build_agent(sources: AgentSources, memo: Memo | None = None) -> Agent:
    """Check and compile an agent.

    Args:
        sources: its texts.
        memo: from earlier builds of this agent; what has not changed since is neither parsed nor compiled again.

    Raises:
        SpecError: with every problem of every file.
    """
    draft = make_draft(sources, memo or Memo())
    if draft.spec is None or draft.has_errors:
        raise SpecError(draft.problems)
    listed = draft.listed
    sections = draft.core.sections if draft.core else listed.sections if listed else ()
    words = draft.spec.words.protocols
    protocols = {name: made for name, card in draft.cards.items() if (made := make_protocol(card, words))}
    texts = [source.text for source in (sources.template, *sources.partials) if source]
    return Agent(
        spec=draft.spec,
        sha256=sources.sha256(),
        sections=sections,
        catalogue=Catalogue(draft.cards.values()),
        protocols=protocols,
        names=elements_written(draft.spec, sources).union(protocols, *map(element_names, texts)),
        warnings=draft.problems,
        editions=listed.editions if listed else {},
        files=_files(sources),
        origins=_origins(draft),
        guard=listed.guard if listed else None,
        models=draft.models,
    )


def _files(sources: AgentSources) -> dict[str, FileText]:
    """What sections may show, by path; a file that is not there is missing here, too."""
    texts = {source.path: str(clean(without_controls(source.text))[0]) for source in sources.files}
    found = {path: FileText(path, text) for path, text in texts.items()}
    return {**found, **{path: FileText(path, None, error) for path, error in sources.unread}}


def _origins(draft: Draft) -> dict[str, str]:
    """Which line of which file wrote each value, where one agent file was laid over others."""
    if draft.document is None or not draft.sources.layers:
        return {}
    paths = {source.name: source.path for source in draft.sources.texts()}
    return {
        name: f"{paths.get(document.name, document.name)}:{line}" for name, document, line in origins(draft.document)
    }
