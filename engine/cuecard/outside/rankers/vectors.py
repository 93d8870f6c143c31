"""Ranks by the angle between sentence vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from cuecard.catalogue.card_texts import CardTexts, whole
from cuecard.model import ToolCard
from cuecard.outside.rankers.encoder import Encoder, unit
from cuecard.records import dataclass

if TYPE_CHECKING:
    from cuecard.outside.rankers.encoder import Vectors

NAME, PHRASES = 0.25, 0.5
"""The weights of the name alone and of the phrases of a card, next to 1 for the whole card."""


@dataclass(frozen=True, slots=True, eq=False)
class VectorRanker:
    """Names and their vectors; a score is the cosine of the angle to the query, or 0 if that is negative."""

    names: tuple[str, ...]
    vectors: Vectors
    encoder: Encoder

    def __call__(self, query: str, limit: int) -> list[tuple[str, float]]:
        """The best tools for the query, at most `limit`; ties in the order of the catalogue."""
        import numpy as np  # noqa: PLC0415 - part of an extra

        scores = np.einsum("ij,j->i", self.vectors, self.encoder.ask(whole(query))[0])  # no BLAS: see `SentenceEncoder`
        best = np.argsort(-scores, kind="stable")[:limit].tolist()
        return [(self.names[n], max(0.0, score)) for n, score in zip(best, scores[best].tolist(), strict=True)]


def card_vectors(texts: Sequence[CardTexts], encoder: Encoder) -> Vectors:
    """One vector for each card."""
    whole = encoder.encode([each.all for each in texts])
    named = whole + NAME * encoder.encode([each.name for each in texts])
    if with_phrases := [n for n, each in enumerate(texts) if each.phrases]:
        named = unit(named)
        named[with_phrases] += PHRASES * encoder.encode([texts[n].phrases for n in with_phrases])
    return unit(named)


def texts_of(cards: Sequence[ToolCard]) -> tuple[CardTexts, ...]:
    """The texts of the cards."""
    return tuple(map(CardTexts.of, cards))
