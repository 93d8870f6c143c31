"""Drawn conversations of the five systems on frameworks, each with a model on this machine that records requests."""

from __future__ import annotations

import asyncio
import json
import os
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cached_property
from typing import Any, TypeAlias

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # it would ask the network for prices as it is imported

import litellm
from agents import Agent as OpenAIAgent
from agents import FunctionTool, RunConfig, Runner
from agents.testing import ScriptedModel, assistant_message, function_call
from google.adk.agents import LlmAgent
from google.adk.apps import App
from google.adk.models.llm_request import LlmRequest
from google.adk.runners import Runner as AdkRunner
from google.adk.sessions import InMemorySessionService
from google.genai import types
from langchain.agents import create_agent
from langchain_core.messages import BaseMessage, HumanMessage
from langchain_core.tools import StructuredTool
from langgraph.checkpoint.memory import InMemorySaver
from pydantic_ai import Agent, Tool
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.profiles import ModelProfile

from cuecard import Engine, Step, Turn
from cuecard.adapters import adk, langchain, openai_agents, pydantic_ai
from cuecard.adapters.litellm import Cuecard as LiteLLM
from cuecard.adapters.litellm_callback import CuecardCallback
from cuecard.types import Delivery, Json
from property.one_turn_talks import START, engine, inputs_of, step_inputs
from unit.adapters.graph_models import Model, wire
from unit.adapters.model_server import model_server
from unit.adapters.test_adk import Scripted
from unit.adapters.test_litellm import finished

Calls: TypeAlias = list[tuple[str, dict[str, str]]]


@dataclass(frozen=True)
class Planned:
    """A turn of the user: what the host knows for each of its requests, and what the model calls in answer to it."""

    words: str
    turns: tuple[Turn, ...]
    calls: tuple[Calls, ...]
    marks: frozenset[str]


@dataclass
class Plan:
    """A conversation, and how far a host has got with it."""

    system: str
    delivery: Delivery
    turns: tuple[Planned, ...]
    sent: list[Request] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)

    @property
    def engine(self) -> Engine:
        return engine(self.system, self.delivery)

    @property
    def places(self) -> list[tuple[int, int]]:
        """Of each request, its turn and its number within it."""
        return [(at, number) for at, each in enumerate(self.turns) for number in range(len(each.turns))]

    @property
    def calls(self) -> list[Calls]:
        """What the model calls, request by request; nothing where it answers."""
        return [calls for each in self.turns for calls in each.calls]

    def now(self, *_: Any) -> Turn:
        """What the host knows when it is asked for its next request."""
        turn, number = self.places[len(self.sent)]
        return self.turns[turn].turns[number]

    def lasting(self, turn: int, number: int) -> tuple[object, ...]:
        """What stays of what the host knows for a request."""
        said = self.turns[turn].turns[number]
        spec = self.engine.agent.spec.inputs
        return said.now, *((name, value) for name, value in said.inputs.items() if spec[name].lives == "conversation")

    def keep(self, pieces: Sequence[Any], offered: Sequence[str]) -> Calls:
        """Record a request, and what the model does."""
        turn, number = self.places[len(self.sent)]
        self.sent.append(Request(turn, number, [*pieces], frozenset(offered), self.steps[-1]))
        return self.calls[len(self.sent) - 1]


@dataclass(frozen=True)
class Request:
    """A request as the model got it: the system prompt, then each message or part as JSON; the tools; its step."""

    turn: int
    number: int
    pieces: list[Any]
    offered: frozenset[str]
    step: Step

    @cached_property
    def text(self) -> str:
        return "\n".join(texts(self.pieces))


