"""Assistants in other languages: `words/<name>` is an agent that extends an English one, `talk.yaml` what happens.

`expected.txt` has everything that the model reads; `make golden` writes it anew, and the difference is for people.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from cuecard import Call, Engine, Entity, Memory, Step, ToolResult, Turn
from cuecard.adapters.bodies import reminder
from cuecard.types import Json

FOLDER = Path(__file__).parent / "words"


@pytest.mark.parametrize("case", sorted(path.name for path in FOLDER.iterdir()))
def test_case(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(FOLDER / case)
    expected = Path("expected.txt")
    talk = YAML(typ="safe").load(Path("talk.yaml"))
    outcome = "\n".join(_Talk(Engine.open("agent.yaml")).played(talk["happens"]))
    if os.environ.get("CUECARD_GOLDEN"):
        expected.write_text(outcome, encoding="utf-8")

    assert outcome == expected.read_text(encoding="utf-8")


class _Talk:
    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.current: Call | None = None
        self.history: list[ToolResult] = []
        self.shown = 0

    def played(self, entries: list[dict[str, Json]]) -> Iterator[str]:
        for entry in entries:
            [(what, value)] = entry.items()
            yield f"=== {what}: {value}" if isinstance(value, str) else f"=== {what}"
            yield getattr(self, f"_{what}")(value)

    def _search(self, query: str) -> str:
        found = self.engine.search_tools(query)
        self.history.append(ToolResult("tool_search", found.to_json(), f"search-{len(self.history) + 1}"))
        return f"{', '.join(found.tools) or '-'}\n{found.message}\n"

    def _skill(self, slug: str) -> str:
        return f"{self.engine.read_skill(slug).message}\n"

    def _call(self, turn: dict[str, Json]) -> str:
        memory = Memory(tuple(Entity("book", key, name) for key, name in turn.get("books", {}).items()))
        tools = tuple(turn["tools"]) if "tools" in turn else None
        inputs = {"opening": turn["opening"]} if "opening" in turn else {}
        first = self.current is None
        self.current = self.engine.prepare_call(Turn(inputs, memory, tools=tools), self.history, previous=self.current)
        return self._prepared().system if first else ""

    def _step(self, _: str) -> str:
        blocks = self._prepared().appended[self.shown :]
        self.shown += len(blocks)
        return "".join(f"--- after {block.after_call_id or 'the message'}\n{block.text}" for block in blocks)

    def _reminder(self, _: str) -> str:
        step = self._prepared()
        return reminder(step.appended[-1].text, step.reminder)

    def _prepared(self) -> Step:
        assert self.current
        return self.engine.prepare_step(self.current, self.history)
