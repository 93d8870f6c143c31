"""Our BM25 against bm25s: equal scores, with every word of a field as often in one text as the field's weight says."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import bm25s
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuecard import ToolCard
from cuecard.catalogue.bm25 import Bm25Ranker, read_query
from cuecard.catalogue.catalogue import Catalogue
from cuecard.catalogue.fields import FIELDS, WEIGHTS
from cuecard.catalogue.word_index import K1, B
from cuecard.catalogue.words import WordReader
from cuecard.types import ToolInstructions

WORDS = ("send", "mail", "page", "pages", "searchImages", "the", "图片", "x")
TEXTS = st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join)
QUARTER = 4
"""Weights are quarters: four times as many words, and four times the saturation, are the same score."""


def reference(cards: Sequence[ToolCard], weights: Mapping[str, float]) -> Callable[[str], dict[str, float]]:
    """What bm25s says of each tool that has any of the words of a query."""
    reader = WordReader()
    texts = [
        [f for field, weight in weights.items() for f in reader.forms(FIELDS[field](card)) * int(QUARTER * weight)]
        for card in cards
    ]
    vocabulary = {form: n for n, form in enumerate(sorted({form for text in texts for form in text}))}
    known = [[vocabulary[form] for form in text] for text in texts]
    index = bm25s.BM25(k1=QUARTER * K1, b=B, method="lucene", dtype="float64", backend="numpy", csc_backend="numpy")
    if vocabulary:
        index.scores = index.build_index_from_ids(list(vocabulary.values()), known, show_progress=False)

    def scores_of(query: str) -> dict[str, float]:
        ids = [vocabulary[form] for form in dict.fromkeys(reader.forms(query)) if form in vocabulary]
        if not ids:
            return {}
        scores = index.get_scores_from_ids(ids).tolist()
        return {card.name: score for card, score in zip(cards, scores, strict=True) if score > 0}

    return scores_of


def same(cards: Sequence[ToolCard], queries: Iterable[str], weights: Mapping[str, float] = WEIGHTS) -> int:
    """How many tools both find for these queries, with equal scores; words that nobody has are left to us."""
    rank, expected = Bm25Ranker.build(cards, weights), reference(cards, weights)
    found = 0
    for query in queries:
        asked = [word for word in read_query(query, rank.index.postings).words if word.worth == 1]
        ours = {card.name: score for card, score in zip(cards, rank._scores(asked), strict=True) if score}
        assert ours == pytest.approx(expected(query), abs=1e-6)
        found += len(ours)
    return found


@pytest.mark.repeats
def test_every_phrase_of_the_cms_scores_its_tools_alike(cms: Catalogue) -> None:
    phrases = [phrase for card in cms.values() for phrase in card.phrases]

    assert same(tuple(cms.values()), phrases[::5]) > len(phrases)


@given(
    st.lists(st.tuples(TEXTS, TEXTS, TEXTS), min_size=1, max_size=6),
    TEXTS,
    st.fixed_dictionaries(dict.fromkeys(FIELDS, st.sampled_from([0.25, 0.5, 1.0, 2.0]))),
)
def test_any_catalogue_scores_alike(texts: list[tuple[str, str, str]], query: str, weights: dict[str, float]) -> None:
    cards = [
        ToolCard(f"send_{n}", description, phrases=(phrase,), instructions=ToolInstructions(told, "", "", ""))
        for n, (description, phrase, told) in enumerate(texts)
    ]

    same(cards, [query], weights)
