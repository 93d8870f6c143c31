"""How an engine searches: the ranker is chosen when an agent is opened, and created at the first search."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache as once

from cuecard.catalogue.hits import reason
from cuecard.catalogue.ranker import Ranker
from cuecard.catalogue.search import SearchIndex
from cuecard.model import Diagnostic, ToolCard
from cuecard.outside.cache import Cache
from cuecard.outside.rankers.lexical import lexical_ranker
from cuecard.outside.rankers.tools import Made, Tools
from cuecard.records import dataclass


def by_words(tools: Tools) -> Ranker:
    """BM25."""
    return tools.lexical()


@dataclass(frozen=True, slots=True)
class Search:
    """What ranks the tools, and where indexes are cached. By default BM25, without a cache."""

    make: Made = by_words
    cache: Cache = Cache()

    def index(self, cards: Sequence[ToolCard]) -> SearchIndex:
        """The index of these tools. If its ranker cannot be created, BM25 ranks, and every answer says why."""
        lexical = once(lambda: lexical_ranker(cards, self.cache))
        try:
            return SearchIndex.build(cards, ranker=self.make(Tools(cards, lexical, self.cache)), fallback=lexical)
        except Exception as error:  # noqa: BLE001 - a damaged model or a host's own code: the conversation goes on
            said = f"the ranker cannot be created, so BM25 answers instead: {reason(error)}"
            return SearchIndex.build(cards, ranker=lexical(), diagnostics=(Diagnostic("ranker_failed", said),))
