"""Small agents on disk, made of sections."""

from __future__ import annotations

import json
from pathlib import Path

from cuecard import Call, Engine, Step, ToolResult, Turn
from cuecard.types import Cut, DeliveryWish, Json

PROTOCOLS = "{{{activeProtocols}}}"
TOOLS = """\
tools:
  tool_search: {before: None required, after: Look, next: none, gotcha: none}
  get_page: {before: Search first, after: Show the page, next: none, gotcha: none}
  put_page: {before: Get the page, after: Say so, next: none, gotcha: none}
"""


def agent(folder: Path, text: str, /, **files: str) -> Path:
    """An agent file in a folder, with files beside it; `__` stands for `/` in their names, and `_` for the dot."""
    write(folder / "agent.yaml", text)
    for name, content in files.items():
        place, _, ending = name.replace("__", "/").rpartition("_")
        write(folder / f"{place}.{ending}", content)
    return folder / "agent.yaml"


def write(file: Path, text: str) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return file


def opened(folder: Path, text: str, /, *, delivery: DeliveryWish | None = None, **files: str) -> Engine:
    return Engine.open(agent(folder, text, **files), delivery=delivery)


def step(engine: Engine, turn: Turn | None = None, /, *found: str) -> Step:
    """The first request of a conversation, after a search that found these tools; its call can be stored."""
    call = engine.prepare_call(turn)
    assert travelled(call) == call
    return engine.prepare_step(call, [search(*found)] if found else [])


def prompt(engine: Engine, **inputs: Json) -> str:
    return step(engine, Turn(inputs)).system


def search(*found: str, call_id: str = "call-1") -> ToolResult:
    return ToolResult("tool_search", {"tools": list(found), "message": "found"}, call_id)


def travelled(call: Call) -> Call:
    """The call after a journey through a store."""
    return Call.from_json(json.loads(json.dumps(call.to_json())))


def cut(step: Step, what: str) -> Cut:
    return next(cut for cut in step.manifest.cuts if cut.what == what)
