"""Combines two rankings: one by words, one by meaning."""

from __future__ import annotations

from collections.abc import Sequence

from cuecard.catalogue.calibration import Calibration
from cuecard.catalogue.explanation import Explained, Explainer
from cuecard.catalogue.ranker import Ranker
from cuecard.model import ToolCard
from cuecard.records import dataclass

LEXICAL = 0.25
"""The share of the words in a score; calibrated in docs/rankers.md."""

DEPTH = 1000
"""How many hits of either ranking are considered: no others can be among those that a search returns."""


@dataclass(frozen=True, slots=True)
class MixedRanker:
    """The weighted mean of two rankings' scores. Immutable, so threads may share it.

    A tool missing in the lexical ranking contains no word of the query, and scores 0 there. A tool missing in the
    semantic ranking, whose length is limited, scores as its last entry.
    """

    lexical: Ranker
    semantic: Ranker
    share: float = LEXICAL
    calibration: Calibration | None = None

    def __call__(self, query: str, limit: int) -> list[tuple[str, float]]:
        """The best tools for the query, at most `limit`; ties as the semantic ranking has them."""
        words, meanings = dict(self.lexical(query, DEPTH)), dict(self.semantic(query, DEPTH))
        least = min(meanings.values(), default=0.0)
        meanings |= {name: least for name in words if name not in meanings}
        mixed = [(name, self.share * words.get(name, 0.0) + (1 - self.share) * m) for name, m in meanings.items()]
        return sorted(mixed, key=lambda hit: -hit[1])[:limit]

    def explain(self, query: str, cards: Sequence[ToolCard]) -> Explained:
        """The explanation of the lexical ranking, if it has one; vectors cannot explain themselves."""
        lexical: object = self.lexical
        return lexical.explain(query, cards) if isinstance(lexical, Explainer) else Explained((), ())
