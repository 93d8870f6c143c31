"""Words of agent files laid over each other: key by key, and a file of words alone serves many agents."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from cuecard import Engine
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
