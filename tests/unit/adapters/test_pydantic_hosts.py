"""pydantic-ai's own ways to run an agent: deferred tools, streams, single nodes, and histories that go on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime
from typing import Any

import pytest
from pydantic_ai import Agent, Tool, ToolOutput
from pydantic_ai.messages import (
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelRequest,
    ModelResponse,
    SystemPromptPart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, DeltaToolCalls, FunctionModel
from pydantic_ai.profiles import ModelProfile
from pydantic_ai.toolsets import FunctionToolset

from cms_agent import cms as engine
from cuecard import Conversation, Entity, Turn
from cuecard.adapters.pydantic_ai import Cuecard
from cuecard.adapters.pydantic_ai.messages import tool_results
from cuecard.types import Delivery

NOW = datetime(2026, 11, 20, tzinfo=UTC)
INLINE = ModelProfile(supports_inline_system_prompts=True)
Call = tuple[str, dict[str, Any]]
PAGES: Call = ("tool_search", {"query": "create an empty page", "limit": 1})
ABOUT: Call = ("cms_createPage", {"title": "About"})
MADE = {"success": True, "page": {"id": "page-1", "title": "About"}}
every = pytest.mark.parametrize("delivery", ["append", "rewrite", "frozen"])


def cms_createPage(title: str) -> dict[str, Any]:  # noqa: N802 - tools are named as the catalogue names them
    return {"success": True, "page": {"id": "page-1", "title": title}}


def archive() -> str:
    return "archived"


class Model:
    """Calls one tool after the other, then answers, whole or streamed; remembers what it was sent."""

    def __init__(self, *calls: Call) -> None:
        self.calls = calls
        self.tools: list[list[str]] = []
        self.instructions: list[str | None] = []
        self.sent: list[list[ModelMessage]] = []
        self.model = FunctionModel(self._whole, stream_function=self._streamed, profile=INLINE)

    async def _whole(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        call = self._next(messages, info)
        return ModelResponse([ToolCallPart(*call, f"call-{len(messages)}") if call else TextPart("done")])

    async def _streamed(self, messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[str | DeltaToolCalls]:
        call = self._next(messages, info)
        if call is None:
            yield "do"
            yield "ne"
        else:
            made = ToolCallPart(*call).args_as_json_str()
            yield {0: DeltaToolCall(name=call[0], json_args=made, tool_call_id=f"call-{len(messages)}")}

    def _next(self, messages: list[ModelMessage], info: AgentInfo) -> Call | None:
        self.tools.append([tool.name for tool in info.function_tools])
        self.instructions.append(info.instructions)
        self.sent.append(messages)
        return self.calls[len(self.sent) - 1] if len(self.sent) <= len(self.calls) else None

    @property
    def results(self) -> list[Any]:
        return [result.result for result in tool_results(self.sent[-1])]

    def wire(self) -> list[list[tuple[str, Any]]]:
        return [
            [(p.part_kind, getattr(p, "content", None) or getattr(p, "args", None)) for m in each for p in m.parts]
            for each in self.sent
        ]


def agent_of(
    model: Model,
    delivery: Delivery = "append",
    tools: Sequence[Any] = (cms_createPage,),
    toolsets: Sequence[FunctionToolset[Any]] = (),
    chat: Conversation | None = None,
) -> Agent[None, str]:
    card = Cuecard(engine=engine(delivery), turn=Turn(now=NOW), conversation=chat)
    return Agent(model.model, tools=tools, toolsets=toolsets, capabilities=[card])


def run(agent: Agent[None, str], words: str = "hello", history: Sequence[ModelMessage] = ()) -> Any:
    return asyncio.run(agent.run(words, message_history=history))


def blocks(messages: Sequence[ModelMessage]) -> list[str]:
    prompts = [part.content for m in messages for part in m.parts if isinstance(part, SystemPromptPart)]
    return [text for text in prompts if text.startswith("<tool-usage-instructions>")]


@every
def test_deferred_tools_of_the_catalogue_are_found_by_the_search_of_the_engine_alone(delivery: Delivery) -> None:
    model = Model(PAGES, ABOUT)
    deferred = [Tool(cms_createPage, defer_loading=True)]

    result = run(agent_of(model, delivery, deferred))

    assert result.output == "done"
    assert model.results[-1] == MADE
    assert all("search_tools" not in names for names in model.tools)
    assert ["cms_createPage" in names for names in model.tools] == [delivery != "rewrite", True, True]


def test_a_deferred_toolset_is_found_so_too_and_what_the_catalogue_does_not_know_is_left_to_pydantic_ai() -> None:
    model = Model(PAGES, ABOUT, ("search_tools", {"queries": ["archive"]}), ("archive", {}))
    toolset = FunctionToolset[Any]([Tool(cms_createPage, defer_loading=True), Tool(archive, defer_loading=True)])

    with pytest.warns(UserWarning, match="no entry for the tool `archive`"):
        run(agent_of(model, tools=(), toolsets=[toolset]))

    assert model.results[1] == MADE
    assert model.results[-1] == "archived"
    assert ["archive" in names for names in model.tools] == [False, False, False, True, True]


def test_what_ends_a_run_may_be_a_tool_of_the_catalogue_and_needs_no_entry() -> None:
    model = Model(PAGES, ABOUT)
    card = Cuecard(engine=engine("append"), turn=Turn(now=NOW))
    ends: Any = [ToolOutput(cms_createPage, name="cms_createPage"), ToolOutput(archive, name="archive")]

    agent: Agent[None, Any] = Agent(model.model, output_type=ends, capabilities=[card])

    assert run(agent).output == MADE
    assert "<cms_createPage>" in blocks(model.sent[-1])[-1]


@every
def test_a_stream_with_several_steps_is_sent_what_a_run_is(delivery: Delivery) -> None:
    plain, streamed = Model(PAGES, ABOUT), Model(PAGES, ABOUT)

    async def stream() -> list[str]:
        async with agent_of(streamed, delivery).run_stream("hello") as result:
            return [text async for text in result.stream_text(delta=True, debounce_by=None)]

    run(agent_of(plain, delivery))

    assert "".join(asyncio.run(stream())) == "done"
    assert streamed.tools == plain.tools
    assert streamed.instructions == plain.instructions
    assert [[kind for kind, _ in each] for each in streamed.wire()] == [
        [kind for kind, _ in each] for each in plain.wire()
    ]
    assert streamed.results == plain.results == [*plain.results[:-1], MADE]


def test_a_run_that_goes_node_by_node_is_sent_the_same() -> None:
    plain, stepped = Model(PAGES, ABOUT), Model(PAGES, ABOUT)
    run(agent_of(plain))

    async def steps() -> list[str]:
        async with agent_of(stepped).iter("hello") as run:
            return [type(node).__name__ async for node in run]

    assert asyncio.run(steps()).count("ModelRequestNode") == 3
    assert stepped.wire() == plain.wire()
    assert stepped.tools == plain.tools


def test_two_runs_of_several_steps_share_a_history_that_was_stored_in_between() -> None:
    chat = engine().conversation()
    first = Model(PAGES, ABOUT)
    history = ModelMessagesTypeAdapter.validate_json(run(agent_of(first, chat=chat)).all_messages_json())
    second = Model(ABOUT)
    stored = engine().load(engine().dump(chat))

    run(agent_of(second, chat=stored), "again", history)

    before = first.wire()[-1]
    assert second.wire()[0][: len(before)] == before
    assert [len(blocks(messages)) for messages in second.sent] == [1, 1]
    assert second.results[-1] == MADE
    assert stored.memory.entities == (Entity("page", "page-1", "About"),)


SHAPES: list[tuple[Any, bool]] = [
    ({"tools": ["cms_createPage"]}, True),
    (["cms_createPage"], True),
    ('{"tools": ["cms_createPage"]}', True),
    ({"result": [{"name": "cms_createPage"}]}, True),
    ([{"tool_name": "cms_createPage"}], True),
    ({"content": [{"type": "text", "text": '["cms_createPage"]'}]}, True),
    ({"tools": [*(f"tool_{number}" for number in range(5000)), "cms_createPage"]}, True),
    ("Use cms_createPage.", False),
    ({"isError": True, "tools": ["cms_createPage"]}, False),
    (None, False),
    (7, False),
]


@pytest.mark.parametrize(("content", "found"), SHAPES, ids=[str(number) for number in range(len(SHAPES))])
def test_search_results_of_any_shape_in_a_history_discover(content: Any, found: bool) -> None:  # noqa: FBT001 - a parameter of the test
    model = Model()
    history: list[ModelMessage] = [
        ModelRequest([UserPromptPart("hello")]),
        ModelResponse([ToolCallPart("tool_search", {"query": "create a page"}, "c-1")]),
        ModelRequest([ToolReturnPart("tool_search", content, "c-1")]),
        ModelResponse([TextPart("Found.")]),
    ]

    run(agent_of(model), "go on", history)

    sent = str([blocks(messages) for messages in model.sent])
    assert ("<cms_createPage>" in sent) is found
