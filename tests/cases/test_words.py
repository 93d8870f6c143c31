"""The engine's own words, in other languages too: `words/<name>` is an agent that has others, `talk.yaml` what happens.

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
from cuecard.adapters.conversations import in_doubt
from cuecard.adapters.function_tools import search_card
from cuecard.types import Json, SearchResult

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
        self.now: dict[str, Json] = {}

    def played(self, entries: list[dict[str, Json]]) -> Iterator[str]:
        for entry in entries:
            [(what, value)] = entry.items()
            yield f"=== {what}: {value}" if isinstance(value, str) else f"=== {what}"
            yield getattr(self, f"_{what}")(value)

    def _search(self, query: str) -> str:
        return self._found(self.engine.search_tools(query))

    def _search_in_call(self, query: str) -> str:
        return self._found(self.engine.search_tools(query, call=self.current, history=self.history))

    def _search_tool(self, _: str) -> str:
        card = search_card(self.engine)
        told = [each["description"] for each in card.input_schema["properties"].values()]
        return "\n".join([card.description, *told, ""])

    def _found(self, found: SearchResult) -> str:
        self.history.append(ToolResult("tool_search", found.to_json(), f"search-{len(self.history) + 1}"))
        return f"{', '.join(found.tools) or '-'}\n{found.message}\n"

    def _skill(self, slug: str) -> str:
        read = self.engine.read_skill(slug)
        return f"{read.message or read.text}\n"

    def _start_of_skill(self, slug: str) -> str:
        read = self.engine.read_skill(slug, limit=10)
        return f"{read.text}\n{read.message}\n"

    def _call(self, turn: dict[str, Json]) -> str:
        books = [Entity("book", key, name) for key, name in turn.get("books", {}).items()]
        memory = Memory((*books, *(Entity("reader", key, "") for key in turn.get("readers", ()))))
        tools = tuple(turn["tools"]) if "tools" in turn else None
        inputs = {name: turn[name] for name in self.engine.inputs if name in turn}
        first = self.current is None
        self.current = self.engine.prepare_call(Turn(inputs, memory, tools=tools), self.history, previous=self.current)
        return self._prepared().system if first else ""

    def _inputs(self, now: dict[str, Json]) -> str:
        self.now = now
        return self._step("")

    def _result(self, given: dict[str, Json]) -> str:
        return f"{self.engine.render_result(ToolResult(given['tool'], given['result'])).text}\n"

    def _refused(self, tool: str) -> str:
        return f"{self._prepared().refusal(tool)}\n"

    def _in_doubt(self, tool: str) -> str:
        return f"{in_doubt(tool, self.engine)}\n"

    def _step(self, _: str) -> str:
        blocks = self._prepared().appended[self.shown :]
        self.shown += len(blocks)
        return "".join(f"--- after {block.after_call_id or 'the message'}\n{block.text}" for block in blocks)

    def _reminder(self, _: str) -> str:
        step = self._prepared()
        return reminder(step.appended[-1].text, step.reminder)

    def _prepared(self) -> Step:
        assert self.current
        return self.engine.prepare_step(self.current, self.history, inputs=self.now)
