"""BM25 over the fields of tool cards: which tools answer a query, and how sure that is."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from cuecard.catalogue.fields import WEIGHTS, Weights
from cuecard.catalogue.spelling import near_words
from cuecard.catalogue.word_index import WordIndex
from cuecard.catalogue.words import Word, WordReader
from cuecard.model import ToolCard

GUESSED = 0.5
"""What a word is worth that no tool has, and that is one letter away from one that some tool has."""

POOL = 100
"""So many of the best are looked at closely: how near the query comes to their name or to one of their phrases."""

_DIGITS = 9  # scores that differ less are ties


@dataclass(frozen=True, slots=True)
class Asked:
    """A word of a query: the forms that are looked for, and what a match is worth.

    That is 1; `GUESSED` where `forms` are the nearest words of the catalogue; 0 where no tool has anything like it.
    """

    word: Word
    forms: tuple[str, ...]
    worth: float


@dataclass(frozen=True, slots=True)
class Query:
    """A query as the index reads it: each word once, and the smallest forms of all of them."""

    words: tuple[Asked, ...]
    parts: frozenset[str]


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

    @classmethod
    def build(cls, cards: Iterable[ToolCard], weights: Weights = WEIGHTS) -> Bm25Ranker:
        """Index these cards."""
        return cls(WordIndex.build(cards, weights))

    def __call__(self, query: str, limit: int) -> list[tuple[str, float]]:
        """The best tools for the query, at most `limit`."""
        asked = self.read(query)
        scores = self._scores(asked.words)
        pool = _largest(scores, max(POOL, limit))
        near = {n: round(scores[n] * self.emphasis(asked, n), _DIGITS) for n in pool}
        ranked = self._in_order(near)[:limit]
        if not ranked or not near[ranked[0]]:
            return []
        best = ranked[0]
        scale = self._confidence(asked, best) / near[best]
        return [(self.index.names[n], scale * near[n]) for n in ranked]

    def read(self, query: str) -> Query:
        """The words of a query, as this catalogue knows them."""
        reader = WordReader()
        return Query(tuple(map(self._asked, dict.fromkeys(reader.words(query)))), reader.parts(query))

    def nearness(self, asked: Query, tool: int) -> float:
        """How near the query comes to the tool's name or one of its phrases: twice what they share by what both have.

        From 0, nothing in common, to 1, the same words (the Dice coefficient of the nearest).
        """
        return max(
            (
                2 * len(common) / (len(asked.parts) + len(phrase))
                for phrase in self.index.phrases[tool]
                if (common := phrase & asked.parts)
            ),
            default=0.0,
        )

    def emphasis(self, asked: Query, tool: int) -> float:
        """By what the score is multiplied because the query comes near a phrase as a whole: 1 to 2."""
        return 1 + self.nearness(asked, tool) ** 3

    def _asked(self, word: Word) -> Asked:
        postings = self.index.postings
        if forms := tuple(form for form in word if form in postings):
            return Asked(word, forms, 1.0)
        guesses = tuple(near_words(word[0], postings))
        return Asked(word, guesses, GUESSED if guesses else 0.0)

    def _scores(self, words: Sequence[Asked]) -> list[float]:
        """By number of the tool: BM25, before it is looked at how near the query comes to a phrase."""
        norms = self.index.norms
        scores = [0.0] * len(norms)
        for form, worth in {form: asked.worth for asked in reversed(words) for form in asked.forms}.items():
            posting, rarity = self.index.postings[form], worth * self.index.rarity(form)
            for n, times in posting.items():
                scores[n] += rarity * times / (times + norms[n])
        return scores

    def _in_order(self, scores: dict[int, float]) -> list[int]:
        """Best first. A tool never passes one with a better score, whatever NEXT says."""
        ordered: list[int] = []
        led: set[int] = set()
        by_score: dict[float, list[int]] = {}
        for n in sorted(scores):
            by_score.setdefault(scores[n], []).append(n)
        for score in sorted(by_score, reverse=True):
            equals = sorted(by_score[score], key=lambda n: n not in led)
            ordered += equals
            for n in equals:
                led |= self.index.following.get(n, frozenset())
        return ordered

    def _confidence(self, asked: Query, best: int) -> float:
        """How sure the answer is: a short query wholly covered, or a long one with a rare word in it, are near 1.

        Every word counts by how rare it is, and a word that no tool has as if it were the rarest.
        """
        most = 1 + math.log(len(self.index.names) + 1)
        weights = [most - math.log(max(map(self.index.frequency, word.forms), default=0) + 1) for word in asked.words]
        shares = [max((self.index.share(form, best) for form in word.forms), default=0.0) for word in asked.words]
        covered = [weight * word.worth * bool(share) for weight, word, share in zip(weights, asked.words, shares)]
        strong = sum(weight * share for weight, share in zip(covered, shares)) * self.emphasis(asked, best) / most
        return math.sqrt(math.hypot(*covered) / math.hypot(*weights) * min(1.0, strong))


def _largest(scores: Sequence[float], count: int) -> list[int]:
    """The places of the largest scores above 0, the first of equals first."""
    least = sorted(filter(None, scores), reverse=True)[:count][-1:]
    found = [n for n, score in enumerate(scores) if score and score >= least[0]]
    return sorted(found, key=lambda n: -scores[n])[:count]
