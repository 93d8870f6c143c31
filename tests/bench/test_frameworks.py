"""What an adapter adds to a step of its framework, side by side in one run: the same agent without it and with it.

`make bench ARGS="-k frameworks"` prints the table.
"""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import AsyncGenerator, Awaitable, Sequence
from datetime import UTC, datetime
from typing import Any

import pytest

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # it would ask the network for prices as it is imported

import litellm
from agents import Agent, RunConfig, Runner, function_tool
from agents.testing import ScriptedModel, assistant_message, function_call
from google.adk.agents import LlmAgent
from google.adk.apps import App
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.runners import Runner as AdkRunner
from google.adk.sessions import InMemorySessionService
from google.genai import types
from langchain.agents import create_agent
from langchain_core.messages import HumanMessage
from langchain_core.tools import StructuredTool
from pydantic_ai import Agent as PydanticAgent
from pydantic_ai import Tool
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.usage import UsageLimits
from typing_extensions import override

from bench.own_time import STEPS, Run, Shares, beside, count
from cms_agent import CORE, cms
from cms_agent import TOOLS as FOUND_TOOLS
from cuecard import Turn
from cuecard.adapters import adk, langgraph, openai_agents, pydantic_ai
from cuecard.adapters.langchain import Cuecard as Middleware
from cuecard.adapters.litellm import Cuecard as LiteLLMCuecard
from cuecard.adapters.openai_agents import Run as OpenAIRun
from unit.adapters.graph_models import Model

pytestmark = pytest.mark.bench

TURN = Turn(now=datetime(2026, 11, 20, tzinfo=UTC))
TOOLS = [*CORE[1:], *FOUND_TOOLS]
CALLS: list[tuple[str, dict[str, Any]]] = [
    (CORE[0], {"query": "create an empty page", "limit": 1}),
    *(("cms_createPage", {"title": f"p{number}"}) for number in range(STEPS - 2)),
]
"""What the model calls, one call a step; then it answers."""
FOUND = {"tools": ["cms_createPage"], "message": "Found 1 tool."}


def tool_search(query: str, limit: int = 1) -> dict[str, Any]:
    return FOUND


def made(title: str = "") -> dict[str, Any]:
    return {"success": True, "page": {"id": title, "title": title}}


def test_pydantic_ai(monkeypatch: pytest.MonkeyPatch) -> None:
    def answer(messages: list[ModelMessage], _: AgentInfo) -> ModelResponse:
        done = sum(isinstance(message, ModelResponse) for message in messages)
        if done == len(CALLS):
            return ModelResponse([TextPart("done")])
        return ModelResponse([ToolCallPart(*CALLS[done], tool_call_id=f"c{done}")])

    def running(tools: Sequence[Tool], *capabilities: pydantic_ai.Cuecard) -> Run:
        agent = PydanticAgent(FunctionModel(answer), tools=tools, capabilities=capabilities)
        return lambda: agent.run("hello", usage_limits=UsageLimits(request_limit=None))

    tools = [Tool(made, name=name, description=name) for name in TOOLS]
    shares = Shares()
    hooks = ("for_run", "prepare_tools", "before_model_request", "before_tool_validate", "_search")
    count(monkeypatch, shares, pydantic_ai.Cuecard, *hooks)
    plain = running([*tools, Tool(tool_search)])
    carded = running(tools, pydantic_ai.Cuecard(engine=cms(), turn=TURN))

    assert beside("pydantic-ai", plain, carded, shares) <= 0.1


def test_langchain(monkeypatch: pytest.MonkeyPatch) -> None:
    batches: Any = [[(name, arguments)] for name, arguments in CALLS]

    def running(tools: Sequence[StructuredTool], *middleware: Middleware) -> Run:
        async def run() -> object:
            agent: Any = create_agent(Model(batches=batches), tools=tools, middleware=middleware)
            return await agent.ainvoke({"messages": [HumanMessage("hello")]}, {"recursion_limit": 200})

        return run

    tools = [StructuredTool.from_function(made, name=name, description=name) for name in TOOLS]
    shares = Shares()
    count(monkeypatch, shares, langgraph.Cuecard, "prepare", "_refused", "_search")
    plain = running([*tools, StructuredTool.from_function(tool_search, description="search")])

    assert beside("LangChain", plain, running(tools, Middleware(engine=cms(), turn=TURN)), shares) <= 0.1


