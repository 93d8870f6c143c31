"""A scenario of the CMS, played against its real tools, as a transcript."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mcp.client.client import Client
from pydantic_ai.messages import ModelMessage, ModelMessagesTypeAdapter, ModelResponse
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.profiles import ModelProfile

from cms.seed import open_site
from cms_agent import cms
from cuecard.adapters.mcp_client.client import ToolServer
from cuecard.adapters.mcp_lines import LastWords
from cuecard.config.scenario_file import Scenario
from cuecard.config.transcript_file import RecordedTool, RecordedTurn, TranscriptFile
from cuecard.workbench.run.assistant_file import read_assistant
from cuecard.workbench.run.chat import assistant_on
from cuecard.workbench.run.script_model import Script
from cuecard.workbench.run.turn import Talk, take_turn
from cuecard.workbench.transcripts.formats import read_conversation
from server import build_server

ASSISTANT = read_assistant(Path(__file__).parents[2] / "examples" / "cms" / "assistant.yaml")
SCENARIOS = {scenario.name: scenario for scenario in ASSISTANT.scenarios}


@dataclass(frozen=True)
class Recording:
    """The messages of a whole conversation, and every tool with its schema."""

    scenario: Scenario
    messages: list[ModelMessage]
    tools: Mapping[str, RecordedTool]

    @property
    def as_json(self) -> str:
        return ModelMessagesTypeAdapter.dump_json(self.messages).decode()


def record(scenario: Scenario, folder: Path) -> Recording:
    """Play a scenario to its end."""
    database = open_site(folder, clock=lambda: scenario.file.now)
    tools: dict[str, RecordedTool] = {}

    async def play_all() -> Talk:
        async with Client(build_server(database), mode="legacy") as client:
            server = ToolServer(client, ASSISTANT.server(folder, scenario.file.now), LastWords())
            running = await assistant_on(server, scenario.name, ASSISTANT.file, cms("append"))
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
    return Recording(scenario, list(talk.messages), tools)


def transcript_of(recording: Recording) -> TranscriptFile:
    """The transcript, without what differs from run to run: ids of calls, times, and counts of a scripted model."""
    scenario, tools = recording.scenario, recording.tools
    read = read_conversation(recording.as_json, scenario.name, "pydantic-ai").transcript
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
