from __future__ import annotations

import logging
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from cuecard import ToolCard
from cuecard.catalogue.bm25 import Bm25Ranker
from cuecard.catalogue.catalogue import Catalogue
from cuecard.types import ToolInstructions


def card(name: str, description: str = "", **more: object) -> ToolCard:
    return ToolCard(name, description, **more)  # type: ignore[arg-type]  # tests name the fields they need


def test_a_match_in_the_name_beats_one_in_the_description() -> None:
    rank = Bm25Ranker.build([card("a", "send mail to people"), card("mail_send", "to people")])

    assert [name for name, _ in rank("send mail", 2)] == ["mail_send", "a"]


def test_a_match_in_the_phrases_beats_one_in_the_instructions() -> None:
    told = ToolInstructions("publish it first", "Show it", "send_mail", "Posts stay where they are")
    rank = Bm25Ranker.build([card("send", instructions=told), card("post", phrases=("publish a post",))])

    assert [name for name, _ in rank("publish", 2)] == ["post", "send"]


def test_a_match_in_a_parameter_counts_less_than_one_in_the_description() -> None:
    schema = {"type": "object", "properties": {"currency": {"type": "string", "description": "such as euro"}}}
    rank = Bm25Ranker.build([card("pay_bill", "pays", input_schema=schema), card("convert", "to another currency")])

    assert [name for name, _ in rank("currency", 2)] == ["convert", "pay_bill"]
    assert [name for name, _ in rank("euro", 2)] == ["pay_bill"]


def test_the_category_counts() -> None:
    rank = Bm25Ranker.build([card("write_file", category="disk"), card("write_cell", category="spreadsheet")])

    assert rank("write to a spreadsheet", 1)[0][0] == "write_cell"


def test_weights_are_data() -> None:
    cards = [card("alpha", "beta"), card("beta", "alpha")]

    assert [name for name, _ in Bm25Ranker.build(cards, {"name": 1})("beta", 2)] == ["beta"]
    assert [name for name, _ in Bm25Ranker.build(cards, {"name": 0, "description": 1})("beta", 2)] == ["alpha"]
    assert Bm25Ranker.build(cards, {})("beta", 2) == []
    named, phrased = card("beta", "of beta", phrases=("of beta",)), {"description": 1.0}
    found = [Bm25Ranker.build([named], phrased | more)("beta", 1)[0][1] for more in ({}, {"phrases": 1e-9})]
    assert found == pytest.approx([0.577350269, 0.816496581], abs=1e-6)


def test_ties_keep_the_order_of_the_catalogue() -> None:
    cards = [card(name, "copies a thing") for name in ("zeta", "alpha", "mid")]

    assert [name for name, _ in Bm25Ranker.build(cards)("copy things", 3)] == ["zeta", "alpha", "mid"]
    assert [name for name, _ in Bm25Ranker.build(cards[::-1])("copy things", 3)] == ["mid", "alpha", "zeta"]


def test_confidence_is_one_when_every_word_is_covered() -> None:
    rank = Bm25Ranker.build([card("send_mail"), card("read_mail")])

    assert rank("send a mail", 1) == [("send_mail", 1.0)]


def test_confidence_falls_with_every_word_that_the_best_tool_lacks() -> None:
    rank = Bm25Ranker.build([card("send_mail"), card("read_mail")])
    confidences = [
        rank(query, 1)[0][1] for query in ("send", "send pizza", "send pizza pronto", "send pizza pronto today")
    ]

    assert confidences == sorted(set(confidences), reverse=True)


def test_confidence_weighs_rare_words_more() -> None:
    cards = [card(f"list_{thing}") for thing in ("pages", "posts", "images", "menus")]
    rank = Bm25Ranker.build(cards)

    assert rank("pages xyzzy", 1)[0][1] > rank("list xyzzy", 1)[0][1]


def test_confidence_means_the_same_in_a_catalogue_of_one() -> None:
    rank = Bm25Ranker.build([card("send_mail", "send a mail")])

    assert rank("send mail", 1) == [("send_mail", 1.0)]
    assert 0.2 < rank("send the quarterly report by mail", 1)[0][1] < 1
    assert rank("order pizza", 1) == []


def test_a_match_in_the_instructions_alone_is_less_sure_than_one_in_the_name() -> None:
    told = ToolInstructions("check the slug", "x", "y", "z")
    unsure = Bm25Ranker.build([card("a", instructions=told)])("slug", 1)
    sure = Bm25Ranker.build([card("slug", instructions=told)])("slug", 1)

    assert unsure[0][1] < sure[0][1] / 2


