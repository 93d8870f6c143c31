"""A small agent in a folder of its own, and its prompts."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from cuecard import Call, Engine, Entity, Manifest, Memory, Step, ToolResult, Turn
from cuecard.types import Delivery, Json

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
NEXT_DAY = datetime(2026, 11, 21, 12, tzinfo=UTC)
HOME = Memory((Entity("page", "p1", "Home"),))

AGENT = """\
agent: tiny
template: agent.xml
inputs:
  user: {type: string, default: friend}
  site: {type: string, default: none}
tools:
  instructions: tools.yaml
  core: [tool_search]
"""
CORE = """\
<agent>
<rules>
Be brief.
</rules>
<identity>
You help {{user}} on {{site}}.
</identity>
<working-memory>
{{{workingMemory}}}
</working-memory>
<date>{{currentDate}}</date>
<instructions>
{{{activeProtocols}}}
</instructions>
</agent>
"""
TOOL = "  {name}: {{phrases: {name}, before: None, after: {after}, next: None, gotcha: None}}\n"


def write(folder: Path, *, agent: str = AGENT, core: str = CORE, after: str = "Show it") -> Path:
    tools = [TOOL.format(name=name, after=after) for name in ("tool_search", "list_pages", "make_page", "drop_page")]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "agent.yaml").write_text(agent, encoding="utf-8")
    (folder / "agent.xml").write_text(core, encoding="utf-8")
    (folder / "tools.yaml").write_text("category: pages\ntools:\n" + "".join(tools), encoding="utf-8")
    return folder


def found(*searches: tuple[str, ...]) -> list[ToolResult]:
    """What these searches gave, one result each."""
    return [ToolResult("tool_search", {"tools": [*names]}, f"call-{n}") for n, names in enumerate(searches)]


def step(
    engine: Engine,
    *searches: tuple[str, ...],
    now: datetime = NOON,
    memory: Memory = Memory(),  # noqa: B008 - it cannot change
    inputs: Mapping[str, Json] | None = None,
    previous: Call | None = None,
    tools: tuple[str, ...] | None = None,
    discovered: tuple[str, ...] = (),
) -> Step:
    turn = Turn(inputs=inputs or {}, memory=memory, now=now, tools=tools, discovered=discovered)
    history = found(*searches)
    return engine.prepare_step(engine.prepare_call(turn, history, previous=previous), history)


def manifest(folder: Path, *searches: tuple[str, ...], delivery: Delivery = "append") -> Manifest:
    return step(Engine.open(folder, delivery=delivery), *searches).manifest
