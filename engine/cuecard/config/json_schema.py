"""JSON Schemas of the YAML files, made from the models that check them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache

from cuecard.config.agent_file import AgentFile
from cuecard.config.assistant_file import AssistantFile
from cuecard.config.documents.validation import FileModel
from cuecard.config.models_file import ModelsFile
from cuecard.config.scenario_file import ScenarioFile
from cuecard.config.tool_file import ToolFile
from cuecard.config.transcript_file import TranscriptFile
from cuecard.config.turn_file import ConversationFile, TurnFile
from cuecard.model import Json

FILES: Mapping[str, type[FileModel]] = {
    "agent": AgentFile,
    "tool-instructions": ToolFile,
    "turn": TurnFile,
    "conversation": ConversationFile,
    "assistant": AssistantFile,
    "scenario": ScenarioFile,
    "models": ModelsFile,
    "transcript": TranscriptFile,
}
"""Each kind of file and its model."""


def schemas() -> dict[str, str]:
    """File name of each schema to its text: JSON Schema 2020-12, stable from run to run."""
    return {f"{kind}.schema.json": _text(kind, model) for kind, model in FILES.items()}


@cache
def _text(kind: str, model: type[FileModel]) -> str:
    schema: dict[str, Json] = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **model.model_json_schema(),
        "title": f"cuecard {kind.replace('-', ' ')} file",
    }
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"
