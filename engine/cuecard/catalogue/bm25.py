"""BM25 over the fields of tool cards: which tools answer a query, and how sure that is."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass
from itertools import chain
from types import MappingProxyType
from typing import TypeAlias

from cuecard.catalogue.words import Word, new_words
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
    fields: tuple[_Field, ...]

    @classmethod
    def build(cls, cards: Iterable[ToolCard], weights: Weights = WEIGHTS) -> Bm25Ranker:
        """Index these cards."""
        cards, read = tuple(cards), new_words()
        texts = ((weight, map(FIELDS[field], cards)) for field, weight in weights.items() if weight)
        return cls(
            tuple(card.name for card in cards), tuple(_Field.build(weight, map(read, each)) for weight, each in texts)
        )

    def __call__(self, query: str, limit: int) -> list[tuple[str, float]]:
        """The best tools for the query, at most `limit`."""
        asked = list(dict.fromkeys(new_words()(query)))
        scores = self._scores(dict.fromkeys(form for word in asked for form in word))
        ranked = sorted((n for n, score in scores.items() if score > 0), key=lambda n: (-scores[n], n))[:limit]
        if not ranked:
            return []
        best = ranked[0]
        confidence = self._confidence(asked, best)
        return [(self.names[n], confidence * scores[n] / scores[best]) for n in ranked]

    def _scores(self, forms: Iterable[str]) -> dict[int, float]:
        totals: defaultdict[int, float] = defaultdict(float)
        for field in self.fields:
            for n, score in field.scores(forms).items():
                totals[n] += field.weight * score
        return {n: round(total, _DIGITS) for n, total in totals.items()}

    def _confidence(self, asked: Sequence[Word], best: int) -> float:
        lengths = [self._rarity(word) for word in asked]
        covered = [min(1.0, sum(field.weight for field in self.fields if field.holds(best, word))) for word in asked]
        return math.hypot(*(length * share for length, share in zip(lengths, covered, strict=True))) / math.hypot(
            *lengths
        )

    def _rarity(self, word: Word) -> float:
        """Smoothed inverse document frequency, at least 1: in a catalogue of three tools every word still counts."""
        known = max(len({n for field in self.fields for n in field.postings.get(form, ())}) for form in word)
        return 1 + math.log((len(self.names) + 1) / (known + 1))


@dataclass(frozen=True, slots=True)
class _Field:
    """One field of every card, and the weight of its scores.

    `postings` has the number of a card once for each time that a form stands in its text, in the order of the cards;
    `lengths` counts the forms of each text.
    """

    weight: float
    lengths: Sequence[int]
    postings: Mapping[str, Sequence[int]]

    @classmethod
    def build(cls, weight: float, texts: Iterable[Iterable[Word]]) -> _Field:
        postings: defaultdict[str, list[int]] = defaultdict(list)
        lengths = []
        for n, text in enumerate(texts):
            forms = list(chain.from_iterable(text))
            lengths.append(len(forms))
            for form in forms:
                postings[form].append(n)
        return cls(weight, lengths, dict(postings))

    def scores(self, forms: Iterable[str]) -> dict[int, float]:
        """The BM25 score of each card in which one of these forms stands.

        The formula is Lucene's (Kamphuis et al., "Which BM25 do you mean?", ECIR 2020), which is never negative.
        """
        scores: defaultdict[int, float] = defaultdict(float)
        average = sum(self.lengths) / max(1, len(self.lengths))
        for form in forms:
            found = Counter(self.postings.get(form, ()))
            rarity = math.log(1 + (len(self.lengths) - len(found) + 0.5) / (len(found) + 0.5))
            for n, times in found.items():
                scores[n] += rarity * times / (times + K1 * (1 - B + B * self.lengths[n] / average))
        return scores

    def holds(self, card: int, word: Word) -> bool:
        """Whether a card has the word in any of its forms."""
        return any(card in self.postings.get(form, ()) for form in word)
