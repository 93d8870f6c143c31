"""Whatever a ranker says is read without a fall, and an index comes back from bytes as it was."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuecard import ToolCard
from cuecard.catalogue.bm25 import Bm25Ranker
from cuecard.catalogue.ranker import UnusableRankingError, read_ranking
from cuecard.catalogue.word_index import WordIndex, pack, unpack
from cuecard.files.rankers.semantic import MixedRanker

NAMES = frozenset({"a", "b", "c"})
SCORES = st.floats() | st.integers() | st.booleans() | st.text(max_size=2) | st.none()
ENTRIES = st.tuples(st.sampled_from([*NAMES, "d", "", 3]), SCORES) | st.lists(SCORES, max_size=3) | st.text(max_size=2)
ANSWERS = st.lists(ENTRIES, max_size=6) | ENTRIES | st.dictionaries(st.text(max_size=1), SCORES, max_size=2)
CARDS = st.lists(
    st.builds(
        ToolCard,
        st.text(min_size=1, max_size=12),
        st.text(max_size=30),
        phrases=st.lists(st.text(max_size=12), max_size=2).map(tuple),
        category=st.text(max_size=5),
    ),
    max_size=6,
    unique_by=lambda card: card.name,
)
MARK = st.floats(0, 1)
RANKED = st.dictionaries(st.sampled_from([*NAMES]), MARK).map(lambda d: sorted(d.items(), key=lambda hit: -hit[1]))


@given(ANSWERS, st.integers(1, 5))
def test_what_a_ranker_says_becomes_hits_or_one_reason(said: Any, limit: int) -> None:
    try:
        ranking = read_ranking(said, NAMES, limit)
    except UnusableRankingError:
        return
    tools = [hit.tool for hit in ranking.hits]
    scores = [hit.score for hit in ranking.hits]

    assert len(set(tools)) == len(tools) <= limit
    assert set(tools) <= NAMES
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)


@given(CARDS, st.text(max_size=20))
def test_an_index_comes_back_from_bytes_as_it_was(cards: list[ToolCard], query: str) -> None:
    ranker = Bm25Ranker.build(cards)
    back = unpack(pack(ranker.index), [card.name for card in cards])

    assert back == ranker.index
    assert Bm25Ranker(back, ranker.weights)(query, 9) == ranker(query, 9)


@given(st.recursive(SCORES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner)))
def test_bytes_that_are_not_an_index_are_refused(value: Any) -> None:
    with pytest.raises(ValueError, match=r".+"):
        unpack(json.dumps(value).encode(), ["a"])


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("names", ["b", "a"]),
        ("names", ["a"]),
        ("postings", {"page": [[0, 9], [1.0, 1.0]]}),
        ("postings", {"page": [[0], [1.0, 1.0]]}),
        ("postings", {"page": [["0"], [1.0]]}),
        ("postings", {"page": [[0], ["1"]]}),
        ("postings", {"page": [[0], [math.inf]]}),
        ("norms", [1.0]),
        ("norms", [1.0, 0.0]),
        ("norms", [1.0, math.nan]),
        ("norms", ["1", "1"]),
        ("phrases", [[]]),
        ("following", [[5, [0]]]),
        ("following", [[0, [7]]]),
        ("following", 3),
    ],
)
def test_an_index_with_one_wrong_part_is_refused(key: str, value: Any) -> None:
    index = WordIndex.build([ToolCard("a", "page"), ToolCard("b", "post")])
    made = {**json.loads(pack(index)), key: value}

    with pytest.raises(ValueError, match=r".+"):
        unpack(json.dumps(made).encode(), ["a", "b"])


@given(RANKED, RANKED, MARK, st.integers(1, 3))
def test_a_mixed_score_is_a_mean_and_better_in_both_is_better(
    words: list[tuple[str, float]], meanings: list[tuple[str, float]], share: float, limit: int
) -> None:
    mixed = MixedRanker(lambda _, n: words[:n], lambda _, n: meanings[:n], share)("query", limit)
    scores = [score for _, score in mixed]

    assert len(mixed) == min(limit, len({name for name, _ in (*words, *meanings)}))
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)
    said = [dict(words), dict(meanings)]
    if all(ranking.keys() == NAMES for ranking in said) and len(mixed) == 3:
        place = {name: n for n, (name, _) in enumerate(mixed)}
        for one in NAMES:
            for other in NAMES:
                if all(ranking[one] > ranking[other] for ranking in said) and 0 < share < 1:
                    assert place[one] < place[other]
