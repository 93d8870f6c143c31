"""Hosts of frameworks: each plays the moves of a drawn talk with the framework's own means, over its real client."""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Callable
from dataclasses import replace
from typing import Any

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # it would ask the network for prices as it is imported

import anthropic
import httpx2
import litellm
import openai
from agents import Agent as OpenAIAgent
from agents import FunctionTool, OpenAIChatCompletionsModel, OpenAIResponsesModel, RunConfig, Runner, handoff
from agents.exceptions import AgentsException
from agents.run_config import CallModelData, ModelInputData
from agents.testing import ScriptedModel, assistant_message
from google.adk.agents import LlmAgent
from google.adk.apps import App
from google.adk.apps.app import EventsCompactionConfig
from google.adk.apps.llm_event_summarizer import LlmEventSummarizer
from google.adk.models.google_llm import Gemini
from google.adk.runners import Runner as AdkRunner
from google.adk.sessions import InMemorySessionService
from google.adk.tools.agent_tool import AgentTool
from google.adk.tools.base_toolset import BaseToolset
from google.adk.tools.function_tool import FunctionTool as AdkTool
from google.genai import Client, types
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware, ModelRequest, SummarizationMiddleware
from langchain_anthropic import ChatAnthropic
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langchain_core.tools import StructuredTool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.prebuilt import ToolNode
from pydantic import BaseModel
from pydantic_ai import Agent, BinaryContent, RunContext, Tool, capture_run_messages
from pydantic_ai.capabilities import ProcessHistory
from pydantic_ai.exceptions import ModelHTTPError
from pydantic_ai.messages import ModelMessage, ModelMessagesTypeAdapter, UserPromptPart
from pydantic_ai.messages import ModelRequest as PydanticRequest
from pydantic_ai.models import Model
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.models.openai import OpenAIResponsesModel as PydanticResponses
from pydantic_ai.models.test import TestModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.tools import ToolDefinition
from typing_extensions import override

from cuecard.adapters import adk, langchain, langgraph, openai_agents, pydantic_ai
from cuecard.adapters.litellm import Cuecard as LiteLLM
from property.seeded_agents import NAMES, Json
from property.seeded_talks import IMAGE, Asked, Host, Talk, moves
from unit.adapters.graph_models import Model as FakeModel
from unit.adapters.graph_models import state_of
from unit.adapters.model_server import ToLoopback
from unit.adapters.test_adk import Scripted

TOOLS = (*NAMES, "done")
INNER = "inner"
"""The conversation of an agent that is another one's tool."""
OPENAI, ANTHROPIC = "https://api.openai.com/v1", "https://api.anthropic.com"


