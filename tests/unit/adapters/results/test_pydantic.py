"""pydantic-ai sends results as the agent file tells them, and keeps what the tools returned."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel
from pydantic_ai import Agent, BinaryContent, ImageUrl
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from cuecard import Engine, Step
from cuecard.adapters.pydantic_ai import Cuecard

AGENT = """\
agent: shell
delivery: frozen
sections: [{id: a, text: You work in a shell.}]
memory: {extract: [{at: file, type: file}]}
results:
  shell: {field: printed, head: 10, tail: 5, marker: "[{count}]", text: "<out>{{{result.code}}} {{{content}}}</out>"}
  "*": "({{{content}}})"
"""


def shell(command: str) -> dict[str, Any]:
    return {"code": 0, "printed": f"{command} " * 20, "file": {"id": "f-1", "name": "a.py"}}


def broken() -> str:
    raise OSError("the disk is full")


def picture() -> list[Any]:
    return ["a picture", BinaryContent(b"x", media_type="image/png")]


def test_requests_hold_the_texts_and_the_history_what_was_returned(tmp_path: Path) -> None:
    (tmp_path / "agent.yaml").write_text(AGENT, encoding="utf-8")
    engine = Engine.open(tmp_path / "agent.yaml")
    calls = [("shell", {"command": "ls"}), ("broken", {}), ("picture", {})]
    sent: list[list[ModelMessage]] = []

    def decide(messages: list[ModelMessage], _info: AgentInfo) -> ModelResponse:
        sent.append(messages)
        number = len(sent) - 1
        if number == len(calls):
            return ModelResponse([TextPart("done")])
        tool, arguments = calls[number]
        return ModelResponse([ToolCallPart(tool, arguments, f"c-{number}")])

    chat, steps = engine.conversation(), list[Step]()
    card = Cuecard(engine=engine, conversation=chat, handle_tool_errors=True, on_step=steps.append)
    agent = Agent(FunctionModel(decide), tools=[shell, broken, picture], capabilities=[card])
    done = asyncio.run(agent.run("go"))

    told = [part.content for part in returned(sent[-1])]
    assert told[0] == "<out>0 ls ls ls l[45]s ls </out>"
    assert told[1] == "OSError"  # a failed call has no template of its own here
    assert told[2] == ["(a picture)", BinaryContent(b"x", media_type="image/png")]  # files stay files
    assert [cut.what for step in steps for cut in step.manifest.cuts] == ["shell"]
    assert [part.content for part in returned(sent[1])] == told[:1]  # the same bytes in each request
    kept = [part.content for part in returned(done.all_messages())]
    assert kept[0] == shell("ls")
    assert [entity.name for entity in chat.memory.entities] == ["a.py"]


def returned(messages: list[ModelMessage]) -> list[ToolReturnPart]:
    return [part for message in messages for part in message.parts if isinstance(part, ToolReturnPart)]


def look() -> dict[str, Any]:
    return {"content": [{"type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png"}]}


def test_a_picture_in_what_a_tool_returned_is_a_mark_beside_other_templates(tmp_path: Path) -> None:
    (tmp_path / "agent.yaml").write_text(AGENT.replace('"*":', '"other_*":'), encoding="utf-8")
    sent: list[list[ModelMessage]] = []

    def decide(messages: list[ModelMessage], _info: AgentInfo) -> ModelResponse:
        sent.append(messages)
        return ModelResponse([TextPart("done")] if len(sent) > 1 else [ToolCallPart("look", {}, "c-1")])

    agent = Agent(
        FunctionModel(decide), tools=[look], capabilities=[Cuecard(engine=Engine.open(tmp_path / "agent.yaml"))]
    )
    asyncio.run(agent.run("go"))

    (part,) = (part for message in sent[1] for part in message.parts if isinstance(part, ToolReturnPart))
    assert part.content == "[image/png: not shown as text]"


def test_a_result_that_is_nested_deeper_than_values_may_be_ends_no_run(tmp_path: Path) -> None:
    (tmp_path / "agent.yaml").write_text(AGENT, encoding="utf-8")
    deep = json.loads("[" * 100 + "]" * 100)

    def tree() -> Any:
        return deep

    def decide(messages: list[ModelMessage], _info: AgentInfo) -> ModelResponse:
        told = returned(messages)
        return ModelResponse([TextPart(str(told[0].content)) if told else ToolCallPart("tree", {}, "c-1")])

    agent = Agent(FunctionModel(decide), tools=[tree], capabilities=[Cuecard(engine=Engine.open(tmp_path))])

    assert asyncio.run(agent.run("go")).output == f"({json.dumps(deep)})"


class Shot(BaseModel):
    file: dict[str, str]


PICTURE = BinaryContent(b"x", media_type="image/png")
SHOT = Shot(file={"id": "f-2", "name": "shot.png"})


@pytest.mark.parametrize(
    ("value", "learned"),
    [
        (PICTURE, []),
        (ImageUrl("https://pictures.example/1.png"), []),
        (["before", PICTURE, "after"], []),
        ([SHOT, PICTURE], ["shot.png"]),
    ],
)
def test_what_stands_beside_pictures_is_read_and_the_manifest_can_be(
    value: Any, learned: list[str], tmp_path: Path
) -> None:
    (tmp_path / "agent.yaml").write_text(AGENT, encoding="utf-8")
    engine, steps = Engine.open(tmp_path / "agent.yaml"), list[Step]()
    chat = engine.conversation()

    def shoot() -> Any:
        return value

    def decide(messages: list[ModelMessage], _info: AgentInfo) -> ModelResponse:
        return ModelResponse([TextPart("done")] if returned(messages) else [ToolCallPart("shoot", {}, "c-1")])

    card = Cuecard(engine=engine, conversation=chat, on_step=steps.append)
    done = asyncio.run(Agent(FunctionModel(decide), tools=[shoot], capabilities=[card]).run("go"))

    assert [part.content for part in returned(done.all_messages())] == [value]
    assert {told.code for step in steps for told in step.manifest.diagnostics} == {"unmatched_tools"}
    assert [entity.name for entity in chat.memory.entities] == learned
