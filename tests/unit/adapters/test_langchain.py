"""What a model receives from a LangChain agent with the `Cuecard` middleware."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any, get_type_hints

import pytest
from langchain.agents import AgentState, create_agent
from langchain.agents.middleware import (
    AgentMiddleware,
    ModelFallbackMiddleware,
    ModelRequest,
    ModelResponse,
    ModelRetryMiddleware,
    SummarizationMiddleware,
    dynamic_prompt,
)
from langchain_anthropic import ChatAnthropic
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from pydantic import SecretStr
from typing_extensions import override

from cms_agent import cms as engine
from cuecard import Call, Entity, InputError, Memory, Problem, Step, Turn
from cuecard.adapters.langchain import Cuecard
from cuecard.types import Delivery
from unit.adapters.graph_models import Model, blocks, kinds
from unit.adapters.model_server import Calls

NOW = datetime(2026, 11, 20, tzinfo=UTC)
PAGES: dict[str, Any] = {"query": "create an empty page", "limit": 1}
IMAGES: dict[str, Any] = {"query": "search images", "limit": 1}
TALK: list[Calls] = [
    [("tool_search", PAGES)],
    [("cms_createPage", {"title": "About"})],
    [],
    [("tool_search", IMAGES)],
    [("cms_searchImages", {"query": "x"})],
]


@tool
def cms_createPage(title: str) -> dict[str, Any]:  # noqa: N802 - tools are named as the catalogue names them
    """Create a page."""
    return {"success": True, "page": {"id": f"page-{title}", "title": title}}


@tool
def cms_searchImages(query: str) -> dict[str, Any]:  # noqa: N802 - the same
    """Search images."""
    return {"matches": [], "query": query}


@tool
def cms_listPages() -> list[dict[str, Any]]:  # noqa: N802 - the same
    """List pages."""
    return [{"id": "page-9", "title": "Nine"}]


TOOLS = [cms_createPage, cms_searchImages, cms_listPages]


def make(
    model: Model,
    delivery: Delivery = "append",
    tools: Sequence[Any] = TOOLS,
    middleware: Sequence[AgentMiddleware[Any, Any, Any]] = (),
    system: str | None = None,
    saver: Any = None,
    **options: Any,
) -> Any:
    card = Cuecard(**{"engine": engine(delivery), "turn": Turn(now=NOW), **options})
    return create_agent(
        model, tools=list(tools), middleware=[*middleware, card], checkpointer=saver, system_prompt=system
    )


def run(batches: Sequence[Calls], words: Sequence[str] = ("hello",), *, counts: bool = False, **options: Any) -> Model:
    """A conversation with so many messages of the user."""
    model = Model(batches=batches, counts=counts)
    agent = make(model, saver=InMemorySaver(), **options)
    for said in words:
        agent.invoke({"messages": [HumanMessage(said)]}, THREAD)
    return model


THREAD: Any = {"configurable": {"thread_id": "one"}}


def test_every_request_of_a_conversation_begins_with_the_one_before() -> None:
    model = run(TALK, ["make a page", "and an image"])

    assert len(model.requests) == 6
    assert model.bound == [["tool_search", "cms_createPage", "cms_listPages", "cms_searchImages"]] * 6
    for shorter, longer in pairwise(model.wires):
        assert longer[: len(shorter)] == shorter
    assert kinds(model.requests[1]) == ["human", "ai", "result", "block"]
    assert "<cms_createPage" in blocks(model.requests[1])[0]
    assert kinds(model.requests[3])[-2:] == ["human", "block"]
    assert '"About" (page-About)' in blocks(model.requests[3])[-1]


def test_rewrite_shows_active_tools_and_puts_instructions_into_the_system_prompt() -> None:
    steps: list[Step] = []

    model = run(TALK, delivery="rewrite", on_step=steps.append)

    assert model.requests[0][0].content == steps[0].system.strip()
    assert model.bound == [["tool_search"], ["tool_search", "cms_createPage"], ["tool_search", "cms_createPage"]]
    assert "<cms_createPage" in model.requests[1][0].text
    assert [blocks(request) for request in model.requests] == [[], [], []]


def test_blocks_come_after_the_last_result_of_a_parallel_batch_in_order_of_discovery() -> None:
    model = run([[("tool_search", PAGES), ("tool_search", IMAGES)]])

    assert kinds(model.requests[1])[-4:] == ["result", "result", "block", "block"]
    assert ["cms_createPage" in block for block in blocks(model.requests[1])] == [True, False]


def test_what_the_agent_itself_says_appears_after_the_prompt() -> None:
    model = run([], system="Answer in one sentence.")

    assert model.requests[0][0].text.endswith("</agent>\n\nAnswer in one sentence.")


@pytest.mark.filterwarnings("ignore:agent .* has no tool")
def test_tools_that_the_catalogue_does_not_know_are_left_to_the_host() -> None:
    @tool
    def send_email() -> str:
        """Send."""
        return "sent"

    model = run([[("tool_search", IMAGES), ("send_email", {})]], tools=[*TOOLS, send_email], delivery="rewrite")

    assert model.bound == [["tool_search", "send_email"], ["tool_search", "send_email", "cms_searchImages"]]
    assert model.requests[-1][-1].content == "sent"


def test_a_tool_found_in_this_very_batch_is_not_active_yet() -> None:
    model = run([[("tool_search", PAGES), ("cms_createPage", {"title": "About"})]])

    results = [message for message in model.requests[1] if isinstance(message, ToolMessage)]
    assert [result.status for result in results] == ["success", "error"]
    told = "`cms_createPage` is not active. Call `tool_search` with what you want to do, then use what it finds."
    assert results[1].content == told


def test_the_search_knows_the_tools_of_the_agent_and_takes_a_wrong_limit_for_an_error_of_the_model() -> None:
    model = run([[("tool_search", {"query": "delete a page"})], [("tool_search", {"query": "pages", "limit": 99})]])

    results = [message for message in model.requests[-1] if isinstance(message, ToolMessage)]
    assert set(json.loads(str(results[0].content))["tools"]) <= {each.name for each in TOOLS}
    assert results[1].content == "a search cannot return 99 tools: ask for 1 to 50 tools; 8 are usual"
    assert results[1].status == "error"


def stream(agent: Any, words: str) -> str:
    chunks = agent.stream({"messages": [HumanMessage(words)]}, THREAD, stream_mode="messages")
    return "".join(chunk.text for chunk, _ in chunks if chunk.type == "AIMessageChunk")


async def astream(agent: Any, words: str) -> str:
    chunks = agent.astream({"messages": [HumanMessage(words)]}, THREAD, stream_mode="messages")
    return "".join([chunk.text async for chunk, _ in chunks if chunk.type == "AIMessageChunk"])


async def ainvoke(agent: Any, words: str) -> str:
    return str((await agent.ainvoke({"messages": [HumanMessage(words)]}, THREAD))["messages"][-1].text)


@pytest.mark.parametrize(
    "talk", [stream, lambda *a: asyncio.run(astream(*a)), lambda *a: asyncio.run(ainvoke(*a))],
    ids=["stream", "astream", "ainvoke"],
)  # fmt: skip
def test_streamed_and_awaited_runs_are_sent_the_same(talk: Callable[..., str]) -> None:
    model = Model(batches=TALK)
    agent = make(model, saver=InMemorySaver())

    said = [talk(agent, words) for words in ("make a page", "and an image")]

    assert said == ["done", "done"]
    invoked = run(TALK, ["make a page", "and an image"])
    assert (model.wires, model.bound) == (invoked.wires, invoked.bound)


def test_thirty_runs_at_once_of_one_agent_stay_apart() -> None:
    model = Model(batches=[[("tool_search", IMAGES)], [("tool_search", PAGES)]])
    agent = make(model, saver=InMemorySaver(), turn=lambda request: Turn(now=NOW, memory=seen(request)))

    def seen(request: ModelRequest[Any]) -> Memory:
        return Memory((Entity("page", f"id-{request.messages[0].text}", f"Page {request.messages[0].text}"),))

    async def all_at_once() -> None:
        said = ({"messages": [HumanMessage(f"#{number}")]} for number in range(30))
        threads = ({"configurable": {"thread_id": str(number)}} for number in range(30))
        await asyncio.gather(*(agent.ainvoke(*each) for each in zip(said, threads, strict=True)))

    asyncio.run(all_at_once())

    assert len(model.requests) == 90
    for request in model.requests:
        (number,) = {message.text for message in request if isinstance(message, HumanMessage)}
        assert f"(id-{number})" in request[0].text
        assert request[0].text.count("(id-#") == 1


def test_two_agents_may_share_one_middleware() -> None:
    card = Cuecard(engine=engine(), turn=Turn(now=NOW))
    models = [Model(batches=TALK), Model(batches=[[("tool_search", IMAGES)]])]
    agents = [create_agent(m, tools=TOOLS, middleware=[card], checkpointer=InMemorySaver()) for m in models]

    for agent in agents:
        agent.invoke({"messages": [HumanMessage("hello")]}, THREAD)

    assert models[0].wires == run(TALK).wires
    assert models[1].wires == run([[("tool_search", IMAGES)]]).wires
    state, usual = (get_type_hints(each, include_extras=True) for each in (card.state_schema, AgentState))
    assert {key: state[key] for key in usual} == usual  # how messages are joined included


class Flaky(Model):
    """Fails once, after so many messages."""

    behind: int = 0
    failed: bool = False

    @override
    def _decide(self, messages: list[Any], kwargs: dict[str, Any]) -> AIMessage:
        made = super()._decide(messages, kwargs)
        if len(messages) > self.behind and not self.failed:
            self.failed = True
            raise ConnectionError("try again")
        return made


def test_a_request_that_is_tried_again_is_the_same() -> None:
    model, calls = Flaky(batches=TALK, behind=3), list[Call]()
    retry = ModelRetryMiddleware(max_retries=2, initial_delay=0)

    make(model, middleware=[retry], on_call=calls.append).invoke({"messages": [HumanMessage("hello")]})

    assert model.wires[1] == model.wires[2]
    assert len(calls) == 1
    assert model.wires[3][: len(model.wires[2])] == model.wires[2]


def test_a_history_that_a_middleware_summarises_gets_a_new_baseline_with_what_was_found() -> None:
    summary = SummarizationMiddleware(Model(answers="They made a page."), trigger=("messages", 7), keep=("messages", 1))
    calls: list[Call] = []

    model = run(TALK, ["make a page", "and an image"], middleware=[summary], on_call=calls.append, counts=True)

    assert [message.type for message in model.requests[3]] == ["system", "human", "human"]
    assert "<cms_createPage" in model.requests[3][0].text
    assert any(cut.what == "baseline" for cut in calls[1].record.cuts)
    for shorter, longer in pairwise(model.wires[3:]):
        assert longer[: len(shorter)] == shorter


def test_a_history_that_is_shortened_within_a_run_keeps_its_instructions() -> None:
    summary = SummarizationMiddleware(Model(answers="They made a page."), trigger=("messages", 5), keep=("messages", 2))
    batches = [TALK[0], *[[("cms_createPage", {"title": f"{n}"})] for n in range(4)]]

    model = run(batches, middleware=[summary], counts=True)

    assert all("<cms_createPage" in "".join(m.text for m in request) for request in model.requests[1:])


def test_a_middleware_inside_sees_what_is_sent() -> None:
    class Inside(AgentMiddleware[Any, Any, Any]):
        seen: str = ""

        @override
        def wrap_model_call(
            self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
        ) -> ModelResponse[Any]:
            self.seen = request.system_prompt or ""
            return handler(request)

    inside, model = Inside(), Model()
    card = Cuecard(engine=engine(), turn=Turn(now=NOW))
    create_agent(model, tools=TOOLS, middleware=[card, inside]).invoke({"messages": [HumanMessage("hello")]})

    assert inside.seen == model.requests[0][0].text


@dynamic_prompt
def own_prompt(_: Any) -> str:
    return "Be brief."


def test_a_middleware_behind_the_card_that_takes_the_prompt_out_is_one_error_that_says_which_order_works() -> None:
    """Unlike in front, where what it says follows the prompt."""
    model, card = Model(), Cuecard(engine=engine(), turn=Turn(now=NOW))
    behind, in_front = (
        create_agent(model, TOOLS, middleware=some) for some in ([card, own_prompt], [own_prompt, card])
    )

    with pytest.raises(InputError) as caught:
        behind.invoke({"messages": [HumanMessage("hello")]})

    told = "a middleware behind `Cuecard` takes the prompt out of the system message"
    hint = "name it in front of `Cuecard`, as in middleware=[my_prompt, Cuecard(...)]: what it says follows the prompt"
    assert caught.value.problems == (Problem("wrong-argument", told, hint, "middleware"),)
    in_front.invoke({"messages": [HumanMessage("hello")]})
    assert model.requests[0][0].text.endswith("\n\nBe brief.")


class Without(AgentMiddleware[Any, Any, Any]):
    """Takes a tool away."""

    @override
    def wrap_model_call(self, request: ModelRequest[Any], handler: Any) -> Any:
        left = [each for each in request.tools if getattr(each, "name", "") != "cms_listPages"]
        return handler(request.override(tools=left))


class Adding(AgentMiddleware[Any, Any, Any]):
    """Says something around the prompt, and sets what it likes."""

    @override
    def wrap_model_call(self, request: ModelRequest[Any], handler: Any) -> Any:
        said = SystemMessage(f"FRONT {request.system_prompt} BEHIND")
        settings = {**request.model_settings, "temperature": 0}
        return handler(request.override(system_message=said, model_settings=settings))


@pytest.mark.parametrize("delivery", ["append", "rewrite"])
def test_what_a_middleware_behind_the_card_adds_stays_where_another_takes_tools_away(delivery: Delivery) -> None:
    class Hearing(AgentMiddleware[Any, Any, Any]):
        @override
        def wrap_model_call(self, request: ModelRequest[Any], handler: Any) -> Any:
            settings.append(request.model_settings["temperature"])
            return handler(request)

    settings: list[int] = []
    model, card = Model(batches=TALK[:2]), Cuecard(engine=engine(delivery), turn=Turn(now=NOW))
    create_agent(model, TOOLS, middleware=[card, Adding(), Without(), Hearing()]).invoke(
        {"messages": [HumanMessage("hello")]}
    )

    prompts = [request[0].text for request in model.requests]
    assert [(text[:6], text[-7:], text.count("FRONT")) for text in prompts] == [("FRONT ", " BEHIND", 1)] * 3
    assert settings == [0, 0, 0]
    assert not any("cms_listPages" in bound for bound in model.bound)


class Down(ChatAnthropic):
    """Anthropic's, which does not answer."""

    @override
    def _generate(self, *_: Any, **__: Any) -> Any:
        raise ConnectionError("overloaded")


