"""JSON Schemas of the YAML files, and the page of all keys, made from the models that check them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

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


INTRODUCTION = """\
# Every setting

This page is written by `cuecard schema --markdown` from the models that check the files. Unknown keys are errors.
"""


def settings_page(environment: Mapping[str, str]) -> str:
    """The page as Markdown; `environment` is each `CUECARD_*` variable and what it does."""
    pages = [_file(kind, model.model_json_schema()) for kind, model in FILES.items()]
    variables = "".join(f"| `{name}` | {meaning} |\n" for name, meaning in environment.items())
    head = "## Environment\n\nAn option on the command line goes before it.\n\n| variable | meaning |\n|---|---|\n"
    return "\n".join([INTRODUCTION, *pages, head + variables])


def _file(kind: str, schema: Mapping[str, Any]) -> str:
    title = f"## {kind.replace('-', ' ').capitalize()} file\n\n{_sentence(schema)}\n"
    return "\n".join([title, _table(schema), *_parts(schema)])


def _parts(schema: Mapping[str, Any]) -> Iterator[str]:
    for name, part in schema.get("$defs", {}).items():
        if "properties" in part:
            yield f"### {name}\n\n{_sentence(part)}\n\n{_table(part)}"


def _table(schema: Mapping[str, Any]) -> str:
    required = schema.get("required", ())
    rows = [
        f"| `{key}` | {_type(field)} | {_default(key, field, required)} | {field.get('description', '')} |\n"
        for key, field in schema.get("properties", {}).items()
    ]
    return "| key | type | default | meaning |\n|---|---|---|---|\n" + "".join(rows)


def _sentence(schema: Mapping[str, Any]) -> str:
    return " ".join(str(schema.get("description", "")).split())


def _default(key: str, field: Mapping[str, Any], required: Any) -> str:
    if key in required:
        return "required"
    default = field.get("default")
    return "" if default in (None, "", [], {}) or isinstance(default, dict) else _code(json.dumps(default))


def _code(text: str) -> str:
    """A text as Markdown code, whatever marks it contains."""
    marks = "``" if "`" in text else "`"
    return f"{marks}{text}{marks}"


def _type(field: Mapping[str, Any]) -> str:
    if "$ref" in field:
        return _link(field["$ref"])
    if "enum" in field:
        return " or ".join(f"`{value}`" for value in field["enum"])
    options = field.get("anyOf") or field.get("oneOf")
    if options:
        return " or ".join(dict.fromkeys(_type(option) for option in options))
    if field.get("type") == "array":
        return f"list of {_type(field.get('items', {}))}"
    if field.get("type") == "object" and isinstance(field.get("additionalProperties"), dict):
        return f"mapping to {_type(field['additionalProperties'])}"
    return str(field.get("type", "any value"))


def _link(reference: str) -> str:
    name = reference.rpartition("/")[2]
    return f"[{name}](#{name.lower()})"
