"""BM25 over the words of the tools, from the cache where the catalogue is large."""

from __future__ import annotations

from collections.abc import Sequence

from cuecard.catalogue import Bm25Ranker
from cuecard.model import ToolCard
from cuecard.outside.cache import Cache


def lexical_ranker(cards: Sequence[ToolCard], cache: Cache) -> Bm25Ranker:
    """The ranker of these tools."""
    return Bm25Ranker.build(cards)
