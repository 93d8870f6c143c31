"""BM25 over the fields of tool cards: which tools answer a query, and how sure that is."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass
from types import MappingProxyType
from typing import Any, TypeAlias

from cuecard.catalogue.words import Word, new_stem, words
from cuecard.model import ToolCard

Weights: TypeAlias = Mapping[str, float]
"""How much a match in each field counts, about 1; a field that is absent, or 0, is not searched."""

FIELDS: Mapping[str, Callable[[ToolCard], str]] = MappingProxyType(
    {
        "name": lambda card: card.name,
        "phrases": lambda card: "\n".join(card.phrases),
        "description": lambda card: card.description,
        "category": lambda card: card.category,
        "instructions": lambda card: "\n".join(astuple(card.instructions)) if card.instructions else "",
    }
)
"""What can be searched of a card."""

WEIGHTS: Weights = MappingProxyType(
    {"name": 2.0, "phrases": 2.0, "description": 1.0, "category": 1.0, "instructions": 0.5}
)

K1, B = 0.9, 0.4
"""Saturation and length normalisation: Anserini's values; measured better on tool texts than the usual 1.2 and 0.75."""

_DIGITS = 9  # scores that differ less are ties on one machine or another


@dataclass(frozen=True, slots=True)
class Bm25Ranker:
    """Ranks the tools of one catalogue: called with a query and a limit. Immutable: threads may share it.

    The answer is names with scores from 0 to 1, best first, ties in catalogue order. The first score is the
    confidence: the length of what the best tool covers of the query, as a share of the whole query, when each word is a
    direction of its own and as long as it is rare. Only a match in a field of weight 1 or more covers a word fully. The
    other scores are in proportion to the first.
    """

    names: tuple[str, ...]
    frequencies: Mapping[str, int]
    fields: tuple[_Field, ...]

    @classmethod
    def build(cls, cards: Iterable[ToolCard], weights: Weights = WEIGHTS) -> Bm25Ranker:
        """Index these cards: 0.2 s for 500 tools, and 0.4 s once for numpy to load."""
        cards, stem = tuple(cards), new_stem()
        texts = {
            field: [[form for word in words(FIELDS[field](card), stem) for form in word] for card in cards]
            for field, weight in weights.items()
            if weight
        }
        seen = (frozenset().union(*of_card) for of_card in zip(*texts.values(), strict=True))
        return cls(
            tuple(card.name for card in cards),
            Counter(form for forms in seen for form in forms),
            tuple(_Field.build(weights[field], documents) for field, documents in texts.items() if any(documents)),
        )

    def __call__(self, query: str, limit: int) -> list[tuple[str, float]]:
        """The best tools for the query, at most `limit`."""
        asked = list(dict.fromkeys(words(query, new_stem())))
        scores = self._scores(list(dict.fromkeys(form for word in asked for form in word)))
        ranked = sorted((n for n, score in enumerate(scores) if score > 0), key=lambda n: (-scores[n], n))[:limit]
        if not ranked:
            return []
        best = ranked[0]
        confidence = self._confidence(asked, best)
        return [(self.names[n], confidence * scores[n] / scores[best]) for n in ranked]

    def _scores(self, forms: Sequence[str]) -> list[float]:
        totals = [0.0] * len(self.names)
        for field in self.fields:
            for n, score in enumerate(field.scores(forms)):
                totals[n] += score
        return [round(total, _DIGITS) for total in totals]

    def _confidence(self, asked: Sequence[Word], best: int) -> float:
        lengths = [self._rarity(word) for word in asked]
        covered = [min(1.0, sum(field.weight for field in self.fields if field.holds(best, word))) for word in asked]
        return math.hypot(*(length * share for length, share in zip(lengths, covered, strict=True))) / math.hypot(
            *lengths
        )

    def _rarity(self, word: Word) -> float:
        """Smoothed inverse document frequency, at least 1: in a catalogue of three tools every word still counts."""
        known = max(self.frequencies.get(form, 0) for form in word)
        return 1 + math.log((len(self.names) + 1) / (known + 1))


@dataclass(frozen=True, slots=True)
class _Field:
    """The BM25 index of one field, and the weight of its scores."""

    weight: float
    vocabulary: Mapping[str, int]
    forms: tuple[frozenset[str], ...]
    index: Any

    @classmethod
    def build(cls, weight: float, documents: Sequence[Sequence[str]]) -> _Field:
        import bm25s  # noqa: PLC0415 - loads numpy, which only a search needs

        vocabulary = {form: n for n, form in enumerate(dict.fromkeys(form for forms in documents for form in forms))}
        ids = [[vocabulary[form] for form in forms] for forms in documents]
        index = bm25s.BM25(k1=K1, b=B, method="lucene", dtype="float64", backend="numpy", csc_backend="numpy")
        # Not `index.index()`: it logs at DEBUG on a logger that ignores the level the host has set.
        index.scores = index.build_index_from_ids(list(vocabulary.values()), ids, show_progress=False)
        return cls(weight, vocabulary, tuple(map(frozenset, documents)), index)

    def scores(self, forms: Iterable[str]) -> list[float]:
        """The weighted BM25 score of each document."""
        ids = [self.vocabulary[form] for form in forms if form in self.vocabulary]
        scores: list[float] = (self.weight * self.index.get_scores_from_ids(ids)).tolist()
        return scores

    def holds(self, document: int, word: Word) -> bool:
        """Whether a document has the word in any of its forms."""
        return not self.forms[document].isdisjoint(word)