def test_the_openai_agents_sdk(monkeypatch: pytest.MonkeyPatch) -> None:
    card = openai_agents.Cuecard(cms())
    config = RunConfig(tracing_disabled=True)
    tools: list[Any] = [function_tool(made, name_override=name, strict_mode=False) for name in TOOLS]
    search = function_tool(lambda query: json.dumps(FOUND), name_override=CORE[0], strict_mode=False)  # noqa: ARG005 - asked for

    def script() -> ScriptedModel:
        asked = [[function_call(name, told, call_id=f"c{at}")] for at, (name, told) in enumerate(CALLS)]
        return ScriptedModel([*asked, [assistant_message("done")]])

    bare: Agent[Any] = Agent("cms", instructions="You look after a site.", tools=[search, *tools])
    carded: Agent[Any] = Agent("cms", instructions="You look after a site.", tools=card.tools(tools))

    def plain() -> Awaitable[object]:
        return Runner.run(bare.clone(model=script()), "hello", run_config=config, max_turns=STEPS)

    def adapted() -> Awaitable[object]:
        return Runner.run(carded.clone(model=script()), "hello", max_turns=STEPS, **card.options(TURN, config=config))

    shares = Shares()
    count(monkeypatch, shares, OpenAIRun, "begin", "prepared", "shows", "refusal", "search")

    assert beside("OpenAI Agents SDK", plain, adapted, shares) <= 0.1


class Scripted(BaseLlm):
    @override
    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        done = sum(bool(part.function_response) for content in llm_request.contents for part in content.parts or ())
        part = types.Part(text="done")
        if done < len(CALLS):
            name, arguments = CALLS[done]
            part = types.Part(function_call=types.FunctionCall(name=name, args=arguments))
        used = types.GenerateContentResponseUsageMetadata(prompt_token_count=1, candidates_token_count=1)
        yield LlmResponse(content=types.Content(role="model", parts=[part]), usage_metadata=used)


def test_adk(monkeypatch: pytest.MonkeyPatch) -> None:
    message = types.Content(role="user", parts=[types.Part(text="hello")])

    def named(name: str) -> Any:
        def tool(title: str = "") -> dict[str, Any]:
            return made(title)

        tool.__name__ = tool.__doc__ = name
        return tool

    def running(tools: list[Any], *plugins: adk.Cuecard) -> Run:
        agent = LlmAgent(name="cms", model=Scripted(model="any"), tools=tools)
        sessions = InMemorySessionService()
        runner = AdkRunner(app=App(name="site", root_agent=agent, plugins=list(plugins)), session_service=sessions)

        async def run() -> None:
            session = await sessions.create_session(app_name="site", user_id="ann")
            _ = [e async for e in runner.run_async(user_id="ann", session_id=session.id, new_message=message)]

        return run

    card = adk.Cuecard(cms(), turn=TURN)
    shares = Shares()
    hooks = ("before_run_callback", "before_model_callback", "before_tool_callback", "_search")
    count(monkeypatch, shares, adk.Cuecard, *hooks)
    tools = [named(name) for name in TOOLS]

    assert beside("Google ADK", running([*tools, tool_search]), running(tools, card), shares) <= 0.1


def test_litellm(monkeypatch: pytest.MonkeyPatch) -> None:
    card = LiteLLMCuecard(engine=cms(), turn=TURN)
    tools = [{"type": "function", "function": {"name": n, "description": n, "parameters": {}}} for n in TOOLS]

    def running(*, carded: bool) -> Run:
        numbers = itertools.count()

        async def run() -> object:
            messages: list[Any] = [{"role": "user", "content": f"hello {next(numbers)}"}]
            for at in range(STEPS):
                asked: dict[str, Any] = {"model": "openai/gpt-5", "messages": messages, "tools": tools}
                sent = card.over(asked) if carded else asked
                await litellm.acompletion(**sent, mock_response="done")
                name, told = CALLS[min(at, len(CALLS) - 1)]
                call = {"id": f"c{at}", "type": "function", "function": {"name": name, "arguments": json.dumps(told)}}
                messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
                said = json.dumps(FOUND if name == CORE[0] else made(f"p{at}"))
                messages.append({"role": "tool", "tool_call_id": call["id"], "content": said})
            return messages

        return run

    shares = Shares()
    count(monkeypatch, shares, LiteLLMCuecard, "over")

    assert beside("LiteLLM", running(carded=False), running(carded=True), shares) <= 0.1
