"""A tool that is withdrawn between two runs of pydantic-ai: its definition stays, and calls of it are refused."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

from pydantic_ai import Agent, Tool
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.profiles import ModelProfile

from cuecard import Turn
from cuecard.adapters.pydantic_ai import Cuecard
from cuecard.adapters.pydantic_ai.messages import tool_results
from property.test_every_conversation import engine_of

NOW = datetime(2026, 11, 20, tzinfo=UTC)


def test_a_withdrawn_tool_stays_defined_and_is_refused() -> None:
    engine = engine_of(0, (1, 1, 1, 1, 0), "append", "next-call", "{}")
    calls = [("tool_search", {"query": "t_1"}), None, ("t_1", {}), None]
    defined: list[list[str]] = []
    asked: list[list[ModelMessage]] = []

    async def decide(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        defined.append([tool.name for tool in info.function_tools])
        asked.append(messages)
        call = calls[len(asked) - 1]
        return ModelResponse([ToolCallPart(*call, f"c{len(asked)}") if call else TextPart("done")])

    chat, history = engine.conversation(), list[ModelMessage]()
    model = FunctionModel(decide, profile=ModelProfile(supports_inline_system_prompts=True))
    for there in (None, ("tool_search", "final_answer", "t_2")):
        card = Cuecard(engine=engine, turn=Turn(now=NOW, tools=there), conversation=chat)
        agent = Agent(model, tools=[Tool(lambda: "called", name="t_1", takes_ctx=False)], capabilities=[card])
        history = asyncio.run(agent.run("hello", message_history=history)).all_messages()

    assert defined == [["tool_search", "t_1"]] * 4
    assert [(r.tool, r.is_error) for r in tool_results(asked[-1])] == [("tool_search", False), ("t_1", True)]
    assert "not active" in str(tool_results(asked[-1])[-1].result)
