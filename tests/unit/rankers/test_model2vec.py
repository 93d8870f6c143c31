"""Models of model2vec: by folder, or by the name under which a hub's client keeps them on this machine."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cuecard import Engine, SpecError
from cuecard.outside.rankers.model2vec import find_model, load_model
from unit.rankers.agents import write_agent
from unit.rankers.tiny_model import write_model, write_tensors

pytest.importorskip("tokenizers")

MEANT = {"umbrella": "weather", "invoice": "pay", "tune": "sing", "post": "mail"}
"""Queries without a word that a tool has, and the tool that is meant."""


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: Any, **__: Any) -> None:
        raise AssertionError("a model is never fetched")

    monkeypatch.setattr(socket.socket, "connect", refused)


@pytest.mark.parametrize("quantized", [False, True])
@pytest.mark.parametrize("place", ["./potion", "potion", "ABSOLUTE"])
def test_a_model_in_a_folder_finds_what_is_meant(tmp_path: Path, place: str, quantized: bool) -> None:  # noqa: FBT001 - parametrized
    model = write_model(tmp_path / "potion", quantized=quantized)
    named = place.replace("ABSOLUTE", model.as_posix())
    engine = Engine.open(write_agent(tmp_path, f"{{ranker: 'model2vec:{named}'}}"))

    for query, tool in MEANT.items():
        result = engine.search_tools(query)
        assert (result.tools, result.diagnostics) == ((tool,), ())
    assert Engine.open(write_agent(tmp_path)).search_tools("umbrella").tools == ()


def test_a_path_is_relative_to_the_file_that_writes_it(tmp_path: Path) -> None:
    base = tmp_path / "base"
    base.mkdir()
    write_model(base / "models" / "potion")
    write_agent(base, "{ranker: 'model2vec:./models/potion'}")
    above = tmp_path / "above" / "agent.yaml"
    above.parent.mkdir()
    above.write_text("agent: other\nextends: ../base/agent.yaml\n", encoding="utf-8")
    beside = tmp_path / "agent.yaml"
    beside.write_text("agent: third\nextends: base/agent.yaml\n", encoding="utf-8")

    assert Engine.open(above).search_tools("tune").tools == ("sing",)
    assert Engine.open(beside).search_tools("tune").tools == ("sing",)


def test_a_name_is_looked_up_where_clients_of_the_hub_keep_models(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = tmp_path / "hub" / "models--minishlab--potion-base-8M"
    write_model(kept / "snapshots" / "abc123")
    (kept / "refs").mkdir()
    (kept / "refs" / "main").write_text("abc123", encoding="ascii")
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    engine = Engine.open(write_agent(tmp_path, "{ranker: 'model2vec:minishlab/potion-base-8M'}"))

    assert engine.search_tools("invoice").tools == ("pay",)


NOWHERE = ["minishlab/potion-base-8M", "./nowhere", "../../../..", "/", "~nobody/x", "~~/x", "a\\b", "x" * 5000]


@pytest.mark.parametrize("name", NOWHERE)
def test_a_model_that_is_not_there_is_reported_when_the_agent_is_opened(tmp_path: Path, name: str) -> None:
    with pytest.raises(SpecError) as error:
        Engine.open(write_agent(tmp_path, f"{{ranker: 'model2vec:{name}'}}"))

    [problem] = error.value.problems
    assert problem.code == "missing-ranker"
    assert problem.span is not None
    assert "nothing is downloaded" in problem.hint


def test_a_missing_extra_is_named_with_how_to_install_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_model(tmp_path / "potion")
    monkeypatch.setitem(__import__("sys").modules, "tokenizers", None)
    with pytest.raises(SpecError) as error:
        Engine.open(write_agent(tmp_path, "{ranker: 'model2vec:./potion'}"))

    [problem] = error.value.problems
    assert "needs the extra `model2vec`" in problem.message
    assert problem.hint == 'pip install "cuecard[model2vec]"'


def cut_short(model: Path) -> None:
    file = model / "model.safetensors"
    file.write_bytes(file.read_bytes()[:-5])


def other_contents(model: Path) -> None:
    (model / "model.safetensors").write_bytes((2).to_bytes(8, "little") + b"[]" + b"\0" * 64)


def huge_head(model: Path) -> None:
    (model / "model.safetensors").write_bytes(b"\xff" * 64)


def no_table(model: Path) -> None:
    write_tensors(model, {"other": np.zeros((2, 2), np.float32)})


def wrong_mapping(model: Path) -> None:
    write_tensors(model, {"embeddings": np.zeros((2, 4), np.float32), "mapping": np.full(17, 9, np.int64)})


def few_weights(model: Path) -> None:
    write_tensors(model, {"embeddings": np.zeros((17, 4), np.float32), "weights": np.ones(3, np.float32)})


def past_the_end(model: Path) -> None:
    contents = {"embeddings": {"dtype": "F32", "shape": [10**9, 4], "data_offsets": [0, 16 * 10**9]}}
    head = json.dumps(contents).encode()
    (model / "model.safetensors").write_bytes(len(head).to_bytes(8, "little") + head + b"\0" * 64)


def no_tokenizer(model: Path) -> None:
    (model / "tokenizer.json").write_text("{}", encoding="utf-8")


DAMAGES = [cut_short, other_contents, huge_head, no_table, wrong_mapping, few_weights, past_the_end, no_tokenizer]


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_model_leaves_the_search_to_bm25_and_the_host_hears_why(
    tmp_path: Path, damage: Callable[[Path], None]
) -> None:
    damage(write_model(tmp_path / "potion"))
    engine = Engine.open(write_agent(tmp_path, "{ranker: 'model2vec:./potion'}"))
    plain = Engine.open(write_agent(tmp_path)).search_tools("send a letter")
    result = engine.search_tools("send a letter")

    assert result.hits == plain.hits != ()
    assert [each.code for each in result.diagnostics] == ["ranker_failed"]


def test_vectors_are_those_of_the_model(tmp_path: Path) -> None:
    write_model(tmp_path / "potion", quantized=True)
    files = find_model("potion", tmp_path)
    assert files is not None
    encoder = load_model(files)
    vectors = encoder.encode(["rain RAIN tune nonsense", "nonsense", ""])

    assert vectors[0].tolist() == pytest.approx([2 / 5**0.5, 0, 1 / 5**0.5, 0])
    assert not vectors[1:].any()


def test_nan_and_infinity_do_not_spread(tmp_path: Path) -> None:
    model = write_model(tmp_path / "potion")
    table = np.vstack([np.zeros(4), np.repeat(np.eye(4), 4, axis=0)]).astype(np.float32)
    table[1] = np.nan
    table[5] = np.inf
    write_tensors(model, {"embeddings": table})
    engine = Engine.open(write_agent(tmp_path, "{ranker: 'model2vec:./potion'}"))

    assert engine.search_tools("weather post").diagnostics == ()
    assert engine.search_tools("post").tools == ("mail",)


def test_a_model_whose_files_lead_out_of_the_roots_is_refused_with_link_and_target(tmp_path: Path) -> None:
    write_model(tmp_path / "elsewhere")
    agent = tmp_path / "agent"
    (agent / "potion").mkdir(parents=True)
    for name in ("model.safetensors", "tokenizer.json"):
        (agent / "potion" / name).symlink_to(tmp_path / "elsewhere" / name)
    with pytest.raises(SpecError) as error:
        Engine.open(write_agent(agent, "{ranker: 'model2vec:./potion'}"))

    [problem] = error.value.problems
    assert problem.code == "link-outside"
    assert str(tmp_path / "elsewhere") in problem.message


def test_what_was_a_file_and_became_a_link_or_a_pipe_is_not_read(tmp_path: Path) -> None:
    write_model(tmp_path / "elsewhere")
    write_model(tmp_path / "potion")
    engine = Engine.open(write_agent(tmp_path, "{ranker: 'model2vec:./potion'}"))
    weights = tmp_path / "potion" / "model.safetensors"
    weights.unlink()
    weights.symlink_to(tmp_path / "elsewhere" / "model.safetensors")
    assert [each.code for each in engine.search_tools("send a letter").diagnostics] == ["ranker_failed"]

    weights.unlink()
    os.mkfifo(weights)
    with pytest.raises(SpecError, match="there is no model"):
        Engine.open(write_agent(tmp_path, "{ranker: 'model2vec:./potion'}"))


def test_a_model_that_a_hub_keeps_is_found_through_its_own_links_and_no_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    kept = tmp_path / "hub" / "models--any--potion"
    write_model(kept / "blobs")
    (kept / "refs").mkdir()
    (kept / "refs" / "main").write_text("abc", encoding="ascii")
    (kept / "snapshots" / "abc").mkdir(parents=True)
    for name in ("model.safetensors", "tokenizer.json"):
        (kept / "snapshots" / "abc" / name).symlink_to(f"../../blobs/{name}")
    assert find_model("any/potion", tmp_path) is not None

    write_model(tmp_path / "elsewhere")
    link = kept / "snapshots" / "abc" / "tokenizer.json"
    link.unlink()
    link.symlink_to(tmp_path / "elsewhere" / "tokenizer.json")
    assert find_model("any/potion", tmp_path) is None
