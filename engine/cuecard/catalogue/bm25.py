"""BM25 over the fields of tool cards: which tools answer a query, and how sure that is."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from cuecard.catalogue.explanation import Explained
from cuecard.catalogue.fields import WEIGHTS, Weights
from cuecard.catalogue.query import Asked, Query, nearness, read_query
from cuecard.catalogue.reasons import explain
from cuecard.catalogue.word_index import WordIndex
from cuecard.model import ToolCard
from cuecard.records import dataclass

POOL = 100
"""So many of the best are looked at closely: how near the query comes to their name or to one of their phrases."""

_DIGITS = 9  # scores that differ less are ties


@dataclass(frozen=True, slots=True)
class Bm25Ranker:
    """Ranks the tools of one catalogue: called with a query and a limit. Immutable: threads may share it.

    A tool's score is BM25 over all its fields as one text, in which a word stands as often as the weight of its field
    says; up to doubled, as the query comes near the tool's name or one of its phrases as a whole. Of tools with equal
    scores, one comes first that a better tool names as NEXT; then catalogue order decides.

    The answer is names with scores from 0 to 1, best first. The first score is the confidence: the geometric mean of
    how much of the query the best tool covers, and how strongly. The others are in proportion to it.
    """

    index: WordIndex
    weights: Weights

    @classmethod
    def build(cls, cards: Iterable[ToolCard], weights: Weights = WEIGHTS) -> Bm25Ranker:
        """Index these cards."""
        return cls(WordIndex.build(cards, weights), weights)

    def __call__(self, query: str, limit: int) -> list[tuple[str, float]]:
        """The best tools for the query, at most `limit`."""
        asked = read_query(query, self.index.postings)
        plain = self._scores(asked.words)
        pool = _largest(plain, max(POOL, limit))
        scores = {n: round(plain[n] * self._emphasis(asked, n), _DIGITS) for n in pool}
        ranked = self._in_order(scores)[:limit]
        if not ranked:
            return []
        best = ranked[0]
        confidence = self._confidence(asked, best)
        return [(self.index.names[n], confidence * (scores[n] / scores[best])) for n in ranked]

    def explain(self, query: str, cards: Sequence[ToolCard]) -> Explained:
        """What it made of the query, and why it ranks these tools as it does."""
        return explain(self.index, self.weights, read_query(query, self.index.postings), cards)

    def _emphasis(self, asked: Query, tool: int) -> float:
        """By what a score is multiplied because the query comes near a phrase as a whole: 1 to 2."""
        return 1 + max((nearness(asked.parts, phrase) for phrase in self.index.phrases[tool]), default=0.0) ** 3

    def _scores(self, words: Sequence[Asked]) -> list[float]:
        """BM25 by number of the tool."""
        norms = self.index.norms
        scores = [0.0] * len(norms)
        worths: dict[str, float] = {}
        for word in words:
            for form in word.forms:
                worths.setdefault(form, word.worth)
        for form, worth in worths.items():
            rarity = worth * self.index.rarity(form)
            for n, times in self.index.postings[form].items():
                scores[n] += rarity * times / (times + norms[n])
        return scores

    def _in_order(self, scores: Mapping[int, float]) -> list[int]:
        """Best first. No tool passes one with a better score, whatever NEXT says."""
        equals: dict[float, list[int]] = {}
        for n in sorted(scores):
            equals.setdefault(scores[n], []).append(n)
        ordered: list[int] = []
        led: set[int] = set()
        for score in sorted(equals, reverse=True):
            ordered += sorted(equals[score], key=lambda n: n not in led)
            led.update(*(self.index.following.get(n, ()) for n in equals[score]))
        return ordered

    def _confidence(self, asked: Query, best: int) -> float:
        """How sure the answer is: near 1 for a query that is wholly covered, or for a long one with rare words in it.

        The geometric mean of what is covered of the query, its words weighing as they are rare (and words that no tool
        has, as the rarest), and of how strong the match is: 1 for a word that one tool has alone, and nothing else.
        """
        index, most = self.index, math.log(len(self.index.names) + 1)
        gains = [word.worth * max((index.gain(f, best) for f in word.forms), default=0.0) for word in asked.words]
        rarity = [1 + most - math.log(1 + max(map(index.frequency, word.forms), default=0)) for word in asked.words]
        covered = [r * word.worth for r, word, gain in zip(rarity, asked.words, gains, strict=True) if gain]
        strong = min(1.0, sum(gains) * self._emphasis(asked, best) / index.rarity_of(1))
        return round(math.sqrt(math.hypot(*covered) / math.hypot(*rarity) * strong), _DIGITS)


def _largest(scores: Sequence[float], count: int) -> list[int]:
    """The places of the largest scores above 0, the first of equals first."""
    least = sorted(filter(None, scores), reverse=True)[:count][-1:]
    found = [n for n, score in enumerate(scores) if score and score >= least[0]]
    return sorted(found, key=lambda n: -scores[n])[:count]
