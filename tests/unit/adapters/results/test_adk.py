"""Google ADK sends results as the agent file tells them, and its sessions keep what the tools returned."""

from __future__ import annotations

import asyncio
import json
from html import escape
from pathlib import Path
from typing import Any

from google.adk.agents import LlmAgent
from google.adk.sessions import InMemorySessionService
from google.genai import types

from cuecard import Engine, Step
from cuecard.adapters.adk import Cuecard
from cuecard.adapters.adk.contents import CallIds, named, with_results
from unit.adapters.results.shell_agent import TOLD, shell_engine
from unit.adapters.test_adk import Scripted, results, runner, talk


def shell(command: str) -> dict[str, Any]:
    """Run a command."""
    return {"error": "the disk is full"} if command == "fail" else {"code": 0, "printed": f"{command} " * 20}


def words() -> str:
    """Say something."""
    return "some words"


def test_requests_hold_the_texts_and_the_session_what_was_returned(tmp_path: Path) -> None:
    sessions = InMemorySessionService()
    batches: Any = [[("shell", {"command": "ls"})], [("words", {}), ("shell", {"command": "fail"})]]
    model = Scripted(batches=batches)
    agent = LlmAgent(name="sh", model=model, tools=[shell, words])
    steps = list[Step]()
    run = runner(agent, Cuecard(shell_engine(tmp_path), on_step=steps.append), sessions=sessions)

    asyncio.run(talk(run, "go"))
    asyncio.run(talk(run, "and again"))

    assert [cut.what for cut in steps[1].manifest.cuts] == ["shell"]
    last = [{"result": TOLD}, {"result": "(some words)"}, results(model.sent[2])[2]]
    assert results(model.sent[1]) == last[:1]
    assert results(model.sent[2]) == last
    assert last[2].keys() == {"error"}
    assert last[2]["error"].startswith("<failed>")
    assert results(model.sent[3]) == last  # the next message of the user
    session = asyncio.run(sessions.get_session(app_name="site", user_id="ann", session_id="one"))
    assert session
    kept = [response.response for event in session.events for response in event.get_function_responses()]
    assert kept[0] == {"code": 0, "printed": "ls " * 20}
    assert kept[1:] == [{"result": "some words"}, {"error": "the disk is full"}]


RULES = """\
agent: shop
sections: [{id: a, text: You help.}]
results:
  look: {text: "<{{{content}}}>", error: "<no {{{content}}}>"}
"""


def test_each_result_is_told_by_the_rule_of_its_tool_and_nothing_else_changes(tmp_path: Path) -> None:
    (tmp_path / "agent.yaml").write_text(RULES, encoding="utf-8")

    def content(*results: tuple[str, Any], role: str = "user") -> types.Content:
        said = [types.FunctionResponse(name=tool, id=f"c-{at}", response=it) for at, (tool, it) in enumerate(results)]
        parts = [types.Part(function_response=each) for each in said]
        return types.Content(role=role, parts=[types.Part(text="and"), *parts, types.Part(text="so")])

    image = {"content": [{"type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png"}]}
    plain, empty = types.Content(role="model", parts=[types.Part(text="hello")]), types.Content(role="user")
    said = [
        plain,
        content(("look", {"result": "seen"}), ("look", {"error": "light"}), ("own", {"n": 1})),
        empty,
        content(("own", image), ("", {"result": "seen"})),
    ]

    shown = with_results(said, named(said, CallIds(())), Engine.open(tmp_path).render_result)

    failed = f"<no {escape(json.dumps({'error': 'light'}))}>"
    assert shown == [
        plain,
        content(("look", {"result": "<seen>"}), ("look", {"error": failed}), ("own", {"n": 1})),
        empty,
        content(("own", {"result": "[image/png: not shown as text]"}), ("", {"result": "seen"})),
    ]


def test_a_picture_stays_beside_the_text_of_a_result(tmp_path: Path) -> None:
    media = types.FunctionResponsePart(inline_data=types.FunctionResponseBlob(data=b"x", mime_type="image/png"))

    def content(response: dict[str, Any]) -> types.Content:
        said = types.FunctionResponse(name="own", id="c-1", response=response, parts=[media])
        return types.Content(role="user", parts=[types.Part(function_response=said)])

    given = [content({"result": "A view"}), content({})]
    held = named(given, CallIds(()))

    shown = with_results(given, held, shell_engine(tmp_path).render_result)

    assert shown == [content({"result": "(A view)"}), content({})]