def texts(value: Any) -> Iterator[str]:
    """The texts in a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from texts(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from texts(each)


def plan(seed: int, system: str, delivery: Delivery, *, minutes: int = 1) -> Plan:
    """A conversation of two to six turns, with so many minutes between them."""
    draw, made = random.Random(seed), engine(system, delivery)  # noqa: S311 - a seeded test
    tools = made.prepare_call(Turn(now=START)).tools
    names = [name for name in tools.available if name not in made.agent.core] or list(tools.available)
    turns = []
    for number in range(draw.randint(2, 6)):
        marks: list[str] = []

        def mark(name: str, at: int = number, marks: list[str] = marks) -> str:
            marks.append(f"M-{name}-{len(marks)}-of-turn-{at}-K")
            return marks[-1]

        inputs = inputs_of(system, draw, mark)
        ephemeral = mark("ephemeral") if draw.random() < 0.3 else ""
        turn, calls = Turn(inputs, now=START + timedelta(minutes=number * minutes), ephemeral=ephemeral), list[Calls]()
        told = [turn]
        for _ in range(draw.randint(0, 3)):
            calls.append(
                [_call(draw, names, made.search_tool if tools.offers_search else "") for _ in range(draw.randint(1, 3))]
            )
            inputs = {**inputs, **step_inputs(system, draw, mark)}
            told.append(Turn(inputs, now=turn.now, ephemeral=ephemeral))
        turns.append(Planned(f"words of turn {number}", tuple(told), (*calls, []), frozenset(marks)))
    return Plan(system, delivery, tuple(turns))


def _call(draw: random.Random, names: Sequence[str], search: str) -> tuple[str, dict[str, str]]:
    name = draw.choice(names)
    if search and draw.random() < 0.5:
        return search, {"query": name}
    return name, {}


def _functions(made: Engine) -> list[Callable[[], dict[str, Json]]]:
    return [_function(name) for name in made.tools if name != made.search_tool]


def _function(name: str) -> Callable[[], dict[str, Json]]:
    def run() -> dict[str, Json]:
        return {"ok": name}

    run.__name__, run.__doc__ = name, f"Does {name}."
    return run


def on_pydantic_ai(plan: Plan) -> None:
    made, history = plan.engine, list[ModelMessage]()

    def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        parts = [_part(part) for message in messages for part in message.parts]
        calls = plan.keep([info.instructions, *parts], [tool.name for tool in info.function_tools])
        at = len(plan.sent)
        return ModelResponse([ToolCallPart(n, a, f"c{at}-{i}") for i, (n, a) in enumerate(calls)] or [TextPart("ok")])

    chat = made.conversation()
    card = pydantic_ai.Cuecard(engine=made, turn=plan.now, conversation=chat, on_step=plan.steps.append)
    tools = [Tool(each, name=each.__name__, takes_ctx=False) for each in _functions(made)]
    model = FunctionModel(answer, profile=ModelProfile(supports_inline_system_prompts=True))
    agent = Agent(model, tools=tools, capabilities=[card], retries=100)

    async def talk() -> None:
        nonlocal history
        for each in plan.turns:
            history = (await agent.run(each.words, message_history=history)).all_messages()

    asyncio.run(talk())
    stored = made.dump(chat, ended=True)
    stored += "" if plan.delivery == "rewrite" else repr(history)  # which has the instructions of each request
    assert not [mark for mark in _marks(plan) if mark in stored]


def _part(part: Any) -> Any:
    content = getattr(part, "content", None)
    if isinstance(content, list):  # without breakpoints
        content = [each for each in content if isinstance(each, str)]
        content = content[0] if len(content) == 1 else content
    return [part.part_kind, content, getattr(part, "args", None), getattr(part, "tool_call_id", None)]


def on_langchain(plan: Plan) -> None:
    made = plan.engine

    class Recording(Model):
        def _decide(self, messages: list[BaseMessage], kwargs: dict[str, Any]) -> Any:
            plan.keep([wire(message) for message in messages], kwargs.get("bound_tools", []))
            return super()._decide(messages, kwargs)

    card = langchain.Cuecard(engine=made, turn=plan.now, on_step=plan.steps.append)
    tools = [StructuredTool.from_function(each) for each in _functions(made)]
    saver = InMemorySaver()
    thread: Any = {"configurable": {"thread_id": "one"}, "recursion_limit": 100}
    agent = create_agent(Recording(batches=plan.calls, counts=True), tools=tools, middleware=[card], checkpointer=saver)
    for each in plan.turns:
        agent.invoke({"messages": [HumanMessage(each.words)]}, thread)
        stored = json.dumps(agent.get_state(thread).values, default=str)
        assert not [mark for mark in _marks(plan) if mark in stored]


def on_openai_agents(plan: Plan) -> None:
    made, items = plan.engine, list[Any]()

    class Recording(ScriptedModel):
        async def get_response(self, *args: Any, **more: Any) -> Any:
            asked = dict(zip(("system_instructions", "input", "model_settings", "tools"), args, strict=False)) | more
            items = json.loads(json.dumps(asked["input"]))
            calls = plan.keep([asked["system_instructions"], *items], [tool.name for tool in asked["tools"]])
            at = len(plan.sent)
            there = {*plan.steps[-1].active_tools}  # a call of any other tool ends the run
            calls = [each if each[0] in there else (made.search_tool, {"query": each[0]}) for each in calls]
            said = [function_call(name, given, call_id=f"c{at}-{i}") for i, (name, given) in enumerate(calls)]
            self.enqueue(said or [assistant_message("ok")])
            return await super().get_response(*args, **more)

    async def ran(*_: Any) -> str:
        return "ok"

    card, chat = openai_agents.Cuecard(made, on_step=plan.steps.append), made.conversation()
    schema = {"type": "object", "properties": {}, "additionalProperties": False}
    own: list[Any] = [FunctionTool(each.__name__, "Does it.", schema, ran) for each in _functions(made)]
    agent: Any = OpenAIAgent("one", model=Recording([]), tools=card.tools(own))

    async def talk() -> None:
        nonlocal items
        for each in plan.turns:
            said = [*items, {"role": "user", "content": each.words}]
            options = card.options(plan.now, chat, config=RunConfig(tracing_disabled=True))
            items = (await Runner.run(agent, said, max_turns=50, **options)).to_input_list()
            assert not [mark for mark in _marks(plan) if mark in repr(items) + made.dump(chat, ended=True)]

    asyncio.run(talk())


def on_adk(plan: Plan) -> None:
    made = plan.engine

    class Recording(Scripted):
        async def generate_content_async(self, llm_request: LlmRequest, stream: bool = False) -> Any:  # noqa: FBT001, FBT002 - ADK's signature
            declared = [
                one.name
                for tool in llm_request.config.tools or ()
                for one in getattr(tool, "function_declarations", None) or ()
            ]
            contents = [content.model_dump(mode="json", exclude_none=True) for content in llm_request.contents]
            plan.keep([str(llm_request.config.system_instruction), *contents], declared)
            async for response in super().generate_content_async(llm_request, stream):
                yield response

    card = adk.Cuecard(made, turn=plan.now, on_step=plan.steps.append)
    agent = LlmAgent(name="one", model=Recording(batches=plan.calls, ids=True), tools=[*_functions(made)])
    sessions, at = InMemorySessionService(), {"app_name": "site", "user_id": "ann", "session_id": "one"}
    runner = AdkRunner(app=App(name="site", root_agent=agent, plugins=[card]), session_service=sessions)

    async def talk() -> None:
        await sessions.create_session(**at)  # type: ignore[arg-type]  # all of them are texts
        for each in plan.turns:
            message = types.Content(role="user", parts=[types.Part(text=each.words)])
            async for _ in runner.run_async(user_id="ann", session_id="one", new_message=message):
                pass
            session = await sessions.get_session(**at)  # type: ignore[arg-type]  # the same
            assert session
            assert not [mark for mark in _marks(plan) if mark in repr(session.state)]

    asyncio.run(talk())


def on_litellm(plan: Plan) -> None:
    made, messages = plan.engine, list[Any]()
    tools: list[Any] = [
        {"type": "function", "function": {"name": each.__name__, "parameters": {"type": "object"}}}
        for each in _functions(made)
    ]

    card = LiteLLM(engine=made, turn=plan.now, on_step=plan.steps.append)

    async def talk(address: str) -> None:
        for each in plan.turns:
            messages.append({"role": "user", "content": each.words})
            while True:
                answer = await litellm.acompletion(
                    model="openai/gpt-5", messages=messages, tools=tools, api_base=address, api_key="k"
                )
                body = server.sent[-1]
                plan.keep(body["messages"], [tool["function"]["name"] for tool in body.get("tools", ())])
                said: Any = answer.choices[0].message
                messages.append(said)
                if not said.tool_calls:
                    break
                messages.extend(
                    {"role": "tool", "tool_call_id": call.id, "content": _answered(made, call)}
                    for call in said.tool_calls
                )

    with model_server(plan.calls) as server:
        litellm.callbacks = [CuecardCallback(card)]
        try:
            finished(talk(f"{server.url}/v1"))
        finally:
            litellm.callbacks = []
    assert not [mark for mark in _marks(plan) if mark in repr(messages)]


def _answered(made: Engine, call: Any) -> str:
    if call.function.name != made.search_tool:
        return "ok"
    return json.dumps(made.search_tools(json.loads(call.function.arguments)["query"]).to_json())


def _marks(plan: Plan) -> set[str]:
    return {mark for each in plan.turns for mark in each.marks}


FORGETFUL = frozenset({"litellm"})
"""The hosts that keep nothing but messages: what the host knows of the last request is what it knows of all of them."""

HOSTS: Mapping[str, Callable[[Plan], None]] = {
    "pydantic-ai": on_pydantic_ai,
    "langchain": on_langchain,
    "openai-agents": on_openai_agents,
    "adk": on_adk,
    "litellm": on_litellm,
}