class PydanticAI(Host):
    """pydantic-ai: the host stores the messages of runs, and the conversation."""

    name = "pydantic-ai"
    can = moves("shortened-between", "compacted-within", "agent-as-a-tool")
    models = ("claude-opus-4-8", "claude-sonnet-4-6", "gpt-5", "chat:gpt-5", "gateway:gpt-5")

    def __init__(self, talk: Talk, url: str) -> None:
        super().__init__(talk, url)
        self.stored, self.history = "", "[]"

    @override
    def start(self) -> None:
        talk = self.talk
        self.chat = talk.engine.load(self.stored) if self.stored else talk.engine.conversation()
        self.card = pydantic_ai.Cuecard(
            engine=talk.engine,
            turn=lambda context: replace(talk.turn, conversation=INNER) if context.deps else talk.turn,
            conversation=lambda context: context.deps or self.chat,
            on_step=talk.steps_but(INNER),
            handle_tool_errors=True,
        )
        self.compacts = False

    def made(self) -> Model:
        client = httpx2.AsyncClient(transport=ToLoopback(self.url))
        if self.model.startswith("claude"):
            service = anthropic.AsyncAnthropic(api_key="k", base_url=ANTHROPIC, http_client=client, max_retries=0)
            return AnthropicModel(self.model, provider=AnthropicProvider(anthropic_client=service))
        base = f"{self.url}/v1" if self.model.startswith("gateway") else OPENAI
        gpt = openai.AsyncOpenAI(api_key="k", base_url=base, http_client=client, max_retries=0)
        kind, _, name = self.model.rpartition(":")
        return (OpenAIChatModel if kind else PydanticResponses)(name, provider=OpenAIProvider(openai_client=gpt))

    def tools(self) -> list[Tool[Any]]:
        talk = self.talk

        def tool(name: str) -> Tool[Any]:
            async def there(_: RunContext[Any], definition: ToolDefinition) -> ToolDefinition | None:
                return definition if name in talk.there else None

            def call(q: str) -> Json:
                return talk.run(name, q)

            return Tool(call, name=name, description="Does it.", prepare=there)

        return [*(tool(name) for name in TOOLS), Tool(self.helper, name="helper")]

    async def helper(self, q: str) -> str:
        """Ask another agent with the same card, in a conversation of its own."""
        inner = Agent(TestModel(call_tools=[self.talk.engine.search_tool]), capabilities=[self.card])
        return (await inner.run(q, deps=self.talk.engine.conversation())).output

    def shortened(self, messages: list[ModelMessage]) -> list[ModelMessage]:
        if not self.compacts:
            return messages
        asked = [at for at, each in enumerate(messages) if _asks(each)]
        return messages[asked[-1] :]

    @override
    def say(self, words: str, *, image: bool) -> None:
        said: Any = [words, BinaryContent(base64.b64decode(IMAGE), media_type="image/png")] if image else words
        self.run(self.asked(said))

    async def asked(self, said: Any) -> None:
        talk = self.talk
        messages = ModelMessagesTypeAdapter.validate_json(self.history)
        self.compacts = len(messages) > 2 and talk.does("compacted within", 0.15)
        if self.compacts:
            talk.recent.add("forgot")
        before, process = talk.engine.dump(self.chat), ProcessHistory(self.shortened)
        found = set(talk.found)
        agent = Agent(self.made(), tools=self.tools(), capabilities=[process, self.card], retries=100)
        with capture_run_messages() as said_so_far:
            kept = said_so_far
            try:
                await agent.run(said, message_history=messages)
            except ModelHTTPError:
                if talk.draw.random() < 0.5:
                    talk.trace.append("  the run is forgotten")
                    talk.recent.add("forgot")
                    kept = messages
                    if self.compacts:  # its baseline with it, and what it has found
                        self.chat, talk.found = talk.engine.load(before), found
                raise
            finally:
                self.history = ModelMessagesTypeAdapter.dump_json(list(kept)).decode()
                self.stored = talk.engine.dump(self.chat)
                if self.compacts:  # only this run was sent without what is before
                    talk.recent.add("forgot")

    @override
    def shorten(self) -> None:
        messages = ModelMessagesTypeAdapter.validate_json(self.history)
        asked = [at for at, each in enumerate(messages) if _asks(each)]
        self.history = ModelMessagesTypeAdapter.dump_json(messages[asked[-1] :] if asked else []).decode()


def _asks(message: ModelMessage) -> bool:
    return isinstance(message, PydanticRequest) and any(isinstance(part, UserPromptPart) for part in message.parts)


class Permission(AgentMiddleware[Any, Any, Any]):
    """Lets requests have the tools that the host has now."""

    def __init__(self, talk: Talk) -> None:
        super().__init__()
        self.talk = talk

    @override
    def wrap_model_call(self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Any]) -> Any:
        there = {*self.talk.there, self.talk.engine.search_tool, "helper"}
        left = [each for each in request.tools if getattr(each, "name", "") in there]
        return handler(request.override(tools=left))


