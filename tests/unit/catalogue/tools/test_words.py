from __future__ import annotations

import pytest

from cuecard.catalogue.words import WordReader


def split(text: str) -> list[tuple[str, ...]]:
    return WordReader().words(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("attach an image", [("attach",), ("imag",)], id="stop words go, the rest is stemmed"),
        pytest.param("Publishing PUBLISHED publishes", [("publish",)] * 3, id="forms of one word meet"),
        pytest.param(
            "cms_searchImages", [("cms",), ("searchimag", "search", "imag")], id="camelCase whole and in parts"
        ),
        pytest.param("GitHub github", [("github", "git", "hub"), ("github",)], id="brand names stay whole too"),
        pytest.param("get-36kr.trending", [("get",), ("36kr",), ("trend",)], id="punctuation splits, digits stay"),
        pytest.param("HTTPServer2", [("httpserver2", "http", "server2")], id="capitals in a row are one part"),
        pytest.param("log out of the menu", [("log",), ("out",), ("menu",)], id="direction words stay"),
        pytest.param("don't what's we've", [], id="what an apostrophe leaves over says nothing"),
        pytest.param("搜索图片", [("搜索",), ("索图",), ("图片",)], id="Han in pairs"),
        pytest.param("八字info", [("八字",), ("info",)], id="scripts part at their border"),
        pytest.param("画像を探す", [("画像",), ("像を",), ("を探",), ("探す",)], id="kana and kanji in pairs"),
        pytest.param("删", [("删",)], id="a single character stays"),
        pytest.param("ค้นหา", [("ค้",), ("้น",), ("นห",), ("หา",)], id="Thai keeps its vowel signs"),
        pytest.param("चित्र खोजें", [("चित्र",), ("खोजें",)], id="Hindi words stay whole"),
        pytest.param("ＡＩ ﬁle", [("ai",), ("file",)], id="compatibility forms are folded"),
        pytest.param("Größe ändern", [("grösse",), ("ändern",)], id="case is folded beyond ASCII"),
        pytest.param("... _ -- 🙂", [], id="nothing to search with"),
    ],
)
def test_text_becomes_words(text: str, expected: list[tuple[str, ...]]) -> None:
    assert split(text) == expected
