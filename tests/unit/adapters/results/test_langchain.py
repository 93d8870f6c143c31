"""LangChain's agents send results as the agent file tells them, and their state keeps what the tools returned."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import HumanMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver

from cuecard import Engine
from cuecard.adapters.langchain import Cuecard
from unit.adapters.graph_models import Model

AGENT = """\
agent: shell
delivery: frozen
sections: [{id: a, text: You work in a shell.}]
results:
  shell: {field: printed, head: 10, tail: 5, marker: "[{count}]", text: "<out>{{{result.code}}} {{{content}}}</out>"}
  "*": "({{{content}}})"
"""


PICTURE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,eA=="}}


@tool
def shell(command: str) -> dict[str, Any]:
    """Run a command."""
    return {"code": 0, "printed": f"{command} " * 20}


@tool
def picture() -> list[dict[str, Any]]:
    """Show a picture."""
    return [PICTURE, {"type": "text", "text": "A view"}]


@tool
def words() -> str:
    """Say something."""
    return "some words"


def test_requests_hold_the_texts_and_the_state_what_was_returned(tmp_path: Path) -> None:
    (tmp_path / "agent.yaml").write_text(AGENT, encoding="utf-8")
    model = Model(batches=[[("shell", {"command": "ls"})], [("words", {}), ("picture", {})]])
    card = Cuecard(engine=Engine.open(tmp_path / "agent.yaml"))

    done = create_agent(model, [shell, words, picture], middleware=[card]).invoke({"messages": [HumanMessage("go")]})

    sent = [[each.content for each in request if isinstance(each, ToolMessage)] for request in model.requests]
    assert sent[1] == ["<out>0 ls ls ls l[45]s ls </out>"]
    assert sent[2][:2] == [*sent[1], "(some words)"]
    assert sent[2][2] == [{"type": "text", "text": "(A view)"}, PICTURE]
    kept = [each.content for each in done["messages"] if isinstance(each, ToolMessage)]
    assert "ls ls ls ls ls ls" in kept[0]
    assert kept[1] == "some words"


@pytest.mark.parametrize("count", [1, 2])
def test_a_list_of_an_mcp_server_is_read_from_its_structured_content(tmp_path: Path, count: int) -> None:
    agent = """\
agent: shop
sections: [{id: a, text: "{{{workingMemory}}}"}]
results: {orders: "{{#each result.result}}[{{this.id}}]{{/each}}"}
memory: {extract: [{at: result, type: order}]}
"""
    (tmp_path / "agent.yaml").write_text(agent, encoding="utf-8")
    rows = [{"id": f"o-{number}", "name": f"Order {number}"} for number in range(1, count + 1)]

    @tool(response_format="content_and_artifact")
    def orders() -> tuple[list[dict[str, Any]], dict[str, Any]]:
        """List the orders."""
        blocks = [{"type": "text", "text": json.dumps(row), "id": f"lc_{at}"} for at, row in enumerate(rows)]
        return blocks, {"structured_content": {"result": rows}}

    model = Model(batches=[[("orders", {})]])
    chat = create_agent(
        model, [orders], middleware=[Cuecard(engine=Engine.open(tmp_path))], checkpointer=InMemorySaver()
    )
    thread: Any = {"configurable": {"thread_id": "one"}}
    chat.invoke({"messages": [HumanMessage("go")]}, thread)
    chat.invoke({"messages": [HumanMessage("on")]}, thread)

    told = [each.content for each in model.requests[-1] if isinstance(each, ToolMessage)]
    assert told == ["".join(f"[{row['id']}]" for row in rows)]
    assert all(f"({row['id']})" in str(model.requests[-1]) for row in rows)