def _graph_tools(talk: Talk) -> list[StructuredTool]:
    def tool(name: str) -> StructuredTool:
        def call(q: str) -> Json:
            return talk.run(name, q)

        return StructuredTool.from_function(call, name=name, description="Does it.")

    return [tool(name) for name in TOOLS]


class LangGraph(Host):
    """A graph of its own around a model and its tools."""

    name = "langgraph"
    can = moves("resumed", "shortened-between")
    models = ("claude-opus-4-8", "claude-sonnet-4-6", "claude-haiku-5-5", "gateway:claude-opus-4-8")

    def __init__(self, talk: Talk, url: str) -> None:
        super().__init__(talk, url)
        self.saver = InMemorySaver()
        self.thread: Any = {"configurable": {"thread_id": "one"}, "recursion_limit": 100}
        self.from_ = 0
        self.tools = _graph_tools(talk)

    def made(self) -> ChatAnthropic:
        kind, _, name = self.model.rpartition(":")
        base = self.url if kind else ANTHROPIC
        model = ChatAnthropic(model=name, api_key="k", base_url=base, max_tokens=100, max_retries=0)
        vars(model)["_client"] = anthropic.Anthropic(api_key="k", base_url=self.url, max_retries=0)
        return model

    @override
    def start(self) -> None:
        talk, model = self.talk, self.made()
        card = langgraph.Cuecard(engine=talk.engine, on_step=talk.steps.append, handle_tool_errors=True)
        tools = [*self.tools, card.search_tool]

        def call(state: Any) -> Any:
            there = [tool for tool in tools if tool.name in {*talk.there, talk.engine.search_tool}]
            said = state["messages"][self.from_ :]
            ready = card.prepare(model, said, there, state.get("cuecard"), turn=lambda: talk.turn)
            answer = model.bind_tools(ready.tools, **ready.settings).invoke(ready.messages)
            return {"messages": [answer], "cuecard": ready.after(answer)}

        def goes(state: Any) -> str:
            return "tools" if state["messages"][-1].tool_calls else END

        graph = StateGraph(state_of(card))
        graph.add_node("model", call)
        graph.add_node("tools", ToolNode(tools, wrap_tool_call=card.wrap_tool_call))
        graph.add_edge(START, "model")
        graph.add_conditional_edges("model", goes, ["tools", END])
        graph.add_edge("tools", "model")
        self.agent: Any = graph.compile(checkpointer=self.saver)

    @override
    def say(self, words: str, *, image: bool) -> None:
        said: Any = words
        if image:
            said = [
                {"type": "text", "text": words},
                {"type": "image", "base64": IMAGE, "mime_type": "image/png"},
            ]
        given: Any = {"messages": [HumanMessage(said)]}
        if not self.talk.breaks and self.talk.does("resumed", 0.1):
            self.agent.invoke(given, self.thread, interrupt_before=["tools"])
            self.start()
            given = None
        self.agent.invoke(given, self.thread)

    @override
    def shorten(self) -> None:
        stored = self.agent.get_state(self.thread).values
        said: list[AnyMessage] = stored["messages"]
        # What only a request has found that failed is in no state, and goes with its results.
        self.talk.found = {name for name in self.talk.found if f'"{name}"' in str(stored.get("cuecard"))}
        self.from_ = max(at for at, each in enumerate(said) if isinstance(each, HumanMessage))


