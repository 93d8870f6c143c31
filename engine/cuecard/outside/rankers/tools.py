"""What rankers are created from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from cuecard.catalogue.ranker import Ranker
from cuecard.model import ToolCard
from cuecard.outside.cache import Cache
from cuecard.records import dataclass


@dataclass(frozen=True, slots=True)
class Tools:
    """The tools to rank, a factory for the ranker by words, and the cache for indexes."""

    cards: Sequence[ToolCard]
    lexical: Callable[[], Ranker]
    cache: Cache


Made: TypeAlias = Callable[[Tools], Ranker]
"""Makes a ranker."""
