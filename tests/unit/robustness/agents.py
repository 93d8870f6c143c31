"""A small agent on disk whose template, inputs and instructions a row may set."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from cuecard import Engine, Entity, Memory, Problem, SpecError, ToolResult, Turn
from cuecard.types import Json, TemplateError

NOW = datetime(2026, 11, 20, tzinfo=UTC)
AGENT = """\
agent: rows
template: {file: agent.xml}
inputs: {user: {type: string, default: Ann}}
tools: {instructions: tools, core: [tool_search]}
"""
TEMPLATE = """\
<agent>
<identity title="{{user}}">
You help {{{user}}}.
</identity>
<working-memory>
{{{workingMemory}}}
</working-memory>
<tools>
{{{activeProtocols}}}
</tools>
</agent>
"""
TOOLS = "tools:\n  tool_search: {before: none, after: AFTER, next: none, gotcha: none}\n"


def write_agent(folder: Path, files: Mapping[str, str] | None = None) -> Path:
    """The agent, with other texts in some of its files."""
    texts = {"agent.yaml": AGENT, "agent.xml": TEMPLATE, "tools/search.yaml": TOOLS.replace("AFTER", "done")}
    if any(name.startswith("partials/") for name in files or {}):
        texts["agent.yaml"] = AGENT.replace("agent.xml", "agent.xml, partials: partials")
    for name, text in {**texts, **(files or {})}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


def refusal(folder: Path, files: Mapping[str, str]) -> tuple[Problem, ...]:
    """Why the agent is refused with these texts."""
    try:
        Engine.open(write_agent(folder, files))
    except (SpecError, TemplateError) as error:
        return error.problems
    return ()


def prompt(
    engine: Engine, user: str = "Ann", memory: tuple[str, ...] = (), history: tuple[ToolResult, ...] = ()
) -> str:
    """The system prompt of a turn, its memory holding entities of these names."""
    inputs: dict[str, Json] = {"user": user}
    entities = tuple(Entity("page", f"page-{number}", name) for number, name in enumerate(memory))
    return engine.prepare_step(engine.prepare_call(Turn(inputs, Memory(entities), NOW), history), history).system


def where(problem: Problem) -> tuple[int, int]:
    """Line and column."""
    assert problem.span
    return problem.span.line, problem.span.column