class LangChain(LangGraph):
    """An agent of `create_agent`, with other middlewares in front of the card and behind it."""

    name = "langchain"
    can = moves("resumed", "compacted-within", "agent-as-a-tool")

    def __init__(self, talk: Talk, url: str) -> None:
        super().__init__(talk, url)
        self.behind = talk.draw.random() < 0.5
        self.sums = talk.does("compacted within", 0.25)

    @override
    def start(self) -> None:
        talk = self.talk
        card = langchain.Cuecard(
            engine=talk.engine, turn=lambda _: talk.turn, on_step=talk.steps_but(INNER), handle_tool_errors=True
        )

        def helper(q: str) -> str:
            """Ask another agent with the same card, in a thread of its own."""
            find = [(talk.engine.search_tool, {"query": q})]
            inner: Any = create_agent(FakeModel(batches=[find]), middleware=[card], checkpointer=InMemorySaver())
            thread = {"configurable": {"thread_id": INNER, "checkpoint_ns": ""}}
            return str(inner.invoke({"messages": [HumanMessage(q)]}, thread)["messages"][-1].content)

        permission = Permission(talk)
        around: list[Any] = [card, permission] if self.behind else [permission, card]
        if self.sums:
            around.insert(0, _Summing(talk))
        self.agent = create_agent(self.made(), [*self.tools, helper], middleware=around, checkpointer=self.saver)


class _Summing(SummarizationMiddleware):
    """LangChain's own summaries, of which the talk hears."""

    def __init__(self, talk: Talk) -> None:
        said = (AIMessage("a summary") for _ in range(100))
        super().__init__(GenericFakeChatModel(messages=said), trigger=("messages", 8), keep=("messages", 3))
        self.talk = talk

    @override
    def before_model(self, state: Any, runtime: Any) -> Any:
        made = super().before_model(state, runtime)
        if made:
            self.talk.did("compacted within")
            self.talk.recent.add("forgot")
            kept = [str(each.content) for each in made["messages"]]
            if not any(self.talk.words[-1] in each for each in kept):
                self.talk.words[-1] = "a summary"
        return made


class OpenAIAgents(Host):
    """OpenAI Agents: the host stores the items of runs, and the conversation."""

    name = "openai-agents"
    can = moves("shortened-between", "compacted-within", "handed-over", "agent-as-a-tool") - {"repeated id"}
    """The SDK itself ends a run in which an id is repeated."""
    models = ("gpt-5", "chat:gpt-5", "gateway:gpt-5")

    def __init__(self, talk: Talk, url: str) -> None:
        super().__init__(talk, url)
        self.items: list[Any] = []
        self.stored = ""
        self.now, self.nests = 0, talk.draw.random() < 0.5
        talk.transfer = Asked("hand_over", {}, "")

    @override
    def start(self) -> None:
        talk = self.talk
        self.chat = talk.engine.load(self.stored) if self.stored else talk.engine.conversation()
        self.card = openai_agents.Cuecard(talk.engine, on_step=talk.steps.append, handle_tool_errors=True)
        self.compacts = False
        self.agents = self.made()

    def made(self) -> list[OpenAIAgent[Any]]:
        """Two agents that hand over to each other, each with an agent without a card as a tool."""
        made: list[OpenAIAgent[Any]] = []
        for name in ("one", "two"):
            inner = OpenAIAgent("inner", model=ScriptedModel([[assistant_message("helped")]] * 50))
            helper = inner.as_tool("helper", "Helps.")
            helper.params_json_schema["properties"] = {"q": {"type": "string"}}
            tools = self.card.tools([*(self.tool(each) for each in TOOLS), helper])
            made.append(OpenAIAgent(name, tools=tools))
        for each, other in zip(made, reversed(made), strict=True):
            each.handoffs = [handoff(other, tool_name_override="hand_over")]
        return made

    def tool(self, name: str) -> FunctionTool:
        talk = self.talk

        async def call(_: Any, arguments: str) -> Json:
            if name not in talk.there:  # the SDK asks once more before it runs a tool
                talk.faults.append(f"{name} ran and was switched off")
            return talk.run(name, **json.loads(arguments))

        schema = {"type": "object", "properties": {"q": {"type": "string"}}, "additionalProperties": False}
        return FunctionTool(
            name, "Does it.", schema, call, strict_json_schema=False, is_enabled=lambda *_: name in talk.there
        )

    @override
    def say(self, words: str, *, image: bool) -> None:
        said: Any = words
        if image:
            said = [
                {"type": "input_text", "text": words},
                {"type": "input_image", "image_url": f"data:image/png;base64,{IMAGE}", "detail": "auto"},
            ]
        self.run(self.asked(said))

    def shortened(self, data: CallModelData[Any]) -> ModelInputData:
        items = data.model_data.input
        if self.compacts:
            items = items[_last_asked(items) :]
        return ModelInputData(input=items, instructions=data.model_data.instructions)

    async def asked(self, said: Any) -> None:
        talk, (kind, _, name) = self.talk, self.model.rpartition(":")
        base = f"{self.url}/v1" if kind == "gateway" else OPENAI
        client = openai.AsyncOpenAI(
            api_key="k", base_url=base, http_client=httpx2.AsyncClient(transport=ToLoopback(self.url)), max_retries=0
        )
        model: Any = (OpenAIChatCompletionsModel if kind else OpenAIResponsesModel)(name, client)
        for each in self.agents:
            each.model = model
        given = [*self.items, {"role": "user", "content": said}]
        self.compacts = bool(self.items) and talk.does("compacted within", 0.15)
        if self.compacts:
            talk.recent.add("forgot")
        config = RunConfig(
            tracing_disabled=True, call_model_input_filter=self.shortened, nest_handoff_history=self.nests
        )
        options = self.card.options(lambda: talk.turn, self.chat, config=config)
        async with client:
            try:
                result = await Runner.run(self.agents[self.now], given, max_turns=50, **options)
                unfolds = self.nests and talk.draw.random() < 0.5
                self.items = result.to_input_list(mode="preserve_all" if unfolds else "normalized")
                self.now = self.agents.index(result.last_agent)
                if unfolds and talk.moves["handed over"]:  # what a handoff has folded is as it was again
                    talk.recent.add("handed over")
            except Exception as error:
                if isinstance(error, AgentsException):
                    raise
                talk.trace.append("  the run is forgotten")
                self.items = given
                talk.recent.add("forgot")
                raise
            finally:
                self.stored = talk.engine.dump(self.chat)
                if self.compacts:  # only this run was sent without what is before
                    talk.recent.add("forgot")

    @override
    def shorten(self) -> None:
        self.items = self.items[_last_asked(self.items) :]


