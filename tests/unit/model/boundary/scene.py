"""What the expressions of the table of wrong arguments may name: an engine, a conversation, and values."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

from cuecard import (
    Call,
    ConversationState,
    Engine,
    Entity,
    FileText,
    Gates,
    Memory,
    Message,
    Pins,
    Step,
    ToolCard,
    ToolResult,
    Turn,
    Watcher,
    compare_manifests,
    compile_template,
    trusted,
    watch,
    with_answer,
)
from cuecard.adapters import anthropic, bedrock, gemini, openai
from cuecard.adapters.clients import check_client
from cuecard.adapters.function_tools import definitions
from cuecard.adapters.functions import Functions
from cuecard.adapters.pydantic_ai import Cuecard
from cuecard.types import (
    Diagnostic,
    Pace,
    ResultRecord,
    RunLimits,
    States,
    Summary,
    ToolCall,
    ToolInstructions,
    messages_from_json,
)
from unit.agent.section_lists.agents import PROTOCOLS, TOOLS, opened
from unit.model.boundary import hostile

AGENT = f"""\
agent: a
tools: {{instructions: tools.yaml, core: [tool_search]}}
inputs:
  user: {{default: unknown}}
  mood: {{default: glad, values: [glad, tired]}}
  rows: {{type: list, default: []}}
  retry: {{default: "", tier: step}}
memory: {{extract: [{{at: page, type: page}}]}}
profiles: {{short: {{}}}}
results: {{"*": {{head: 20}}}}
sections:
  - {{id: p, text: '{{{{user}}}} {{{{mood}}}} {{{{{{json rows}}}}}} {PROTOCOLS}'}}
  - {{id: r, text: '{{{{retry}}}}'}}
"""
DEMANDING = """\
agent: b
inputs: {needed: {type: string}}
sections: [{id: p, text: '{{needed}}'}]
"""


async def _summary(_: object) -> str:
    return ""


def _wraps() -> Any:
    value: Any = 1
    for _ in range(9):
        value = dict.fromkeys(("result", "output", "data", "content", "value", "response"), value)
    return value


def scene(folder: Path) -> dict[str, Any]:
    """The names, with an agent in this folder."""
    engine = opened(folder, AGENT, tools_yaml=TOOLS)
    card = ToolCard(
        "extra", "does more", {"type": "object"}, ("do more",), "more", ToolInstructions("a", "b", "c", "d")
    )
    chat = engine.conversation()
    call = chat.user(Turn(now=hostile.NOW))
    values = {
        "AGENT": folder,
        "CARD": card,
        "ENTITY": Entity("page", "p1", "Home"),
        "RESULT": ToolResult("tool_search", {"tools": ["get_page"]}, "c1"),
        "SAID": [{"role": "user", "content": [{"text": "Hi"}]}],
        "call": call,
        "chat": chat,
        "demanding": opened(folder / "demanding", DEMANDING),
        "engine": engine,
        "run": asyncio.run,
        "step": engine.prepare_step(call),
        "summary": _summary,
        "wraps": _wraps,
    }
    types = (Call, ConversationState, Cuecard, Decimal, Diagnostic, Engine, Entity, FileText, Functions, Gates, Memory)
    more = (
        Message,
        Pace,
        Pins,
        ResultRecord,
        RunLimits,
        States,
        Step,
        Summary,
        ToolCall,
        ToolCard,
        ToolInstructions,
        ToolResult,
    )
    functions = (check_client, compare_manifests, compile_template, definitions, messages_from_json, replace, trusted)
    named = {each.__name__: each for each in (*types, *more, *functions, Turn, Watcher, datetime, watch, with_answer)}
    modules = {"anthropic": anthropic, "bedrock": bedrock, "gemini": gemini, "openai": openai}
    return {**vars(hostile), **named, **modules, **values}
