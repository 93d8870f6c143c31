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
"""The number of best tools that are examined closely: how near the query is to their name or one of their phrases."""

_DIGITS = 9  # scores that differ less are ties


@dataclass(frozen=True, slots=True)
class Bm25Ranker:
    """Ranks the tools of one catalogue: called with a query and a limit. Immutable, so threads may share it.

    A tool's score is BM25 over all its fields as one text, in which a word occurs as often as the weight of its field
    says. The score is up to doubled if the query as a whole is near the tool's name or one of its phrases. Of tools
    with equal scores, one that a better tool names as NEXT comes first; then the order of the catalogue decides.

    The answer is names with scores from 0 to 1, best first. The first score is the confidence: the geometric mean of
    how much of the query the best tool covers, and how strongly. The other scores are proportional to it.
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
        """How it read the query, and why it ranks these tools as it does."""
        return explain(self.index, self.weights, read_query(query, self.index.postings), cards)

    def _emphasis(self, asked: Query, tool: int) -> float:
        """The factor for a query that as a whole is near a phrase: 1 to 2."""
        return 1 + max((nearness(asked.parts, phrase) for phrase in self.index.phrases[tool]), default=0.0) ** 3

    def _scores(self, words: Sequence[Asked]) -> list[float]:
        """The BM25 scores by tool number."""
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
        """Best first. NEXT never moves a tool past one with a better score."""
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
        """The confidence of the answer: near 1 for a query that is fully covered, or for a long one with rare words.

        The geometric mean of two values: the covered share of the query, with words weighted by rarity (words that no
        tool has count as the rarest), and the strength of the match: 1 for a word that only one tool has, which has
        nothing else.
        """
        index, most = self.index, math.log(len(self.index.names) + 1)
        gains = [word.worth * max((index.gain(f, best) for f in word.forms), default=0.0) for word in asked.words]
        rarity = [1 + most - math.log(1 + max(map(index.frequency, word.forms), default=0)) for word in asked.words]
        covered = [r * word.worth for r, word, gain in zip(rarity, asked.words, gains, strict=True) if gain]
        strong = min(1.0, sum(gains) * self._emphasis(asked, best) / index.rarity_of(1))
        return round(math.sqrt(math.hypot(*covered) / math.hypot(*rarity) * strong), _DIGITS)


def _largest(scores: Sequence[float], count: int) -> list[int]:
    """The indexes of the largest scores above 0; equal scores stay in order."""
    least = sorted(filter(None, scores), reverse=True)[:count][-1:]
    found = [n for n, score in enumerate(scores) if score and score >= least[0]]
    return sorted(found, key=lambda n: -scores[n])[:count]
