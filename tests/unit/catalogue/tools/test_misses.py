"""A search that finds nothing says what there is; and what it says is so."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuecard import Conversation, Engine, Gates, ToolCard, ToolResult, Turn
from cuecard.catalogue.search import MAX_CATEGORIES, SearchIndex
from cuecard.files.tokens import bundled_counter
from cuecard.types import ToolInstructions

TOKENS = bundled_counter("o200k_base")
AGENT = """agent: shop
tools: {instructions: [orders.yaml, people.yaml]}
sections: [{id: role, text: You help.}, {id: how, title: How, text: "{{{activeProtocols}}}"}]
"""
ORDERS = """category: orders
tools:
  refund_order: {description: Give money back, phrases: [give money back], gotcha: Ask first}
  ship_order: {description: Send a parcel, phrases: [send the parcel], gotcha: Weigh it first}
"""
PEOPLE = """category: people
described:
  find_customer: {description: Look up a customer, phrases: [look up a customer]}
"""


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    for name, text in (("agent.yaml", AGENT), ("orders.yaml", ORDERS), ("people.yaml", PEOPLE)):
        (tmp_path / name).write_text(text, encoding="utf-8")
    return Engine.open(tmp_path)


def begun(engine: Engine, turn: Turn | None = None) -> Conversation:
    chat = engine.conversation()
    chat.user(turn or Turn())
    return chat


def answer(chat: Conversation, query: str) -> dict[str, Any]:
    return chat.search_tools(query).to_json()


def test_a_miss_names_the_categories_with_their_tools_and_nothing_of_their_instructions(engine: Engine) -> None:
    said = answer(begun(engine), "weather in Paris")
    silent = [answer(begun(engine), query) for query in ("", "so what", "x" * 3000)]

    assert said["tools"] == []
    assert said["categories"] == {"orders": ["refund_order", "ship_order"], "people": ["find_customer"]}
    assert [each["categories"] for each in silent] == [said["categories"]] * 3
    assert '"give money back", "look up a customer"' in said["message"]
    assert said["message"].endswith("search for a category, or a tool, by its name.")
    assert "Ask first" not in json.dumps(said)
    assert "categories" not in answer(begun(engine), "give money back")


def test_what_a_miss_names_is_not_discovered(engine: Engine) -> None:
    chat = begun(engine)
    said = answer(chat, "weather in Paris")
    parts = [{"type": "text", "text": json.dumps(said)}]

    for number, result in enumerate((said, json.dumps(said), parts, {"result": said}, {"structuredContent": said})):
        step = chat.step([ToolResult("tool_search", result, f"{number}")])
        assert step.active_tools == ("tool_search",)
        assert step.appended == ()


def test_a_miss_names_no_tool_that_the_call_does_not_have_or_has_found_already(engine: Engine) -> None:
    shut = answer(begun(engine, Turn(gates=Gates(blocked=("find_customer", "refund_order")))), "weather")
    chat = begun(engine)
    chat.step([ToolResult("tool_search", {"tools": ["ship_order"]}, "1")])

    assert shut["categories"] == {"orders": ["ship_order"]}
    assert 'for example "send the parcel".' in shut["message"]
    assert answer(chat, "weather")["categories"] == {"orders": ["refund_order"], "people": ["find_customer"]}


def test_where_nothing_is_left_to_find_nothing_is_named(engine: Engine) -> None:
    chat = begun(engine, Turn(tools=("refund_order", "ship_order")))
    chat.step([ToolResult("tool_search", {"tools": ["refund_order", "ship_order"]}, "1")])

    assert answer(chat, "weather") == {
        "tools": [],
        "message": "Nothing is left to find: use the tools that are active.",
    }


def test_a_query_that_names_a_category_or_a_tool_finds_it(engine: Engine) -> None:
    chat = begun(engine)

    for query in ("orders", "Orders", "order", "`orders`", "the orders category", "tools for orders"):
        assert set(answer(chat, query)["tools"]) == {"refund_order", "ship_order"}, query
    long = "call refund_order for the order of Mrs Jones"
    for query in ("refund_order", "refund order", "RefundOrder", "'refund_order'", long):
        assert answer(chat, query)["tools"][0] == "refund_order", query


def test_names_are_found_whatever_the_ranker_knows_and_however_they_are_spelt() -> None:
    cards = [
        ToolCard("do_it", category="Misc & more"),
        ToolCard("mcp__crm__list", category="CRM"),
        ToolCard("图"),
        ToolCard("webSearch", category="the web"),
        ToolCard("mcp__files__do_it", category="Files"),
    ]
    index = SearchIndex.build(cards, ranker=lambda *_: ())

    for query, tools in (
        ("do it", ("do_it", "mcp__files__do_it")),
        ("please do_it with the crm", ("do_it", "mcp__files__do_it", "mcp__crm__list")),
        ("Web Search", ("webSearch",)),
        ("a webSearch and a mcp__crm__list", ("webSearch", "mcp__crm__list")),
        ("my list", ()),
        ("webs", ("webSearch",)),
        ("file tools", ("mcp__files__do_it",)),
        ("tool", ()),
        ("misc & more", ("do_it",)),
        ("mcp__crm__list", ("mcp__crm__list",)),
        ("list", ("mcp__crm__list",)),
        ("crm", ("mcp__crm__list",)),
        ("图", ("图",)),
        ("other", ("图",)),
        ("it", ()),
    ):
        assert index.search(query).tools == tools, query


def test_the_tools_of_a_category_come_in_the_order_of_the_ranker_up_to_the_limit() -> None:
    cards = [ToolCard(f"tool_{n}", category="big") for n in range(20)]
    index = SearchIndex.build(cards, ranker=lambda *_: [("tool_7", 0.4), ("tool_3", 0.3)])

    assert index.search("big", 4).tools == ("tool_7", "tool_3", "tool_0", "tool_1")


def test_a_tool_that_is_named_but_does_not_exist_for_the_call_is_not_found(engine: Engine) -> None:
    result = begun(engine, Turn(tools=("ship_order",))).search_tools("refund_order")

    assert "refund_order" not in result.tools
    assert [each.message for each in result.diagnostics] == [
        "`refund_order` matches the query but does not exist for this call"
    ]


def test_what_is_counted_is_the_answer_and_the_most_tokens_are_allowed() -> None:
    cards = [ToolCard(name, category=category) for name, category in (("a", "é"), ("b", ""), ("c", "é"))]
    whole, names, first = (
        '{"categories": ' + said for said in ('{"é": ["a", "c"], "other": ["b"]}}', '["é", "other"]}', '["é"]}')
    )

    def said(**most: int) -> object:
        counts = {whole: most.get("whole", 401), names: most.get("names", 401), first: most.get("first", 401)}
        return SearchIndex.build(cards, count=counts.__getitem__).search("weather").to_json().get("categories")

    assert said(whole=MAX_CATEGORIES) == {"é": ["a", "c"], "other": ["b"]}
    assert said(names=MAX_CATEGORIES, first=9) == ["é", "other"]
    assert said(first=MAX_CATEGORIES) == ["é"]
    assert said() is None


def test_no_more_tools_and_no_more_categories_are_named_than_there_may_be_tokens() -> None:
    cards = [ToolCard(f"a{n}", category=f"c{n}") for n in range(MAX_CATEGORIES + 1)]
    most, more = (SearchIndex.build(each, count=lambda _: 0).search("x").categories for each in (cards[:-1], cards))

    assert most == {card.category: (card.name,) for card in cards[:-1]}
    assert more == tuple(card.category for card in cards[:-1])


@given(
    st.lists(
        st.tuples(st.text(min_size=1, max_size=64), st.text(max_size=200) | st.sampled_from(["a", "b"])), max_size=40
    ),
    st.integers(1, 60),
)
def test_categories_keep_to_their_tokens_whatever_they_are_called(named: list[tuple[str, str]], copies: int) -> None:
    tools = {
        f"{name}{n}": f"{category}{n if category != 'a' else ''}" for n in range(copies) for name, category in named
    }
    cards = [ToolCard(name, category=category) for name, category in tools.items()]
    said = SearchIndex.build(cards, ranker=lambda *_: (), count=TOKENS).search("").to_json().get("categories", [])

    assert TOKENS(json.dumps({"categories": said}, ensure_ascii=False)) <= MAX_CATEGORIES
    assert not cards or said
    assert all("\n" not in category for category in said)


def test_the_message_tells_of_instructions_only_where_a_tool_has_some(engine: Engine) -> None:
    """Instructions come from the agent's files: those of a card of `with_tools` reach no prompt."""
    chat = begun(engine.with_tools([ToolCard("weigh_parcel", "Weigh a parcel", instructions=ToolInstructions("Tare"))]))

    for query in ("look up a customer", "weigh a parcel"):
        assert chat.search_tools(query).message == "Found 1 tool. It is now active."
    assert chat.search_tools("give money back").message.endswith("Read its instructions in `How` before you call it.")
    assert chat.search_tools("find_customer and refund_order").message == (
        "Found 2 tools. They are now active. Before a call, read the instructions of refund_order in `How`."
    )


@pytest.mark.parametrize("size", [100, 150])
@pytest.mark.parametrize("query", ["create an account for a new user", "invite a new user by mail"])
def test_a_long_description_that_holds_all_words_by_chance_does_not_win_alone(query: str, size: int) -> None:
    words = [
        "Stores",
        "the",
        "options",
        "of",
        "a",
        "project",
        "such",
        "as",
        "branding",
        "themes",
        "logos",
        "storage",
        "maps",
        "and",
        "limits",
        "for",
        "it",
    ]

    def text(count: int, first: int) -> str:
        return " ".join(words[(n + first) % len(words)] for n in range(count))

    verbs = enumerate(("list", "get", "add", "remove"))
    names = [(n, verb, thing) for n, verb in verbs for thing in ("users", "roles", "files", "folders", "comments")]
    cards = [ToolCard(f"{verb}_{thing}", f"{verb.title()} {thing}. {text(60, n)}") for n, verb, thing in names]
    by_chance = "It may create the account that a new user of the public site signs up with, or invite one by mail"
    settings = ToolCard("patch_settings", f"{text(size, 0)} {by_chance}")

    assert "add_users" in SearchIndex.build([*cards, settings]).search(query).tools
