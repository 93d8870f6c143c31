"""What an assistant would type into the tool search finds the tool it needs, and not much more."""

from __future__ import annotations

from statistics import fmean

import pytest

from cuecard.catalogue.catalogue import Catalogue
from cuecard.catalogue.search import SearchIndex
from cuecard.config.tools_spec import SearchSpec
from unit.catalogue.tools.cms_queries import QUERIES

OFF_TOPIC = ("weather forecast tomorrow", "book a flight to Paris", "play music", "schedule a meeting", "summer sale")


@pytest.fixture(scope="module")
def index(cms: Catalogue) -> SearchIndex:
    return SearchIndex.build(card for card in cms.values() if card.category != "core")


def test_the_right_tool_comes_first_in_nineteen_of_twenty_searches(index: SearchIndex) -> None:
    found = {query: index.search(query).tools[:3] for query in QUERIES}
    first = [found[query][0] == tool for query, tool in QUERIES.items()]

    assert sum(first) >= 0.95 * len(first)
    assert [query for query, tool in QUERIES.items() if tool not in found[query]] == []


def test_a_search_returns_two_tools_in_the_mean_not_eight(cms: Catalogue, index: SearchIndex) -> None:
    phrases = [phrase for name in index.names for phrase in cms[name].phrases]

    assert fmean(len(index.search(query).tools) for query in QUERIES) < 2
    assert fmean(len(index.search(phrase).tools) for phrase in phrases) < 2
    assert fmean(len(index.search(phrase, spec=SearchSpec(cut=0)).tools) for phrase in phrases) > 7


def test_every_tool_that_must_be_found_is_in_the_table(index: SearchIndex) -> None:
    assert set(QUERIES.values()) == index.names


def test_every_phrase_of_a_tool_finds_it(cms: Catalogue, index: SearchIndex) -> None:
    lost = [
        (phrase, name) for name in index.names for phrase in cms[name].phrases if name not in index.search(phrase).tools
    ]

    assert lost == []


def test_what_the_site_cannot_do_is_not_found(index: SearchIndex) -> None:
    assert [query for query in OFF_TOPIC if index.search(query).tools] == []
