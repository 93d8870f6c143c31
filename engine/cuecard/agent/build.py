"""From texts to an agent."""

from __future__ import annotations

from cuecard.agent.draft import make_draft
from cuecard.agent.memo import Memo
from cuecard.agent.nouns import Agent
from cuecard.errors import SpecError
from cuecard.sections.protocols import make_protocol
from cuecard.spec.sources import AgentSources
from cuecard.template import element_names
from cuecard.tools import Catalogue


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
    sections = draft.core.sections if draft.core else ()
    protocols = {name: made for name, card in draft.cards.items() if (made := make_protocol(card))}
    names = frozenset(protocols).union(*(element_names(s.text) for s in (sources.template, *sources.partials) if s))
    catalogue = Catalogue(draft.cards.values())
    return Agent(draft.spec, sources.sha256(), sections, catalogue, protocols, names, draft.problems)