def _last_asked(items: Any) -> int:
    return max((at for at, each in enumerate(items) if each.get("role") == "user"), default=0)


class ADK(Host):
    """Google ADK: the session service has everything."""

    name = "adk"
    can = moves("compacted", "handed-over", "agent-as-a-tool")
    models = ("gemini-2.5-pro", "gemini-3.5-flash")

    def __init__(self, talk: Talk, url: str) -> None:
        super().__init__(talk, url)
        self.sessions = InMemorySessionService()
        self.run(self.sessions.create_session(app_name="site", user_id="ann", session_id="one"))
        self.sums = talk.does("compacted", 0.25)

    @override
    def start(self) -> None:
        talk = self.talk
        card = adk.Cuecard(
            talk.engine, turn=lambda _: talk.turn, agents=["one"], on_step=talk.steps.append, handle_tool_errors=True
        )
        back = [[("transfer_to_agent", {"agent_name": "one"})]] * 50
        other = LlmAgent(name="two", model=Scripted(batches=back))
        helper = AgentTool(LlmAgent(name="helper", model=Scripted(), input_schema=_Question))
        talk.transfer = Asked("transfer_to_agent", {"agent_name": "two"}, "")
        client = Client(api_key="k", http_options=types.HttpOptions(base_url=self.url))
        model, tools = Gemini(model=self.model, client=client), [_Toolset(talk), helper]
        agent = LlmAgent(name="one", model=model, tools=tools, sub_agents=[other])
        config = None
        if self.sums:
            summing = LlmEventSummarizer(llm=Scripted())
            config = EventsCompactionConfig(compaction_interval=2, overlap_size=0, summarizer=summing)
        app = App(name="site", root_agent=agent, plugins=[card], events_compaction_config=config)
        self.runner = AdkRunner(app=app, session_service=self.sessions)

    @override
    def between(self) -> None:
        super().between()
        if self.sums:
            self.talk.did("compacted")
            self.talk.recent.add("forgot")

    @override
    def say(self, words: str, *, image: bool) -> None:
        parts = [types.Part(text=words)]
        if image:
            parts.append(types.Part.from_bytes(data=base64.b64decode(IMAGE), mime_type="image/png"))
        self.run(self.asked(types.Content(role="user", parts=parts)))

    async def asked(self, message: types.Content) -> None:
        async for _ in self.runner.run_async(user_id="ann", session_id="one", new_message=message):
            pass


