"""The same agent in every framework: what a host says, what its model calls, and what that model was sent."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from agents import Agent as OpenAiAgent
from agents import RunConfig, Runner, function_tool
from agents.testing import ScriptedModel, assistant_message, function_call
from google.adk.agents import LlmAgent
from google.adk.sessions import InMemorySessionService
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.tools import tool as langchain_tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from cuecard import Step
from cuecard.adapters import adk, langchain, langgraph, litellm, openai_agents, pydantic_ai
from unit.adapters import test_adk
from unit.adapters.graph_models import Model, state_of
from unit.adapters.model_server import Calls

AGENT = """\
agent: shop
delivery: append
{more}tools: {{instructions: tools.yaml, core: [{core}]{tools}}}
sections:
  - {{id: role, text: You help in a shop.}}
  - {{id: instructions, text: "{{{{{{activeProtocols}}}}}}"}}
"""
ENTRIES = """\
category: shop
described: {tool_search: {description: Find tools}}
tools:
"""
ENTRY = """\
  NAME:
    before: Ask for a clear yes.
    after: Say what was done.
    next: None required
    gotcha: Above 100 EUR an approval is needed.
"""


def shop(folder: Path, *entries: str, more: str = "", core: str = "tool_search", tools: str = "") -> Path:
    """An agent with an entry without a description for each of these tools."""
    told = "".join(ENTRY.replace("NAME", name) for name in entries) or "  {}\n"
    (folder / "tools.yaml").write_text(ENTRIES + told)
    path = folder / "agent.yaml"
    path.write_text(AGENT.format(more=more, core=core, tools=tools))
    return path


@dataclass
class Host:
    """An agent in a framework.

    Attributes:
        engine: the engine, or what gives one.
        tools: its functions.
        batches: what its model calls, request by request; nothing behind them.
        options: of the card.
        systems: the system prompt of each request.
        results: the results in each request, as text, by the tools' names.
        steps: the steps.
    """

    engine: Any
    tools: Sequence[Callable[..., Any]]
    batches: Sequence[Calls]
    options: Mapping[str, Any] = field(default_factory=dict)
    systems: list[str] = field(default_factory=list)
    results: list[list[tuple[str, str]]] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    handles_errors: ClassVar[bool] = True

    def __post_init__(self) -> None:
        self.options = {"on_step": self.steps.append, **self.options}
        self.begin()

    def begin(self) -> None:
        """Make the agent."""

    def say(self, words: str) -> None:
        """One message of the user."""
        raise NotImplementedError

    def calls(self) -> Calls:
        """What the model calls now."""
        number = len(self.systems) - 1
        return self.batches[number] if number < len(self.batches) else ()


class PydanticAi(Host):
    def begin(self) -> None:
        self.agent = Agent(
            FunctionModel(self._decide),
            tools=[*self.tools],
            capabilities=[pydantic_ai.Cuecard(engine=self.engine, conversation=self.chat, **self.options)],
        )
        self.history: list[ModelMessage] = []

    @property
    def chat(self) -> Any:
        current = getattr(self.engine, "current", self.engine)
        return (current if hasattr(current, "conversation") else current.serve().engine).conversation()

    def say(self, words: str) -> None:
        self.history = asyncio.run(self.agent.run(words, message_history=self.history)).all_messages()

    def _decide(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        self.systems.append(info.instructions or "")
        parts = [part for message in messages if isinstance(message, ModelRequest) for part in message.parts]
        self.results.append([(p.tool_name, str(p.content)) for p in parts if isinstance(p, ToolReturnPart)])
        number = len(self.systems)
        made: list[Any] = [
            ToolCallPart(name, args, f"call-{number}-{i}") for i, (name, args) in enumerate(self.calls())
        ]
        return ModelResponse(made or [TextPart("done")])


class _Scripted(Model):
    """LangChain's model, which tells the host what it was sent."""

    host: Any = None

    def _decide(self, messages: list[Any], kwargs: dict[str, Any]) -> AIMessage:
        self.host.systems.append(messages[0].text)
        self.host.results.append([(m.name or "", str(m.content)) for m in messages if isinstance(m, ToolMessage)])
        return super()._decide(messages, kwargs)


class LangChain(Host):
    def begin(self) -> None:
        card = langchain.Cuecard(engine=self.engine, **self.options)
        model = _Scripted(batches=self.batches, counts=True, host=self)
        tools = [langchain_tool(each) for each in self.tools]
        self.agent: Any = create_agent(model, tools=tools, middleware=[card], checkpointer=InMemorySaver())

    def say(self, words: str) -> None:
        thread: Any = {"configurable": {"thread_id": "one"}}
        self.agent.invoke({"messages": [HumanMessage(words)]}, thread)