@pytest.mark.parametrize("order", [[0, 1], [1, 0], [0, 2, 1], [0, 1, 2]])
def test_another_model_that_answers_in_place_of_one_gets_what_it_takes(order: list[int]) -> None:
    """Definitions that are revealed by references are Anthropic's alone."""
    model = Model(batches=TALK[:2])
    card = Cuecard(engine=engine(), turn=Turn(now=NOW))
    around: list[Any] = [card, ModelFallbackMiddleware(model), Adding()]
    down = Down(model="claude-opus-4-8", api_key=SecretStr("k"))
    create_agent(down, TOOLS, middleware=[around[n] for n in order]).invoke({"messages": [HumanMessage("hello")]})

    texts = [[message.text.removeprefix("FRONT ").removesuffix(" BEHIND") for message in r] for r in model.requests]
    assert all("tool_reference" not in str(message.content) for message in model.requests[-1])
    assert texts == [[message.text for message in request] for request in run(TALK[:2]).requests]


def test_a_middleware_behind_the_card_changes_messages_or_the_kind_of_the_model() -> None:
    class Reminding(AgentMiddleware[Any, Any, Any]):
        @override
        def wrap_model_call(self, request: ModelRequest[Any], handler: Any) -> Any:
            return handler(request.override(messages=[*request.messages, HumanMessage("in short")]))

    model, down = Model(batches=TALK[:2]), Down(model="claude-opus-4-8", api_key=SecretStr("k"))
    card = Cuecard(engine=engine(), turn=Turn(now=NOW))
    around = [card, Reminding(), ModelFallbackMiddleware(model)]

    with pytest.raises(InputError, match="change the messages of a request and its model"):
        create_agent(down, TOOLS, middleware=around).invoke({"messages": [HumanMessage("hello")]})
    create_agent(Flaky(), TOOLS, middleware=around).invoke({"messages": [HumanMessage("hello")]})
    assert model.requests[0][-1].text == "in short"


