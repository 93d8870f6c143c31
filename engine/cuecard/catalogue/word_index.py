"""The words of a catalogue, by tool; and the form that a cache stores them in."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from cuecard.catalogue.fields import FIELDS, WEIGHTS, Weights, short_texts
from cuecard.catalogue.graph import tool_graph
from cuecard.catalogue.words import WordReader
from cuecard.model import ToolCard
from cuecard.records import dataclass

K1, B = 2.0, 0.4
"""Saturation and length normalisation, tuned on tool texts: a word in a name counts three times, as intended."""

_DIGITS = 9  # beyond these digits, logarithms may differ between machines


Posting: TypeAlias = Mapping[int, float]
"""The tools that contain a form of a word, by number, and its weighted frequency in each."""


@dataclass(frozen=True, slots=True)
class WordIndex:
    """The data that BM25 is computed from. Immutable, and only numbers and words; tools are identified by number.

    Attributes:
        names: the tools, in catalogue order.
        postings: by form of a word, the tools that contain it.
        norms: for each tool, how often it must contain a word for half of the word's value: more often in a long text.
        phrases: for each tool, the words of its name and of each of its phrases.
        following: by tool, those that its instructions name as NEXT.
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
        """How many tools contain it."""
        return len(self.postings.get(form, ()))

    def rarity(self, form: str) -> float:
        """Lucene's inverse document frequency, never negative (Kamphuis et al., "Which BM25 do you mean?", 2020)."""
        return self.rarity_of(self.frequency(form))

    def rarity_of(self, known: int) -> float:
        """The rarity of a form that this number of tools contain."""
        return round(math.log(1 + (len(self.names) - known + 0.5) / (known + 0.5)), _DIGITS)

    def share(self, form: str, tool: int) -> float:
        """The share of a form's value that a tool gets, from 0 to 1."""
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


_MOST = 1e9
"""No word counts as often in any tool."""


def pack(index: WordIndex) -> bytes:
    """An index as JSON."""
    made = {
        "names": index.names,
        "postings": {form: [[*found], [*found.values()]] for form, found in index.postings.items()},
        "norms": [*index.norms],
        "phrases": [[sorted(words) for words in phrases] for phrases in index.phrases],
        "following": [[tool, sorted(those)] for tool, those in index.following.items()],
    }
    return json.dumps(made, separators=(",", ":")).encode()


def unpack(data: bytes, names: Sequence[str]) -> WordIndex:
    """The index of the tools of these names.

    Raises:
        ValueError: when it belongs to other tools, or was not made by `pack`.
    """
    try:
        index = _index(json.loads(data))
        _check(index, tuple(names))
    except (LookupError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(f"not an index: {error}") from None
    return index


def _check(index: WordIndex, names: tuple[str, ...]) -> None:
    """Whether a search with it names these tools alone, and cannot fail."""
    if index.names != names or not len(index.norms) == len(index.phrases) == len(names):
        raise ValueError("an index of other tools")
    weights = [*index.norms, *(times for posting in index.postings.values() for times in posting.values())]
    if not {*map(type, weights)} <= {int, float} or not all(0 < weight < _MOST for weight in weights):
        raise ValueError("an index with invalid norms or counts")
    numbers = [*index.following, *(n for those in (*index.postings.values(), *index.following.values()) for n in those)]
    if not {*map(type, numbers)} <= {int} or not {*numbers} <= {*range(len(names))}:
        raise ValueError("an index of tools that do not exist")


def _index(made: Any) -> WordIndex:
    return WordIndex(
        tuple(made["names"]),
        {form: dict(zip(tools, times, strict=True)) for form, (tools, times) in made["postings"].items()},
        made["norms"],
        [tuple(map(frozenset, phrases)) for phrases in made["phrases"]],
        {tool: frozenset(those) for tool, those in made["following"]},
    )
