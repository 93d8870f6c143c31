"""Why BM25 ranks a tool where it does: words as written, the fields that contain them, the nearest phrase."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cuecard.catalogue.explanation import Explained, Match, Reasons, WordSeen
from cuecard.catalogue.fields import FIELDS, Weights, short_texts
from cuecard.catalogue.query import Asked, Query, nearness
from cuecard.catalogue.word_index import WordIndex
from cuecard.catalogue.words import WordReader
from cuecard.model import ToolCard


def explain(index: WordIndex, weights: Weights, asked: Query, cards: Sequence[ToolCard]) -> Explained:
    """How the query's words were matched, and the reasons for each of these tools; a tool that is not in the index
    has none.
    """
    reader, number = WordReader(), {name: n for n, name in enumerate(index.names)}
    reasons = [
        _reasons(index, number[card.name], asked, card, weights, reader) if card.name in number else Reasons()
        for card in cards
    ]
    return Explained(tuple(_seen(index, word) for word in asked.words), tuple(reasons))


def _seen(index: WordIndex, word: Asked) -> WordSeen:
    tools = len({n for form in word.forms for n in index.postings[form]})
    return WordSeen(word.text, tools, word.forms if 0 < word.worth < 1 else ())


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


def _holding(fields: Mapping[str, frozenset[str]], word: Asked) -> tuple[str, ...]:
    return tuple(field for field, forms in fields.items() if not forms.isdisjoint(word.forms))
