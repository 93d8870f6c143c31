"""What a tool returns, in every shape and by every framework: its entities are known with the next message.

Each framework runs the tool itself, with its own fake model, and makes of the result what it makes of it.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, TypeAlias

import pytest
from agents import Agent as OpenAIAgent
from agents import RunConfig, Runner, function_tool
from agents.testing import ScriptedModel, assistant_message, function_call
from google.adk.agents import LlmAgent
from langchain.agents import create_agent
from langchain_core.messages import HumanMessage
from langchain_core.tools import StructuredTool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from pydantic import BaseModel
from pydantic_ai import Agent, Tool

from cms_agent import cms
from cuecard import Call, Turn
from cuecard.adapters import adk, langchain, langgraph, litellm, openai_agents, pydantic_ai
from unit.adapters.graph_models import Model as ChatModel
from unit.adapters.test_adk import Scripted, runner, talk
from unit.adapters.test_graph_threads import State
from unit.adapters.test_pydantic_hosts import Model as PydanticModel

pytestmark = pytest.mark.repeats

TURN = Turn(now=datetime(2026, 11, 20, tzinfo=UTC))
NAME = "cms_createPage"
ABOUT: dict[str, Any] = {"title": "About"}
PAGE: dict[str, Any] = {"success": True, "page": {"id": "page-1", "title": "About"}}
FOUND: tuple[str, dict[str, Any]] = ("tool_search", {"query": "create an empty page", "limit": 1})
WORDS = ("make a page", "thank you")
Make: TypeAlias = Callable[[], Any]


class Page(BaseModel):
    """What a host has as a model of its own."""

    id: str
    title: str


class Created(BaseModel):
    """A result of a tool of the host."""

    success: bool
    page: Page


@dataclass
class Made:
    """The same as a dataclass."""

    success: bool
    page: dict[str, str]


TEXT = json.dumps(PAGE)
SHAPES: dict[str, Make] = {
    "an object": lambda: PAGE,
    "JSON text": lambda: TEXT,
    "a content list": lambda: [{"type": "text", "text": TEXT}],
    "MCP content": lambda: {"content": [{"type": "text", "text": TEXT}], "isError": False},
    "MCP structured": lambda: {"structuredContent": PAGE, "content": []},
    "in `result`": lambda: {"result": PAGE},
    "a model": lambda: Created(success=True, page=Page(id="page-1", title="About")),
    "a dataclass": lambda: Made(success=True, page={"id": "page-1", "title": "About"}),
}
TEACHES_NOTHING: dict[str, Make] = {
    "an MCP error": lambda: {"isError": True, "content": [{"type": "text", "text": TEXT}]},
    "words": lambda: "Created About (page-1).",
    "nothing": lambda: None,
    "a number": lambda: 7,
    "broken JSON": lambda: TEXT[:-3],
}


def by_pydantic_ai(make: Make) -> list[Call]:
    calls: list[Call] = []
    model = PydanticModel(FOUND, (NAME, ABOUT))
    card = pydantic_ai.Cuecard(engine=cms(), turn=TURN, on_call=calls.append)
    agent = Agent(model.model, tools=[Tool(lambda title: make(), name=NAME)], capabilities=[card])  # noqa: ARG005 - asked for
    first = asyncio.run(agent.run(WORDS[0]))
    asyncio.run(agent.run(WORDS[1], message_history=first.all_messages()))
    return calls


def _structured(make: Make) -> StructuredTool:
    def create(title: str) -> Any:
        return make()

    return StructuredTool.from_function(create, name=NAME, description="Create a page.")


def by_langchain(make: Make) -> list[Call]:
    calls: list[Call] = []
    card = langchain.Cuecard(engine=cms(), turn=TURN, on_call=calls.append)
    model = ChatModel(batches=[[FOUND], [(NAME, ABOUT)]])
    _invoke(create_agent(model, tools=[_structured(make)], middleware=[card], checkpointer=InMemorySaver()))
    return calls


def by_langgraph(make: Make) -> list[Call]:
    calls: list[Call] = []
    card = langgraph.Cuecard(engine=cms(), on_call=calls.append)
    nodes = ToolNode([_structured(make), card.search_tool], wrap_tool_call=card.wrap_tool_call)
    model = ChatModel(batches=[[FOUND], [(NAME, ABOUT)]])

    def ask(state: State) -> dict[str, Any]:
        ready = card.prepare(model, state["messages"], [*nodes.tools_by_name.values()], state.get("cuecard"), turn=TURN)
        answer = model.bind_tools(ready.tools, **ready.settings).invoke(ready.messages)
        return {"messages": [answer], "cuecard": ready.cuecard}

    graph = StateGraph(State)
    graph.add_node("model", ask)
    graph.add_node("tools", nodes)
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", tools_condition)
    graph.add_edge("tools", "model")
    _invoke(graph.compile(checkpointer=InMemorySaver()))
    return calls


def _invoke(app: Any) -> None:
    for words in WORDS:
        app.invoke({"messages": [HumanMessage(words)]}, {"configurable": {"thread_id": "one"}})


def by_the_openai_agents_sdk(make: Make) -> list[Call]:
    calls: list[Call] = []
    card = openai_agents.Cuecard(cms(), on_call=calls.append)
    tool = function_tool(lambda title: make(), name_override=NAME, strict_mode=False)  # noqa: ARG005 - asked for
    asked = [[function_call(*FOUND, call_id="c-1")], [function_call(NAME, ABOUT, call_id="c-2")]]
    model = ScriptedModel([*asked, [assistant_message("done")], [assistant_message("welcome")]])
    agent: OpenAIAgent[Any] = OpenAIAgent("cms", model=model, tools=card.tools([tool]))
    chat, said = cms().conversation(), list[Any]()
    for words in WORDS:
        options = card.options(TURN, chat, config=RunConfig(tracing_disabled=True))
        said = asyncio.run(Runner.run(agent, [*said, {"role": "user", "content": words}], **options)).to_input_list()
    return calls


def by_google_adk(make: Make) -> list[Call]:
    calls: list[Call] = []

    def cms_createPage(title: str) -> Any:  # noqa: N802 - tools are named as the catalogue names them
        return make()

    card = adk.Cuecard(cms(), turn=TURN, on_call=calls.append)
    model = Scripted(batches=[[FOUND], [(NAME, ABOUT)]])
    run = runner(LlmAgent(name="cms", model=model, tools=[cms_createPage]), card)

    async def both() -> None:
        for words in WORDS:
            await talk(run, words)

    asyncio.run(both())
    return calls


def by_litellm(make: Make) -> list[Call]:
    """LiteLLM runs no tool: the host writes the message, with a text or with parts of content."""
    calls: list[Call] = []
    card = litellm.Cuecard(engine=cms(), turn=TURN, on_call=calls.append)
    function = {"name": NAME, "description": "Create a page.", "parameters": {"type": "object", "properties": {}}}
    value = make()
    value = value.model_dump() if isinstance(value, BaseModel) else value.__dict__ if isinstance(value, Made) else value
    told = value if isinstance(value, (str, list)) else json.dumps(value)
    called = {"id": "c-1", "type": "function", "function": {"name": NAME, "arguments": "{}"}}
    messages: list[Any] = [
        {"role": "user", "content": WORDS[0]},
        {"role": "assistant", "content": None, "tool_calls": [called]},
        {"role": "tool", "tool_call_id": "c-1", "content": told},
        {"role": "assistant", "content": "done"},
    ]
    tools = [{"type": "function", "function": function}]
    card.prepare("openai/gpt-5", messages[:1], tools)
    card.prepare("openai/gpt-5", [*messages, {"role": "user", "content": WORDS[1]}], tools)
    return calls


HOSTS: Mapping[str, Callable[[Make], list[Call]]] = {
    "pydantic-ai": by_pydantic_ai,
    "LangChain": by_langchain,
    "LangGraph": by_langgraph,
    "OpenAI Agents": by_the_openai_agents_sdk,
    "Google ADK": by_google_adk,
    "LiteLLM": by_litellm,
}


WORDS_ONLY = {(shape, host) for shape in ("a model", "a dataclass") for host in ("LangChain", "LangGraph")}
"""LangChain writes what JSON does not know as Python prints it: the model reads that, and nothing else is left."""


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("shape", SHAPES)
def test_entities_are_known_with_the_next_message(shape: str, host: str) -> None:
    calls = HOSTS[host](SHAPES[shape])

    assert len(calls) == 2
    assert ('"About" (page-1)' in str(calls[1].values["workingMemory"])) is ((shape, host) not in WORDS_ONLY)


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("shape", TEACHES_NOTHING)
def test_anything_but_a_result_teaches_nothing_and_the_conversation_continues(shape: str, host: str) -> None:
    calls = HOSTS[host](TEACHES_NOTHING[shape])

    assert len(calls) == 2
    assert "page-1" not in str(calls[1].values["workingMemory"])
