"""Ranks by meaning: sentence vectors, combined with the words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from cuecard.catalogue.calibration import Calibration
from cuecard.catalogue.card_texts import CardTexts
from cuecard.catalogue.mixing import MixedRanker
from cuecard.outside.cache import Cache, fingerprint
from cuecard.outside.rankers.encoder import Encoder
from cuecard.outside.rankers.tools import Tools
from cuecard.outside.rankers.vectors import VectorRanker, card_vectors, texts_of

if TYPE_CHECKING:
    from cuecard.outside.rankers.encoder import Vectors

CALIBRATION = Calibration(confidence=0.15, cut=0.65)
"""The calibration of the combined scores for any vectors; measured in docs/rankers.md."""


_ROUNDED = 1e-3
"""Vectors have the length 1, or 0 where a text has no words; rounding to four bytes changes it by less."""


def semantic_ranker(tools: Tools, load: Callable[[], Encoder]) -> MixedRanker:
    """The ranker of these tools, by words and by the vectors that `load` returns.

    Raises:
        Exception: anything that a package raises for a damaged model.
    """
    encoder, texts = load(), texts_of(tools.cards)
    ranker = VectorRanker(tuple(card.name for card in tools.cards), _vectors(texts, encoder, tools.cache), encoder)
    return MixedRanker(tools.lexical(), ranker, calibration=CALIBRATION)


def _vectors(texts: Sequence[CardTexts], encoder: Encoder, cache: Cache) -> Vectors:
    """The vectors of the cards, cached if they took long to compute."""
    import numpy as np  # noqa: PLC0415 - part of an extra

    if not encoder.identity:
        return card_vectors(texts, encoder)
    key = fingerprint(["vectors 1", encoder.identity, *(part for each in texts for part in each)])
    kept = cache.get(key)
    if kept and texts and len(kept) % (4 * len(texts)) == 0:
        read = np.frombuffer(kept, "<f4").reshape(len(texts), -1)
        lengths = np.einsum("ij,ij->i", read, read)
        if ((np.abs(lengths - 1) < _ROUNDED) | (lengths == 0)).all():
            return read
    vectors = card_vectors(texts, encoder)
    cache.put(key, vectors.astype("<f4").tobytes())
    return vectors
