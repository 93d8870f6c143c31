"""Queries scored by words, with reasons."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence

from cuecard.catalogue.explanation import Match, QueryWord, RankerReasons, Reasons
from cuecard.catalogue.fields import FIELDS, WEIGHTS, Weights, short_texts
from cuecard.catalogue.word_index import WordIndex
from cuecard.catalogue.words import Word, WordReader, near_words
from cuecard.model import ToolCard
from cuecard.records import dataclass

GUESSED = 0.5
"""The value of a word that no tool has but that is one letter away from one that a tool has."""


@dataclass(frozen=True, slots=True)
class SearchTerm:
    """A word of a query as written, the forms to search for, and the value of a match.

    The value is 1, or `GUESSED` if the forms are those of the nearest words in the catalogue; there are none if no tool
    has anything like it.
    """

    text: str
    forms: tuple[str, ...]
    worth: float


@dataclass(frozen=True, slots=True)
class Query:
    """Each word of a query once, and the smallest forms of all words."""

    words: tuple[SearchTerm, ...]
    parts: frozenset[str]


def read_query(text: str, known: Collection[str]) -> Query:
    """The words of a query; `known` are the forms that the catalogue has."""
    reader = WordReader()
    written: dict[Word, str] = {}
    for run, words in reader.runs(text):
        for word in words:
            written.setdefault(word, run if len(words) == 1 else word[0])
    return Query(tuple(_asked(text, word, known) for word, text in written.items()), reader.parts(text))


def nearness(asked: frozenset[str], phrase: frozenset[str]) -> float:
    """The similarity of two sets of words: from 0, nothing in common, to 1, the same words (the Dice coefficient)."""
    common = len(asked & phrase)
    return 2 * common / (len(asked) + len(phrase)) if common else 0.0


def _asked(text: str, word: Word, known: Collection[str]) -> SearchTerm:
    if forms := tuple(form for form in word if form in known):
        return SearchTerm(text, forms, 1.0)
    return SearchTerm(text, tuple(near_words(word[0], known)), GUESSED)


def explain(index: WordIndex, weights: Weights, asked: Query, cards: Sequence[ToolCard]) -> RankerReasons:
    """How the query's words were matched, and the reasons for each of these tools; a tool that is not in the index
    has none.
    """
    reader, number = WordReader(), {name: n for n, name in enumerate(index.names)}
    reasons = [
        _reasons(index, number[card.name], asked, card, weights, reader) if card.name in number else Reasons()
        for card in cards
    ]
    return RankerReasons(tuple(_seen(index, word) for word in asked.words), tuple(reasons))


def _seen(index: WordIndex, word: SearchTerm) -> QueryWord:
    tools = len({n for form in word.forms for n in index.postings[form]})
    return QueryWord(word.text, tools, word.forms if word.worth < 1 else ())


def _reasons(
    index: WordIndex, tool: int, asked: Query, card: ToolCard, weights: Weights, reader: WordReader
) -> Reasons:
    gains = {word: word.worth * sum(index.gain(form, tool) for form in word.forms) for word in asked.words}
    total = sum(gains.values())
    fields = {field: frozenset(reader.forms(FIELDS[field](card))) for field, weight in weights.items() if weight}
    matches = [Match(word.text, _holding(fields, word), gain / total) for word, gain in gains.items() if gain]
    near = [(nearness(asked.parts, reader.parts(text)), text) for text in short_texts(card, weights)]
    best, nearest = max(near, key=lambda pair: pair[0], default=(0.0, ""))
    return Reasons(tuple(sorted(matches, key=lambda match: -match.part)), nearest if best else "", best)


def _holding(fields: Mapping[str, frozenset[str]], word: SearchTerm) -> tuple[str, ...]:
    return tuple(field for field, forms in fields.items() if not forms.isdisjoint(word.forms))


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

    def explain(self, query: str, cards: Sequence[ToolCard]) -> RankerReasons:
        """How it read the query, and why it ranks these tools as it does."""
        return explain(self.index, self.weights, read_query(query, self.index.postings), cards)

    def _emphasis(self, asked: Query, tool: int) -> float:
        """The factor for a query that as a whole is near a phrase: 1 to 2."""
        return 1 + max((nearness(asked.parts, phrase) for phrase in self.index.phrases[tool]), default=0.0) ** 3

    def _scores(self, words: Sequence[SearchTerm]) -> list[float]:
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
        gains = {word: word.worth * max([0.0, *(index.gain(f, best) for f in word.forms)]) for word in asked.words}
        common = {word: max(map(index.frequency, word.forms), default=0) for word in asked.words}
        rarity = {word: 1 + most - math.log(1 + known) for word, known in common.items()}
        covered = [rarity[word] * word.worth for word, gain in gains.items() if gain]
        strong = min(1.0, sum(gains.values()) * self._emphasis(asked, best) / index.rarity_of(1))
        return round(math.sqrt(math.hypot(*covered) / math.hypot(*rarity.values()) * strong), _DIGITS)


def _largest(scores: Sequence[float], count: int) -> list[int]:
    """The indexes of the largest scores above 0; equal scores stay in order."""
    least = sorted(filter(None, scores), reverse=True)[:count][-1:]
    found = [n for n, score in enumerate(scores) if score and score >= least[0]]
    return sorted(found, key=lambda n: -scores[n])[:count]