CALL: Any = {"name": "own_tool", "args": {}, "id": "c1"}
CALLING, DONE = AIMessage("", tool_calls=[CALL]), AIMessage("done")
ANSWERED = ToolMessage("ok", tool_call_id="c1")


@pytest.mark.parametrize(
    ("result", "structured", "ended"),
    [
        ([DONE], None, True),
        ([CALLING, DONE], None, True),
        ([CALLING], None, False),
        ([CALLING, ANSWERED], None, False),
        ([], None, False),
        ([DONE], {"a": 1}, True),
        ([CALLING, ANSWERED], {"a": 1}, True),
        ([CALLING], {"a": 1}, False),
        ([AIMessage("", tool_calls=[CALL, {**CALL, "id": "c2"}]), ANSWERED], {"a": 1}, False),
        ([], {"a": 1}, True),
    ],
)
def test_a_turn_has_ended_once_nothing_is_left_to_call(result: Any, structured: Any, *, ended: bool) -> None:
    """A call that only stands for a structured answer is answered by the agent itself."""
    card = Cuecard(engine=engine(), turn=Turn(now=NOW, ephemeral="ONCE"))

    def kept(result: Any, structured: Any) -> Any:
        asked: Any = ModelRequest(
            model=Model(), messages=[HumanMessage("hi", id="1")], tools=[], state={"messages": []}
        )
        response = ModelResponse(result=result, structured_response=structured)
        update: Any = card.wrap_model_call(asked, lambda _: response).command
        return update.update["cuecard"]["conversation"]

    assert (kept(result, structured) == kept([DONE], None)) is ended
    assert kept([CALLING], None) != kept([DONE], None)


def test_a_wrong_turn_is_an_error_that_names_the_argument() -> None:
    with pytest.raises(InputError, match="turn"):
        run([], turn=lambda _: {"inputs": {}})