def test_a_long_question_with_one_rare_word_in_it_is_sure_enough(cms: Catalogue) -> None:
    question = "My sister told me yesterday that the weekly newsletter needs something prettier, so a new thumbnail?"
    cards = [card("make_thumbnail", "Draw a small preview"), *cms.values()]

    assert Bm25Ranker.build(cards)(question, 1)[0][0] == "make_thumbnail"
    assert Bm25Ranker.build(cards)(question, 1)[0][1] > 0.2


def test_the_query_that_is_a_phrase_beats_those_that_have_all_its_words() -> None:
    cards = [
        card("archive", phrases=("list pages of the year", "all old ones")),
        card("overview", phrases=("list all pages",)),
    ]

    assert Bm25Ranker.build(cards)("list all pages", 2)[0][0] == "overview"


def test_a_misspelt_word_finds_what_it_is_one_letter_away_from_and_counts_half() -> None:
    rank = Bm25Ranker.build([card("calculate", "a sum"), card("send_mail", "to people")])

    for misspelt in ("caculate", "calcuulate", "calcolate", "claculate"):
        assert [name for name, _ in rank(misspelt, 2)] == ["calculate"]
        assert rank(misspelt, 1)[0][1] < rank("calculate", 1)[0][1]
    assert rank("xalculate", 1) == []
    assert rank("calxxlate", 1) == []


@pytest.mark.parametrize("query", ["braveWebSearch", "brave-web-search", "brave_web_search", "Brave Web Search"])
@pytest.mark.parametrize("name", ["mcp__brave-search__brave_web_search", "brave.web-search", "braveWebSearch"])
def test_names_are_found_however_their_words_are_joined(name: str, query: str) -> None:
    rank = Bm25Ranker.build([card("mcp__files__read_file"), card(name), card("webhook")])

    assert rank(query, 1)[0][0] == name


def test_tools_of_two_servers_with_the_same_bare_name_are_kept_apart() -> None:
    rank = Bm25Ranker.build([card("mcp__github__search", "Search"), card("mcp__notion__search", "Search")])

    assert rank("search notion", 2)[0][0] == "mcp__notion__search"
    assert rank("search github", 2)[0][0] == "mcp__github__search"
    assert len(rank("search", 2)) == 2


def test_the_name_of_a_server_counts_less_than_that_of_the_tool() -> None:
    rank = Bm25Ranker.build([card("mcp__search__list_files"), card("mcp__files__search")])

    assert rank("search", 1)[0][0] == "mcp__files__search"


def test_of_equal_tools_the_one_that_a_better_tool_leads_to_comes_first() -> None:
    told = ToolInstructions("None", "None", "zeta", "None")
    cards = [
        card("alpha", "copies a page"),
        card("zeta", "copies a page"),
        card("draft", "copies a page of a draft", instructions=told),
    ]
    found = Bm25Ranker.build(cards)("copy draft page", 3)

    assert [name for name, _ in found] == ["draft", "zeta", "alpha"]
    assert found[1][1] == found[2][1]


def test_no_tool_passes_a_better_one_because_it_is_named_as_next() -> None:
    told = ToolInstructions("None", "None", "zeta", "None")
    cards = [card("alpha", "copies a page"), card("zeta", "a page"), card("draft_page", "copies", instructions=told)]

    assert [name for name, _ in Bm25Ranker.build(cards)("copy page", 3)][-1] == "zeta"


def test_chinese_descriptions_are_found() -> None:
    rank = Bm25Ranker.build([card("bing", "使用必应搜索指定的关键词"), card("page", "获取对应网页的内容")])

    assert [name for name, _ in rank("网页内容", 5)] == ["page"]


def test_an_empty_catalogue_finds_nothing() -> None:
    assert Bm25Ranker.build([])("anything", 5) == []
    assert Bm25Ranker.build([card("..."), card("---")])("anything", 5) == []


def test_searching_writes_nothing_to_output_or_log(
    capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.NOTSET):
        Bm25Ranker.build([card("send_mail")])("send mail", 1)

    assert capfd.readouterr() == ("", "")
    assert caplog.records == []


@pytest.mark.repeats
def test_threads_share_a_ranker(cms: Catalogue) -> None:
    rank = Bm25Ranker.build(cms.values())
    queries = [phrase for tool in cms.values() for phrase in tool.phrases]
    alone = [rank(query, 8) for query in queries]

    with ThreadPoolExecutor(8) as threads:
        together = list(threads.map(lambda query: rank(query, 8), queries * 4))

    assert together == alone * 4


def test_importing_the_package_does_not_load_the_search_libraries() -> None:
    code = "import sys, cuecard.catalogue.bm25; print(sorted({'bm25s', 'numpy', 'snowballstemmer'} & set(sys.modules)))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert run.stdout.strip() == "[]"
