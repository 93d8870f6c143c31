"""Our BM25 against bm25s: the same tools, and equal scores."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import bm25s
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cuecard.catalogue import WEIGHTS, Bm25Ranker, Catalogue
from cuecard.catalogue.bm25 import FIELDS, K1, B
from cuecard.catalogue.words import new_words
from cuecard.model import ToolCard, ToolInstructions

WORDS = ("send", "mail", "page", "pages", "searchImages", "the", "图片", "x")
TEXTS = st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join)


def forms(text: str) -> list[str]:
    return [form for word in new_words()(text) for form in word]


def reference(cards: Iterable[ToolCard], query: str, weights: Mapping[str, float]) -> dict[str, float]:
    """The sum over the fields of what bm25s says, for each tool that has any of the words."""
    cards = tuple(cards)
    totals = dict.fromkeys((card.name for card in cards), 0.0)
    for field, weight in weights.items():
        texts = [forms(FIELDS[field](card)) for card in cards]
        vocabulary = {form: n for n, form in enumerate(sorted({form for text in texts for form in text}))}
        ids = [vocabulary[form] for form in dict.fromkeys(forms(query)) if form in vocabulary]
        if not ids:
            continue
        index = bm25s.BM25(k1=K1, b=B, method="lucene", dtype="float64", backend="numpy", csc_backend="numpy")
        known = [[vocabulary[form] for form in text] for text in texts]
        index.scores = index.build_index_from_ids(list(vocabulary.values()), known, show_progress=False)
        for card, score in zip(cards, index.get_scores_from_ids(ids).tolist(), strict=True):
            totals[card.name] += weight * score
    return {name: score for name, score in totals.items() if score > 0}


def same(cards: Iterable[ToolCard], query: str, weights: Mapping[str, float] = WEIGHTS) -> int:
    """How many tools both find; they must be the same, in the same order, with scores in the same proportion."""
    cards = tuple(cards)
    expected = reference(cards, query, weights)
    found = Bm25Ranker.build(cards, weights)(query, len(cards))

    assert {name for name, _ in found} == set(expected)
    for name, score in found:
        best = found[0][0]
        assert score / found[0][1] == pytest.approx(expected[name] / expected[best], abs=1e-6)
    order = [expected[name] for name, _ in found]
    assert order == pytest.approx(sorted(order, reverse=True))
    return len(found)


def test_every_phrase_of_the_cms_ranks_its_tools_alike(cms: Catalogue) -> None:
    phrases = [phrase for card in cms.values() for phrase in card.phrases]

    assert sum(same(cms.values(), phrase) for phrase in phrases[::5]) > len(phrases)


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.tuples(TEXTS, TEXTS, TEXTS), min_size=1, max_size=6),
    TEXTS,
    st.fixed_dictionaries(dict.fromkeys(FIELDS, st.sampled_from([0.5, 1.0, 2.0]))),
)
def test_any_catalogue_ranks_alike(texts: list[tuple[str, str, str]], query: str, weights: dict[str, float]) -> None:
    cards = [
        ToolCard(f"send_{n}", description, phrases=(phrase,), instructions=ToolInstructions(told, "", "", ""))
        for n, (description, phrase, told) in enumerate(texts)
    ]

    same(cards, query, weights)


def test_a_field_scores_as_bm25s_does() -> None:
    cards = [ToolCard(f"t{n}", text) for n, text in enumerate(["mail mail send", "mail", "page of mail", "", "x"])]
    rank = Bm25Ranker.build(cards, {"description": 1.0})

    ours = rank._scores(["mail", "send"])
    assert {cards[n].name: score for n, score in ours.items()} == pytest.approx(
        reference(cards, "mail send", {"description": 1.0}), abs=1e-9
    )
    assert len(ours) == 3
