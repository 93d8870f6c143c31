from __future__ import annotations

import logging
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from cuecard.catalogue import Bm25Ranker, Catalogue
from cuecard.model import ToolCard, ToolInstructions


def card(name: str, description: str = "", **more: object) -> ToolCard:
    return ToolCard(name, description, **more)  # type: ignore[arg-type]  # tests name the fields they need


def test_a_match_in_the_name_beats_one_in_the_description() -> None:
    rank = Bm25Ranker.build([card("a", "send mail to people"), card("mail_send", "to people")])

    assert [name for name, _ in rank("send mail", 2)] == ["mail_send", "a"]


def test_a_match_in_the_phrases_beats_one_in_the_instructions() -> None:
    told = ToolInstructions("publish", "publish", "publish", "publish")
    rank = Bm25Ranker.build([card("a", instructions=told), card("b", phrases=("publish a post",))])

    assert [name for name, _ in rank("publish", 2)] == ["b", "a"]


def test_the_category_counts() -> None:
    rank = Bm25Ranker.build([card("write_file", category="disk"), card("write_cell", category="spreadsheet")])

    assert rank("write to a spreadsheet", 1)[0][0] == "write_cell"


def test_weights_are_data() -> None:
    cards = [card("alpha", "beta"), card("beta", "alpha")]

    assert Bm25Ranker.build(cards, {"name": 1})("beta", 2) == [("beta", 1.0)]
    assert Bm25Ranker.build(cards, {"name": 0, "description": 1})("beta", 2) == [("alpha", 1.0)]
    assert Bm25Ranker.build(cards, {})("beta", 2) == []


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


def test_a_match_in_the_instructions_alone_is_half_a_match() -> None:
    told = ToolInstructions("check the slug", "x", "y", "z")
    rank = Bm25Ranker.build([card("a", instructions=told)])

    assert rank("slug", 1) == [("a", 0.5)]


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


def test_threads_share_a_ranker(cms: Catalogue) -> None:
    rank = Bm25Ranker.build(cms.values())
    queries = [phrase for tool in cms.values() for phrase in tool.phrases]
    alone = [rank(query, 8) for query in queries]

    with ThreadPoolExecutor(8) as threads:
        together = list(threads.map(lambda query: rank(query, 8), queries * 4))

    assert together == alone * 4


def test_importing_the_package_does_not_load_the_search_libraries() -> None:
    code = "import sys, cuecard.catalogue; print(sorted({'bm25s', 'numpy', 'snowballstemmer'} & set(sys.modules)))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert run.stdout.strip() == "[]"