class _Question(BaseModel):
    q: str


class _Toolset(BaseToolset):
    """The tools that the host has now: asked before each request."""

    def __init__(self, talk: Talk) -> None:
        super().__init__()
        self._use_invocation_cache = False
        self.talk = talk
        self.made = {name: self.tool(name) for name in TOOLS}

    def tool(self, name: str) -> AdkTool:
        def call(q: str) -> Json:
            return self.talk.run(name, q)

        call.__name__, call.__doc__ = name, "Does it."
        return AdkTool(call)

    @override
    async def get_tools(self, readonly_context: Any = None) -> list[Any]:
        return [tool for name, tool in self.made.items() if name in self.talk.there]


class Completions(Host):
    """LiteLLM: the host has nothing but messages."""

    name = "litellm"
    can = moves("shortened-between", "same-day")
    models = ("openai/gpt-5", "anthropic/claude-opus-4-8")
    forgets = True

    def __init__(self, talk: Talk, url: str) -> None:
        super().__init__(talk, url)
        self.messages: list[Any] = []
        talk.conversation = talk.draw.choice(("one", "one", "one", ""))

    @override
    def start(self) -> None:
        talk = self.talk
        talk.restarted = bool(self.messages)
        self.card = LiteLLM(engine=talk.engine, turn=lambda _: talk.turn, on_step=talk.steps.append)

    def tools(self) -> list[Json]:
        schema = {"type": "object", "properties": {"q": {"type": "string"}}}
        return [
            {"type": "function", "function": {"name": name, "description": "Does it.", "parameters": schema}}
            for name in TOOLS
            if name in self.talk.there
        ]

    @override
    def say(self, words: str, *, image: bool) -> None:
        said: Any = words
        if image:
            url = {"url": f"data:image/png;base64,{IMAGE}"}
            said = [{"type": "text", "text": words}, {"type": "image_url", "image_url": url}]
        self.messages.append({"role": "user", "content": said})
        base = f"{self.url}/v1" if self.model.startswith("openai") else self.url
        while True:
            ready = self.card.prepare(self.model, self.messages, self.tools(), api_base=base)
            answer: Any = litellm.completion(**ready.arguments, api_base=base, api_key="k", num_retries=0)
            message = answer.choices[0].message
            self.messages.append(message)
            if not message.tool_calls:
                return
            beside = [call.function.name for call in message.tool_calls]
            for call in message.tool_calls:
                self.messages.append(ready.answer(call, beside) or self.result(call))

    def result(self, call: Any) -> Json:
        try:
            told = json.dumps(self.talk.run(call.function.name, **json.loads(call.function.arguments)))
        except OSError as error:
            told = str(error)
        return {"role": "tool", "tool_call_id": call.id, "content": told}

    @override
    def shorten(self) -> None:
        asked = [at for at, each in enumerate(self.messages) if not isinstance(each, dict) or each["role"] == "user"]
        users = [at for at in asked if isinstance(self.messages[at], dict)]
        self.messages = self.messages[users[-1] :]


HOSTS = {each.name: each for each in (PydanticAI, LangChain, LangGraph, OpenAIAgents, ADK, Completions)}
