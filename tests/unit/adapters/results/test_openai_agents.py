"""The OpenAI Agents SDK sends results as the agent file tells them, and its sessions keep what the tools returned."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

import pytest
from agents import Agent, RunConfig, Runner, ToolOutputImage, ToolOutputText, function_tool
from agents.memory import SQLiteSession
from agents.testing import ModelCall, ScriptedModel, assistant_message, function_call

from cuecard import Engine, Step
from cuecard.adapters.openai_agents import Cuecard
from cuecard.adapters.openai_agents.items import with_results
from unit.adapters.results.shell_agent import TOLD, shell_engine

QUIET = RunConfig(tracing_disabled=True)


@function_tool
def shell(command: str) -> dict[str, Any]:
    """Run a command."""
    if command == "fail":
        raise OSError("the disk is full")
    return {"code": 0, "printed": f"{command} " * 20}


@function_tool
def words() -> str:
    """Say something."""
    return "some words"


@function_tool
def parts() -> ToolOutputText:
    """Say something as a part."""
    return ToolOutputText(text="some words")


@function_tool
def picture() -> list[ToolOutputImage | ToolOutputText]:
    """Show a picture."""
    return [ToolOutputImage(image_url="data:image/png;base64,eA=="), ToolOutputText(text="a view")]


@function_tool
def quote(text: str) -> str:
    """Say it again."""
    return text


def outputs(call: ModelCall) -> list[Any]:
    return [item["output"] for item in call.input if item.get("type") == "function_call_output"]


TOOLS: list[Any] = [shell, words, parts, picture, quote]


class Host:
    def __init__(self, engine: Engine, batches: Sequence[Sequence[tuple[str, dict[str, Any]]]]) -> None:
        steps = [
            [function_call(tool, told, call_id=f"c-{n}-{i}") for i, (tool, told) in enumerate(batch)]
            if batch
            else [assistant_message("done")]
            for n, batch in enumerate(batches)
        ]
        self.steps = list[Step]()
        self.card, self.model = Cuecard(engine, on_step=self.steps.append), ScriptedModel(steps)
        self.agent: Agent[Any] = Agent("sh", model=self.model, tools=self.card.tools(TOOLS))

    def run(self, chat: Any, session: Any) -> None:
        options = self.card.options(None, chat, config=QUIET)
        asyncio.run(Runner.run(self.agent, "go", session=session, **options))


RULES = """\
agent: shop
sections: [{id: a, text: You help.}]
results:
  look: {text: "<{{{content}}}>", error: "<no {{{content}}}>"}
  page: "{{{result.title}}}"
"""


def test_each_result_is_told_by_the_rule_of_its_tool(tmp_path: Path) -> None:
    (tmp_path / "agent.yaml").write_text(RULES, encoding="utf-8")

    def gave(call: str, output: Any, kind: str = "function_call_output") -> Any:
        return {"type": kind, "call_id": call, "output": output, "id": "i"}

    text, picture = {"type": "input_text", "text": "seen"}, {"type": "input_image", "image_url": "u"}
    image = {"content": [{"type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png"}]}
    asked = [
        {"type": "function_call", "name": tool, "call_id": call}
        for tool, call in (("look", "a"), ("look", "b"), ("page", "c"), ("own", "d"))
    ]
    rows = [
        (gave("a", "seen"), "<seen>"),
        (gave("b", [text], "custom_tool_call_output"), "<no seen>"),
        (gave("c", "{'title': 'Home'}"), "Home"),
        (gave("c", '{"title": "Home"}'), "Home"),
        (gave("d", "seen"), "seen"),
        (gave("d", str(image)), "[image/png: not shown as text]"),
        (gave("old", "raw"), "Given"),
        (gave("b", [text, text]), f"<no {escape(json.dumps([text, text]))}>"),
        (gave("a", [picture, text]), [{**text, "text": "<seen>"}, picture]),
        (gave("a", [picture]), [picture]),
        (gave("d", [text, picture]), [text, picture]),
        (gave("nobody's", "seen"), "seen"),
        (gave("a", "seen", "computer_call_output"), "seen"),
    ]

    shown = with_results(
        [*asked, *(item for item, _ in rows)],
        Engine.open(tmp_path).render_result,
        {"old": "page"},
        {"old": {"title": "Given"}},
        {"b"},
    )

    assert shown == [*asked, *({**item, "output": told} for item, told in rows)]


def test_requests_hold_the_texts_and_the_session_what_was_returned(tmp_path: Path) -> None:
    engine, session = shell_engine(tmp_path), SQLiteSession("one")
    host = Host(engine, [[("shell", {"command": "ls"})], [("words", {}), ("parts", {}), ("picture", {})], []])

    host.run(None, session)

    assert [cut.what for cut in host.steps[1].manifest.cuts] == ["shell"]
    sent = [outputs(call) for call in host.model.calls]
    assert sent[1] == [TOLD]
    assert sent[2][:2] == [TOLD, "(some words)"]
    assert sent[2][2] == "(some words)"
    assert sent[2][3][0] == {"type": "input_text", "text": "(a view)"}
    assert sent[2][3][1]["image_url"] == "data:image/png;base64,eA=="
    kept = [item["output"] for item in asyncio.run(session.get_items()) if "output" in item]  # type: ignore[typeddict-item]  # asked just before
    assert "ls ls ls ls ls ls" in str(kept[0])
    session.close()


@pytest.mark.parametrize("another", [False, True], ids=["this process", "another process"])
def test_later_runs_send_the_same_bytes_also_of_failed_calls(tmp_path: Path, *, another: bool) -> None:
    engine, session = shell_engine(tmp_path), SQLiteSession("one")
    chat = engine.conversation()
    first = Host(engine, [[("shell", {"command": "ls"}), ("shell", {"command": "fail"})], []])
    first.run(chat, session)

    again = engine.load(engine.dump(chat)) if another else chat
    second = Host(engine, [[]])
    second.run(again, session)

    assert outputs(first.model.calls[1])[0] == TOLD
    assert outputs(first.model.calls[1])[1].startswith("<failed>An error ")
    assert outputs(second.model.calls[0]) == outputs(first.model.calls[1])
    session.close()


@pytest.mark.parametrize("text", ["{'done': None}", "['one', 'two']"])
def test_a_text_that_looks_like_an_object_of_python_stays_the_text_that_a_tool_returned(
    tmp_path: Path, text: str
) -> None:
    host = Host(shell_engine(tmp_path), [[("quote", {"text": text})], []])

    host.run(None, None)

    assert outputs(host.model.calls[1]) == [f"({text})"]


@pytest.mark.parametrize("text", ["{'done':None}", "['one','two']", "{'done': nothing}", "[" * 5000])
def test_another_process_reads_no_object_into_a_text_that_str_would_not_have_made(tmp_path: Path, text: str) -> None:
    engine, session = shell_engine(tmp_path), SQLiteSession("one")
    chat = engine.conversation()
    first = Host(engine, [[("quote", {"text": text})], []])
    first.run(chat, session)

    second = Host(engine, [[]])
    second.run(engine.load(engine.dump(chat)), session)

    assert outputs(first.model.calls[1]) == outputs(second.model.calls[0]) == [f"({text})"]
    session.close()
