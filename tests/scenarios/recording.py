"""A scenario of the CMS, played against its real tools, as a transcript."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mcp.client.client import Client
from pydantic_ai.messages import ModelMessage, ModelMessagesTypeAdapter, ModelResponse
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.profiles import ModelProfile

from cms.seed import open_site
from cuecard import Engine
from cuecard.adapters.scripted import Script
from cuecard.analysis.replay.importers import read_conversation
from cuecard.cli.run.chat import assistant_on
from cuecard.cli.run.turn import Talk, take_turn
from cuecard.config.scenario_file import Scenario
from cuecard.config.transcript_file import RecordedTool, RecordedTurn, TranscriptFile
from cuecard.outside.assistant import read_assistant
from cuecard.outside.mcp import ToolServer
from cuecard.outside.mcp_lines import LastWords
from server import build_server

ASSISTANT = read_assistant(Path(__file__).parents[2] / "examples" / "cms" / "assistant.yaml")
SCENARIOS = {scenario.name: scenario for scenario in ASSISTANT.scenarios}


def messages_of(scenario: Scenario, folder: Path) -> tuple[list[ModelMessage], Mapping[str, RecordedTool]]:
    """The messages of the whole conversation, and every tool with its schema."""
    database = open_site(folder, clock=lambda: scenario.file.now)
    tools: dict[str, RecordedTool] = {}

    async def play_all() -> Talk:
        async with Client(build_server(database), mode="legacy") as client:
            server = ToolServer(client, ASSISTANT.server(folder, scenario.file.now), LastWords())
            engine = Engine.open(ASSISTANT.agent, delivery="append")
            running = await assistant_on(server, scenario.name, ASSISTANT.file, engine)
            talk = Talk(running.engine.conversation())
            for number, turn in enumerate(scenario.file.turns):
                model = _model(Script(scenario, number), tools)
                talk = await take_turn(running, talk, turn.user, model, lambda _event: None, scenario.file.now)
            for card in running.engine.tools.values():
                told = RecordedTool(name=card.name, description=card.description, input_schema=dict(card.input_schema))
                tools.setdefault(card.name, told)
        return talk

    talk = asyncio.run(play_all())
    database.connection.close()
    return list(talk.messages), tools


def record(scenario: Scenario, folder: Path) -> TranscriptFile:
    """The transcript, without what differs from run to run: ids of calls, times, and counts of a scripted model."""
    messages, tools = messages_of(scenario, folder)
    read = read_conversation(
        ModelMessagesTypeAdapter.dump_json(messages).decode(), scenario.name, "pydantic-ai"
    ).transcript
    turns = [_same_every_time(turn, scenario) for turn in read.turns]
    names = sorted(tools)
    return TranscriptFile(source="cuecard run", tools=[tools[name] for name in names], turns=turns)


def as_text(transcript: TranscriptFile) -> str:
    """The transcript as its file holds it."""
    return json.dumps(transcript.model_dump(mode="json", exclude_defaults=True), indent=1, ensure_ascii=False) + "\n"


def _same_every_time(turn: RecordedTurn, scenario: Scenario) -> RecordedTurn:
    plain: dict[str, Any] = {"at": None, "usage": None}
    requests = [
        request.model_copy(update={**plain, "calls": [call.model_copy(update={"id": ""}) for call in request.calls]})
        for request in turn.requests
    ]
    return turn.model_copy(update={"at": scenario.file.now, "requests": requests})


def _model(script: Script, tools: dict[str, RecordedTool]) -> FunctionModel:
    async def decide(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        for tool in (*info.function_tools, *info.output_tools):
            schema = dict(tool.parameters_json_schema)
            tools[tool.name] = RecordedTool(name=tool.name, description=tool.description or "", input_schema=schema)
        return await script.decide(messages, info)

    return FunctionModel(decide, profile=ModelProfile(supports_inline_system_prompts=True))
