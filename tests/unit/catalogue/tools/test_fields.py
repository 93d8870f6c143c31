from __future__ import annotations

import pytest

from cuecard import ToolCard
from cuecard.catalogue.fields import MAX_TEXT, CardTexts, bare, bare_name, server_prefix


@pytest.mark.parametrize(
    ("name", "prefix", "bare"),
    [
        ("mcp__brave-search__brave_web_search", "mcp__brave-search__", "brave_web_search"),
        ("github.search", "github.", "search"),
        ("files/read", "files/", "read"),
        ("mail:send", "mail:", "send"),
        ("x.a.b__c", "x.a.b__", "c"),
        ("x.c", "x.", "c"),
        ("cms_getPage", "", "cms_getPage"),
        ("__init", "", "__init"),
        ("tool__", "", "tool__"),
        ("a__.", "", "a__."),
        ("", "", ""),
    ],
)
def test_the_server_in_front_of_a_name_is_told_apart_from_it(name: str, prefix: str, bare: str) -> None:
    assert (server_prefix(name), bare_name(name)) == (prefix, bare)


def test_a_card_as_texts_says_all_its_name_in_words_and_its_phrases() -> None:
    schema = {"type": "object", "properties": {"maxResults": {}, "from-date": {}}}
    card = ToolCard("mcp__brave-search__webSearch", "Searches.", schema, ("find\ud800", "look up"))

    name = "mcp brave search web Search"
    assert CardTexts.of(card) == (f"{name}. Searches. max Results from date", name, "find?. look up")
    assert CardTexts.of(ToolCard("..")) == ("...", "..", "")
    assert CardTexts.of(ToolCard("HTTPGet", "x" * MAX_TEXT + "y", {}, ("z" * MAX_TEXT, "z"))) == (
        f"HTTP Get. {'x' * MAX_TEXT}",
        "HTTP Get",
        "z" * MAX_TEXT,
    )
    many = [f"p{n:05}" for n in range(200)]
    assert (
        CardTexts.of(ToolCard("a", "", {"properties": dict.fromkeys(many)})).all == f"a.  {' '.join(many)[:MAX_TEXT]}"
    )


@pytest.mark.parametrize(
    ("query", "words"),
    [("What's the weather like in Paris?", "weather like Paris"), ("What is this", "What is this"), ("", "")],
)
def test_what_says_nothing_of_a_capability_is_left_out_of_a_query(query: str, words: str) -> None:
    assert bare(query) == words
