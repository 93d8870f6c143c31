"""What a tool returns, in every shape and by every framework: its entities are known with the next message.

Each framework runs the tool itself, with its own fake model, and makes of the result what it makes of it.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, is_dataclass
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

from cms_agent import CMS
from cuecard import Call, Engine, Turn
from cuecard.adapters import adk, langchain, langgraph, litellm, openai_agents, pydantic_ai
from unit.adapters.graph_models import Model as ChatModel
from unit.adapters.test_adk import Scripted, runner, talk
from unit.adapters.test_graph_threads import State
from unit.adapters.test_pydantic_hosts import Model as PydanticModel

pytestmark = pytest.mark.repeats

TURN = Turn(now=datetime(2026, 11, 20, tzinfo=UTC))
NAME = "cms_createPage"
FOUND: tuple[str, dict[str, Any]] = ("tool_search", {"query": "create an empty page", "limit": 1})
WORDS = ("make a page", "thank you")
Made: TypeAlias = dict[str, Any]


class Page(BaseModel):
    """What a host has as a model of its own."""

    id: str
    title: str


class Created(BaseModel):
    """A result of a tool of the host."""

    success: bool
    page: Page


@dataclass
class AsDataclass:
    """The same as a dataclass."""

    success: bool
    page: dict[str, str]


SHAPES: dict[str, Callable[[Made], Any]] = {
    "object": lambda made: made,
    "JSON text": json.dumps,
    "content list": lambda made: [{"type": "text", "text": json.dumps(made)}],
    "MCP content": lambda made: {"content": [{"type": "text", "text": json.dumps(made)}], "isError": False},
    "MCP structured": lambda made: {"structuredContent": made, "content": []},
    "in result": lambda made: {"result": made},
    "model": Created.model_validate,
    "dataclass": lambda made: AsDataclass(**made),
}
TEACHES_NOTHING: dict[str, Callable[[Made], Any]] = {
    "MCP error": lambda made: {"isError": True, "content": [{"type": "text", "text": json.dumps(made)}]},
    "words": lambda made: f"Created {made['page']['title']} ({made['page']['id']}).",
    "nothing": lambda _: None,
    "number": lambda _: 7,
    "broken JSON": lambda made: json.dumps(made)[:-3],
}
CREATES: list[tuple[str, dict[str, Any]]] = [(NAME, {"title": shape}) for shape in (*SHAPES, *TEACHES_NOTHING)]


def create(title: str) -> Any:
    """A page, in the shape that its title names."""
    page = {"id": f"page-{title.replace(' ', '-')}", "title": title}
    return (SHAPES | TEACHES_NOTHING)[title]({"success": True, "page": page})


def cms_createPage(title: str) -> Any:  # noqa: N802 - tools are named as the catalogue names them
    """Create a page."""
    return create(title)


def by_pydantic_ai(engine: Engine) -> list[Call]:
    calls: list[Call] = []
    model = PydanticModel(FOUND, *CREATES)
    card = pydantic_ai.Cuecard(engine=engine, turn=TURN, on_call=calls.append)
    agent = Agent(model.model, tools=[Tool(create, name=NAME)], capabilities=[card])
    first = asyncio.run(agent.run(WORDS[0]))
    asyncio.run(agent.run(WORDS[1], message_history=first.all_messages()))
    return calls


STRUCTURED = StructuredTool.from_function(create, name=NAME, description="Create a page.")


def by_langchain(engine: Engine) -> list[Call]:
    calls: list[Call] = []
    card = langchain.Cuecard(engine=engine, turn=TURN, on_call=calls.append)
    model = ChatModel(batches=[[FOUND], CREATES])
    _invoke(create_agent(model, tools=[STRUCTURED], middleware=[card], checkpointer=InMemorySaver()))
    return calls


def by_langgraph(engine: Engine) -> list[Call]:
    calls: list[Call] = []
    card = langgraph.Cuecard(engine=engine, on_call=calls.append)
    nodes = ToolNode([STRUCTURED, card.search_tool], wrap_tool_call=card.wrap_tool_call)
    model = ChatModel(batches=[[FOUND], CREATES])

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


def by_the_openai_agents_sdk(engine: Engine) -> list[Call]:
    calls: list[Call] = []
    card = openai_agents.Cuecard(engine, on_call=calls.append)
    tool = function_tool(create, name_override=NAME, strict_mode=False)
    made = [function_call(*each, call_id=f"c-{number}") for number, each in enumerate(CREATES)]
    asked = [[function_call(*FOUND, call_id="found")], made]
    model = ScriptedModel([*asked, [assistant_message("done")], [assistant_message("welcome")]])
    agent: OpenAIAgent[Any] = OpenAIAgent("cms", model=model, tools=card.tools([tool]))
    chat, said = engine.conversation(), list[Any]()
    for words in WORDS:
        options = card.options(TURN, chat, config=RunConfig(tracing_disabled=True))
        said = asyncio.run(Runner.run(agent, [*said, {"role": "user", "content": words}], **options)).to_input_list()
    return calls


def by_google_adk(engine: Engine) -> list[Call]:
    calls: list[Call] = []
    card = adk.Cuecard(engine, turn=TURN, on_call=calls.append)
    model = Scripted(batches=[[FOUND], CREATES])
    run = runner(LlmAgent(name="cms", model=model, tools=[cms_createPage]), card)

    async def both() -> None:
        for words in WORDS:
            await talk(run, words)

    asyncio.run(both())
    return calls


def by_litellm(engine: Engine) -> list[Call]:
    """LiteLLM runs no tool: the host writes the messages, with texts or with parts of content."""
    calls: list[Call] = []
    card = litellm.Cuecard(engine=engine, turn=TURN, on_call=calls.append)
    function = {"name": NAME, "description": "Create a page.", "parameters": {"type": "object", "properties": {}}}
    asked, results = list[Any](), list[Any]()
    for number, (_, arguments) in enumerate(CREATES):
        made = create(**arguments)
        made = made.model_dump() if isinstance(made, BaseModel) else vars(made) if is_dataclass(made) else made
        told = made if isinstance(made, (str, list)) else json.dumps(made)
        asked.append({"id": f"c-{number}", "type": "function", "function": {"name": NAME, "arguments": "{}"}})
        results.append({"role": "tool", "tool_call_id": f"c-{number}", "content": told})
    messages: list[Any] = [
        {"role": "user", "content": WORDS[0]},
        {"role": "assistant", "content": None, "tool_calls": asked},
        *results,
        {"role": "assistant", "content": "done"},
    ]
    tools = [{"type": "function", "function": function}]
    card.prepare("openai/gpt-5", messages[:1], tools)
    card.prepare("openai/gpt-5", [*messages, {"role": "user", "content": WORDS[1]}], tools)
    return calls


HOSTS: Mapping[str, Callable[[Engine], list[Call]]] = {
    "pydantic-ai": by_pydantic_ai,
    "LangChain": by_langchain,
    "LangGraph": by_langgraph,
    "OpenAI Agents": by_the_openai_agents_sdk,
    "Google ADK": by_google_adk,
    "LiteLLM": by_litellm,
}


WORDS_ONLY = {"LangChain": {"model", "dataclass"}, "LangGraph": {"model", "dataclass"}}
"""LangChain writes what JSON does not know as Python prints it: the model reads that, and nothing else is left."""


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    """The CMS assistant with room for all these pages in its working memory."""
    folder = tmp_path_factory.mktemp("cms")
    (folder / "agent.yaml").write_text(f"agent: cms\nextends: {CMS}\nmemory: {{per_type: 20, total: 20}}\n")
    return Engine.open(folder, delivery="append")


@pytest.mark.parametrize("host", HOSTS)
def test_entities_are_known_with_the_next_message_and_anything_but_a_result_teaches_nothing(
    host: str, engine: Engine
) -> None:
    calls = HOSTS[host](engine)

    assert len(calls) == 2
    told = str(calls[1].values["workingMemory"])
    known = {shape for _, arguments in CREATES if f'"{(shape := arguments["title"])}" (page-' in told}
    assert known == {*SHAPES} - WORDS_ONLY.get(host, set())
    assert told.count("(page-") == len(known)
