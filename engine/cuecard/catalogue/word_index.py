"""The words of a catalogue: which tools have which word, how often, and what short texts each tool goes by."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from cuecard.catalogue.fields import FIELDS, WEIGHTS, Weights, short_texts
from cuecard.catalogue.graph import tool_graph
from cuecard.catalogue.words import WordReader
from cuecard.model import ToolCard
from cuecard.records import dataclass

K1, B = 2.0, 0.4
"""Saturation and length normalisation, measured on tool texts: a word in a name counts three times, and shall."""

_DIGITS = 9  # logarithms may differ behind these from machine to machine


Posting: TypeAlias = Mapping[int, float]
"""The tools that have a form of a word, by number, and how often each has it, fields weighted."""


@dataclass(frozen=True, slots=True)
class WordIndex:
    """What BM25 is computed from. Immutable, and nothing but numbers and words; tools go by their number.

    Attributes:
        names: the tools, in catalogue order.
        postings: a form of a word to who has it.
        norms: for each tool, how many times it must have a word for half of the word's worth: more in a long text.
        phrases: for each tool, the words of its name and of each of its phrases.
        following: a tool to those that its instructions name as NEXT.
    """

    names: tuple[str, ...]
    postings: Mapping[str, Posting]
    norms: Sequence[float]
    phrases: Sequence[tuple[frozenset[str], ...]]
    following: Mapping[int, frozenset[int]]

    @classmethod
    def build(cls, cards: Iterable[ToolCard], weights: Weights = WEIGHTS) -> WordIndex:
        """Index these cards."""
        cards, reader = tuple(cards), WordReader()
        postings, lengths = _postings(cards, weights, reader)
        average = sum(lengths) / len(cards) if any(lengths) else 1.0
        norms = [K1 * (1 - B + B * length / average) for length in lengths]
        phrases = [tuple(map(reader.parts, short_texts(card, weights))) for card in cards]
        return cls(tuple(card.name for card in cards), postings, norms, phrases, _following(cards))

    def frequency(self, form: str) -> int:
        """How many tools have it."""
        return len(self.postings.get(form, ()))

    def rarity(self, form: str) -> float:
        """Lucene's inverse document frequency, never negative (Kamphuis et al., "Which BM25 do you mean?", 2020)."""
        return self.rarity_of(self.frequency(form))

    def rarity_of(self, known: int) -> float:
        """The rarity of a form that so many tools have."""
        return round(math.log(1 + (len(self.names) - known + 0.5) / (known + 0.5)), _DIGITS)

    def share(self, form: str, tool: int) -> float:
        """How much of the worth of a form a tool has, from 0 to 1."""
        times = self.postings.get(form, {}).get(tool, 0.0)
        return times / (times + self.norms[tool])

    def gain(self, form: str, tool: int) -> float:
        """What a form adds to the BM25 score of a tool."""
        return self.rarity(form) * self.share(form, tool)


def _postings(
    cards: Sequence[ToolCard], weights: Weights, reader: WordReader
) -> tuple[dict[str, dict[int, float]], list[float]]:
    fields: defaultdict[float, list[str]] = defaultdict(list)
    for field, weight in weights.items():
        fields[weight].append(field)
    groups = [(weight, [FIELDS[field] for field in those]) for weight, those in fields.items() if weight]
    postings: defaultdict[str, dict[int, float]] = defaultdict(dict)
    lengths = []
    for n, card in enumerate(cards):
        times: defaultdict[str, float] = defaultdict(float)
        for weight, texts in groups:
            for form in reader.forms("\n".join([text(card) for text in texts])):
                times[form] += weight
        for form, count in times.items():
            postings[form][n] = count
        lengths.append(sum(times.values()))
    return dict(postings), lengths


def _following(cards: Sequence[ToolCard]) -> dict[int, frozenset[int]]:
    if not any(card.instructions for card in cards):
        return {}
    number = {card.name: n for n, card in enumerate(cards)}
    following: defaultdict[int, set[int]] = defaultdict(set)
    for edge in tool_graph(cards).edges:
        following[number[edge.source]].add(number[edge.target])
    return {source: frozenset(targets) for source, targets in following.items()}
