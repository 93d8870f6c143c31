"""What a prompt names as available, the host can call, and only that: the systems that have no search.

Each is played with tools of a host over three turns, on pydantic-ai, on LangChain, and in a loop of one's own.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import HumanMessage, SystemMessage
from langchain_core.tools import StructuredTool
from langgraph.checkpoint.memory import InMemorySaver
from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from cuecard import Engine, Turn
from cuecard.adapters import anthropic, openai
from cuecard.adapters.functions import Functions
from cuecard.adapters.langchain import Cuecard as Middleware
from cuecard.adapters.pydantic_ai import Cuecard as Capability
from unit.adapters.graph_models import Model

TURNS = 3
GIVEN = {
    "polyant": ("listAppointments", "saveMemory", "webSearch"),
    "mistermorph": ("read_file", "plan_create"),
    "mushroom": ("read_file", "memory_search"),
    "pioneer": ("shell_exec", "task_start"),
}
LISTING = {"polyant", "mistermorph"}
"""The systems whose prompt lists the tools in words; the others leave that to the provider's interface."""

systems = pytest.mark.parametrize("system", GIVEN)


class Ran(list[str]):
    """The calls that ran, as functions note them."""

    def functions(self, names: Sequence[str]) -> list[Callable[[], dict[str, Any]]]:
        return [self._function(name) for name in names]

    def _function(self, name: str) -> Callable[[], dict[str, Any]]:
        def run() -> dict[str, Any]:
            self.append(name)
            return {"ok": True}

        run.__name__, run.__doc__ = name, f"Does {name}."
        return run


@systems
def test_promise_14_in_a_loop_of_ones_own_each_given_tool_is_active_and_runs(system: str) -> None:
    ran, names = Ran(), GIVEN[system]
    tools = Functions(Engine.open(f"prompts/{system}"), ran.functions(names))
    chat, messages = tools.engine.conversation(), [{"role": "user", "content": "hi"}]

    for number in range(TURNS):
        chat.user(Turn(tools=tools.names))
        step = chat.step([])
        claude = anthropic.request(step, messages, tools=tools.definitions("anthropic"), model="claude-opus-4-8")
        gpt = openai.chat_request(step, messages, tools=tools.definitions("chat"), model="gpt-5")
        offered = [tool["name"] for tool in claude["tools"]], [tool["function"]["name"] for tool in gpt["tools"]]
        answers = [tools.answer(chat, step, name, {}, f"c{number}-{name}") for name in names]
        messages += [{"role": "assistant", "content": "ok"}, {"role": "user", "content": "and now?"}]

        assert sorted(step.active_tools) == sorted(names)
        assert not step.offers_search
        assert [sorted(each) for each in offered] == [sorted(names)] * 2
        assert not any(answer.is_error for answer in answers)
        if system in LISTING:
            said = step.system + "".join(block.text for block in step.appended)
            assert all(name in said for name in names)

    assert sorted(ran) == sorted(names * TURNS)


@systems
def test_promise_14_on_pydantic_ai_each_given_tool_is_active_and_runs(system: str) -> None:
    ran, names, offered, active = Ran(), GIVEN[system], list[list[str]](), list[tuple[str, ...]]()

    def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        offered.append(sorted(tool.name for tool in info.function_tools))
        told = any(part.part_kind == "tool-return" for part in messages[-1].parts)
        calls = [ToolCallPart(name, {}) for name in names]
        return ModelResponse(parts=[TextPart("done")] if told else calls)

    engine = Engine.open(f"prompts/{system}")
    card = Capability(engine=engine, turn=Turn(), on_step=lambda step: active.append(step.active_tools))
    agent = Agent(FunctionModel(answer), tools=ran.functions(names), capabilities=[card])
    history: list[ModelMessage] = []
    for words in ("one", "two", "three"):
        history = asyncio.run(agent.run(words, message_history=history)).all_messages()

    assert sorted(ran) == sorted(names * TURNS)
    assert offered == [sorted(names)] * 2 * TURNS
    assert {tuple(sorted(each)) for each in active} == {tuple(sorted(names))}


@systems
def test_promise_14_on_langchain_each_given_tool_is_active_and_runs(system: str) -> None:
    ran, names, active = Ran(), GIVEN[system], list[tuple[str, ...]]()
    batch: list[tuple[str, dict[str, Any]]] = [(name, {}) for name in names]
    model = Model(batches=[batch, [], batch, [], batch, []])
    card = Middleware(engine=Engine.open(f"prompts/{system}"), on_step=lambda step: active.append(step.active_tools))
    tools = [StructuredTool.from_function(each) for each in ran.functions(names)]
    agent = create_agent(model, tools=tools, middleware=[card], checkpointer=InMemorySaver())
    for words in ("one", "two", "three"):
        agent.invoke({"messages": [HumanMessage(words)]}, {"configurable": {"thread_id": "one"}})

    assert sorted(ran) == sorted(names * TURNS)
    assert [sorted(each) for each in model.bound] == [sorted(names)] * 2 * TURNS
    assert {tuple(sorted(each)) for each in active} == {tuple(sorted(names))}
    assert all(isinstance(request[0], SystemMessage) for request in model.requests)


def test_polyants_catalogue_is_prose_that_names_what_can_be_called_and_nothing_else() -> None:
    tools = Functions(Engine.open("prompts/polyant"), Ran().functions(GIVEN["polyant"]))
    call = tools.engine.prepare_call(Turn(tools=tools.names))
    listed = [line.split("**")[1] for line in tools.engine.prepare_step(call).system.splitlines() if line[:4] == "- **"]

    assert sorted(listed) == sorted(GIVEN["polyant"])


def test_the_cms_has_its_search_and_the_three_tools_that_its_core_names() -> None:
    step = Engine.open("prompts/cms").conversation()
    step.user(Turn())

    assert step.step().active_tools == ("tool_search", "final_answer", "acknowledge")
    assert step.step().offers_search
