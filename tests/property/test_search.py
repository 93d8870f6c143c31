"""What holds of every search, in every catalogue, for every query."""

from __future__ import annotations

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from cuecard import ToolCard
from cuecard.catalogue.bm25 import Bm25Ranker
from cuecard.catalogue.catalogue import Catalogue
from cuecard.catalogue.graph import tool_graph
from cuecard.catalogue.search import SearchIndex
from cuecard.catalogue.unknown_names import KnownNames, unknown_names
from cuecard.catalogue.words import STOP_WORDS, WordReader
from cuecard.config.tools_spec import SearchSpec
from cuecard.types import ToolInstructions

TEXTS = st.text(max_size=40) | st.lists(
    st.sampled_from(["get", "page", "pages", "sendMail", "GitHub", "图片搜索", "the", "_", "a b"]), max_size=6
).map(" ".join)
CARDS = st.builds(
    ToolCard,
    name=TEXTS,
    description=TEXTS,
    phrases=st.lists(TEXTS, max_size=3).map(tuple),
    category=TEXTS,
    instructions=st.none() | st.builds(ToolInstructions, TEXTS, TEXTS, TEXTS, TEXTS),
)
LETTERS = st.characters(categories=["L", "Nd"]).filter(lambda c: unicodedata.is_normalized("NFKC", c))
CATALOGUES = st.lists(CARDS, max_size=8, unique_by=lambda card: card.name).map(Catalogue)


@given(CATALOGUES, TEXTS, st.integers(1, 50), st.floats(0, 1))
def test_a_search_names_only_tools_of_the_catalogue_and_each_once(
    catalogue: Catalogue, query: str, limit: int, threshold: float
) -> None:
    result = SearchIndex.build(catalogue.values()).search(query, limit, spec=SearchSpec(confidence=threshold))

    assert set(result.tools) <= set(catalogue)
    assert len(set(result.tools)) == len(result.tools) <= limit
    assert 0 <= result.confidence <= 1
    assert result.confidence >= threshold or not result.tools
    assert result.message
    assert "\n" not in result.message


@given(CATALOGUES, TEXTS)
def test_scores_fall_from_the_confidence_towards_0_and_ties_keep_the_order(catalogue: Catalogue, query: str) -> None:
    order = list(catalogue)
    hits = Bm25Ranker.build(catalogue.values())(query, 50)

    assert all(0 < score <= 1 for _, score in hits)
    assert hits == sorted(hits, key=lambda hit: (-hit[1], order.index(hit[0])))


@given(CATALOGUES, TEXTS, st.integers(1, 5))
def test_a_smaller_limit_gives_the_first_of_the_same_answer(catalogue: Catalogue, query: str, limit: int) -> None:
    rank = Bm25Ranker.build(catalogue.values())

    assert rank(query, limit) == rank(query, 50)[:limit]


@given(CATALOGUES, TEXTS)
def test_two_indexes_of_the_same_catalogue_answer_alike(catalogue: Catalogue, query: str) -> None:
    assert Bm25Ranker.build(catalogue.values())(query, 50) == Bm25Ranker.build(catalogue.values())(query, 50)


@given(CATALOGUES)
def test_a_tool_is_found_by_its_whole_name(catalogue: Catalogue) -> None:
    rank = Bm25Ranker.build(catalogue.values())
    named = [name for name in catalogue if WordReader().words(name)]

    assert [name for name in named if name not in dict(rank(name, 50))] == []


@given(st.text(alphabet=LETTERS, min_size=1, max_size=20))
def test_letters_and_digits_of_any_script_never_vanish(text: str) -> None:
    assert WordReader().words(text) or text.casefold() in STOP_WORDS


@given(st.text(alphabet="aB1_-. 图画ぁ", max_size=30), st.text(alphabet="aB1_-. 图画ぁ", max_size=30))
def test_words_of_two_texts_are_those_of_each(left: str, right: str) -> None:
    words = WordReader().words

    assert words(f"{left} {right}") == [*words(left), *words(right)]


@given(CATALOGUES)
def test_edges_join_different_tools_of_the_catalogue_and_every_drawing_has_them(catalogue: Catalogue) -> None:
    graph = tool_graph(catalogue.values())
    pairs = {(edge.source, edge.target) for edge in graph.edges}

    assert all(
        edge.source in catalogue and edge.target in catalogue and edge.source != edge.target for edge in graph.edges
    )
    assert graph.mermaid().count(" --> ") + graph.mermaid().count(" -.-> ") == len(pairs)
    assert len(graph.dot().splitlines()) >= len(catalogue) + len(pairs)


@given(CARDS, st.sets(st.sampled_from(["get_page", "getPage", "send-mail", "x"])))
def test_unknown_names_are_never_known_ones(card: ToolCard, known: set[str]) -> None:
    assert known.isdisjoint(name for _, name in unknown_names(card, KnownNames.of(known)))