class LangGraph(LangChain):
    def begin(self) -> None:
        card = langgraph.Cuecard(engine=self.engine, **self.options)
        model = _Scripted(batches=self.batches, counts=True, host=self)
        tools = [*(langchain_tool(each) for each in self.tools), card.search_tool]

        def ask(state: Any) -> Any:
            ready = card.prepare(model, state["messages"], tools, state.get("cuecard"))
            answer = model.bind_tools(ready.tools, **ready.settings).invoke(ready.messages)
            return {"messages": [answer], "cuecard": ready.after(answer)}

        graph = StateGraph(state_of(card))
        graph.add_node("model", ask)
        graph.add_node("tools", ToolNode(tools, wrap_tool_call=card.wrap_tool_call))
        graph.add_edge(START, "model")
        graph.add_conditional_edges("model", tools_condition)
        graph.add_edge("tools", "model")
        self.agent = graph.compile(checkpointer=InMemorySaver())


class OpenAiAgents(Host):
    def begin(self) -> None:
        self.card = openai_agents.Cuecard(self.engine, **self.options)
        steps: list[Any] = [
            [function_call(tool, args, call_id=f"call-{n}-{i}") for i, (tool, args) in enumerate(batch)]
            or [assistant_message("done")]
            for n, batch in enumerate(self.batches)
        ]
        self.model = ScriptedModel([*steps, *[[assistant_message("done")]] * 9])
        made = [function_tool(each, failure_error_function=None) for each in self.tools]
        self.agent: OpenAiAgent[Any] = OpenAiAgent("shop", model=self.model, tools=self.card.tools(made))
        self.chat: Any = None
        self.items: list[Any] = []

    def say(self, words: str) -> None:
        run = self.card.options(None, self.chat, config=RunConfig(tracing_disabled=True))
        self.chat = run["context"].chat
        try:
            ran = asyncio.run(Runner.run(self.agent, [*self.items, {"role": "user", "content": words}], **run))
            self.items = ran.to_input_list()
        finally:
            sent = self.model.calls
            self.systems[:] = [call.system_instructions or "" for call in sent]
            self.results[:] = [_outputs(call.input) for call in sent]


def _outputs(items: Any) -> list[tuple[str, str]]:
    names = {item["call_id"]: item["name"] for item in items if item.get("type") == "function_call"}
    held = [item for item in items if item.get("type") == "function_call_output"]
    return [(names.get(item["call_id"], ""), str(item["output"])) for item in held]


class Adk(Host):
    def begin(self) -> None:
        self.model = test_adk.Scripted(batches=list(self.batches))
        agent = LlmAgent(name="shop", model=self.model, tools=list(self.tools))
        card = adk.Cuecard(self.engine, **self.options)
        self.runner = test_adk.runner(agent, card, sessions=InMemorySessionService())

    def say(self, words: str) -> None:
        try:
            asyncio.run(test_adk.talk(self.runner, words))
        finally:
            self.systems[:] = [test_adk.system(request) for request in self.model.sent]
            self.results[:] = [self._results(request) for request in self.model.sent]

    @staticmethod
    def _results(request: Any) -> list[tuple[str, str]]:
        parts = [part.function_response for content in request.contents for part in content.parts or ()]
        return [(part.name, str(part.response)) for part in parts if part]


class LiteLlm(Host):
    handles_errors: ClassVar[bool] = False

    def begin(self) -> None:
        self.card = litellm.Cuecard(engine=self.engine, **self.options)
        self.messages: list[Any] = []

    def say(self, words: str) -> None:
        named = {each.__name__: each for each in self.tools}
        bodies = [{"type": "function", "function": _body(each)} for each in self.tools]
        self.messages.append({"role": "user", "content": words})
        while True:
            ready = self.card.prepare("openai/gpt-5", self.messages, bodies)
            sent = ready.arguments["messages"]
            self.systems.append(sent[0]["content"])
            self.results.append([(m["name"], m["content"]) for m in sent if m["role"] == "tool"])
            calls = [
                {"id": f"call-{len(self.systems)}-{i}", "type": "function", "function": _call(name, args)}
                for i, (name, args) in enumerate(self.calls())
            ]
            self.messages.append({"role": "assistant", "content": None if calls else "done", "tool_calls": calls})
            if not calls:
                del self.messages[-1]["tool_calls"]
                return
            for call, (name, args) in zip(calls, self.calls(), strict=True):
                said = ready.answer(call) or {
                    "role": "tool",
                    "tool_call_id": call["id"],
                    "name": name,
                    "content": str(named[name](**args)) if name in named else "",
                }
                self.messages.append(said)


def _body(function: Callable[..., Any]) -> dict[str, Any]:
    made = function_tool(function)
    return {"name": made.name, "description": made.description, "parameters": made.params_json_schema}


def _call(name: str, args: Mapping[str, Any]) -> dict[str, str]:
    return {"name": name, "arguments": json.dumps(args)}


HOSTS: list[type[Host]] = [PydanticAi, LangChain, LangGraph, OpenAiAgents, Adk, LiteLlm]
