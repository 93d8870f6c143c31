"""Words of agent files laid over each other: key by key, and a file of words alone serves many agents."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cuecard import Engine, SpecError
from cuecard.config.words_spec import ENGLISH
from unit.config.words.foreign import AGENT, TOOLS, engine, words

FOUND = {"found_one": "Eins.", "found": "{count}."}


def laid_over(folder: Path, base: dict[str, Any], top: dict[str, Any]) -> Engine:
    (folder / "tools.yaml").write_text(json.dumps(TOOLS), encoding="utf-8")
    (folder / "base.yaml").write_text(json.dumps({**AGENT, "words": base}), encoding="utf-8")
    (folder / "agent.yaml").write_text(json.dumps({"extends": "base.yaml", **top}), encoding="utf-8")
    return Engine.open(folder / "agent.yaml")


def test_a_word_of_the_file_above_wins_and_all_others_stay(tmp_path: Path) -> None:
    top = {"search": {"found": "{count} gefunden."}, "memory": {"types": {"b": "B:"}}}
    base = {"search": FOUND, "memory": {"types": {"a": "A:"}}, "marks": {"between": "; "}}
    base |= {"notices": {"restored_tools": "<back>{tools}</back>"}}  # which stands on lines of its own in any case
    made = laid_over(tmp_path, base, {"words": top}).agent.spec.words

    assert (made.search.found_one, made.search.found) == ("Eins.", "{count} gefunden.")
    assert made.memory.types == {"a": "A:", "b": "B:"}
    assert (made.marks.between, made.notices.restored_tools) == ("; ", "<back>{tools}</back>\n")
    assert made.search.nothing == ENGLISH.search.nothing


def test_a_file_of_words_alone_serves_any_agent(tmp_path: Path) -> None:
    (tmp_path / "words.yaml").write_text(json.dumps({"words": words()}), encoding="utf-8")
    made = engine(tmp_path, {**AGENT, "extends": "words.yaml"})

    assert made.agent.spec.words.model_dump() == words()


def test_the_manifest_names_the_line_of_each_word(tmp_path: Path) -> None:
    made = laid_over(tmp_path, {"search": FOUND}, {"words": {"search": {"found": "{count}!"}}})
    origins = made.prepare_step(made.prepare_call()).manifest.origins

    assert origins["words.search.found_one"].startswith("base.yaml")
    assert origins["words.search.found"].startswith("agent.yaml")


def test_a_mistake_is_reported_where_it_was_written(tmp_path: Path) -> None:
    with pytest.raises(SpecError) as caught:
        engine(tmp_path, words={"search": {"found": "Gefunden."}})
    [problem] = caught.value.problems

    assert problem.message == "`words.search.found` should contain {count}"
    with pytest.raises(SpecError) as again:
        laid_over(tmp_path, {"serch": FOUND}, {})
    assert [(p.message, p.hint, Path(p.name).name) for p in again.value.problems] == [
        ("unknown key `serch`", "did you mean `search`?", "base.yaml")
    ]


def test_other_words_are_another_configuration(tmp_path: Path) -> None:
    plain = engine(tmp_path).agent.sha256

    assert engine(tmp_path, words={"search": FOUND}).agent.sha256 != plain
