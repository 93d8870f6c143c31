"""Streams that nobody reads to their end: the conversation goes on with what the host has kept."""

from __future__ import annotations

import asyncio
from typing import Any

from agents import Runner, SQLiteSession
from langchain.agents import create_agent
from langchain_core.messages import HumanMessage
from langgraph.checkpoint.memory import InMemorySaver

from cms_agent import cms
from cuecard import Turn
from cuecard.adapters.langchain import Cuecard as Middleware
from unit.adapters import graph_models, test_langchain, test_openai_agents, test_pydantic_hosts

ABOUT: dict[str, Any] = {"title": "About"}


def test_a_pydantic_ai_stream_that_is_left_in_its_answer() -> None:
    chat = cms().conversation()
    left, after = (
        test_pydantic_hosts.Model(test_pydantic_hosts.PAGES),
        test_pydantic_hosts.Model(test_pydantic_hosts.ABOUT),
    )

    async def leave() -> Any:
        async with test_pydantic_hosts.agent_of(left, chat=chat).run_stream("hello") as result:
            await anext(aiter(result.stream_text(delta=True, debounce_by=None)))
            return result.all_messages()

    history = asyncio.run(leave())
    test_pydantic_hosts.run(test_pydantic_hosts.agent_of(after, chat=chat), "again", history)

    before = left.wire()[-1]
    assert after.wire()[0][: len(before)] == before
    assert [len(test_pydantic_hosts.blocks(sent)) for sent in after.sent] == [1, 1]
    assert after.results[-1] == test_pydantic_hosts.MADE


def test_a_pydantic_ai_run_that_is_left_before_its_results_were_sent() -> None:
    chat = cms().conversation()
    left, after = (
        test_pydantic_hosts.Model(test_pydantic_hosts.PAGES),
        test_pydantic_hosts.Model(test_pydantic_hosts.ABOUT),
    )

    async def leave() -> None:
        async with test_pydantic_hosts.agent_of(left, chat=chat).iter("hello") as run:
            async for node in run:
                if type(node).__name__ == "CallToolsNode":
                    return

    asyncio.run(leave())
    test_pydantic_hosts.run(test_pydantic_hosts.agent_of(after, chat=chat), "again")  # the host has kept no message

    assert len(left.sent) == 1
    assert test_pydantic_hosts.blocks(after.sent[0]) == []
    assert after.wire()[0][0][0] == left.wire()[0][0][0]


def test_an_openai_agents_stream_that_is_left_after_its_first_tool() -> None:
    chat, session = cms().conversation(), SQLiteSession("left")
    left = test_openai_agents.Host([[("tool_search", test_openai_agents.PAGES)], [("cms_createPage", ABOUT)]])
    after = test_openai_agents.Host([[("cms_createPage", ABOUT)]], name="after-")
    turn = Turn(now=test_openai_agents.NOW)

    async def leave() -> None:
        options = left.card.options(turn, chat, config=test_openai_agents.QUIET)
        result = Runner.run_streamed(left.agent, "hello", session=session, **options)
        async for event in result.stream_events():
            if event.type == "run_item_stream_event" and event.name == "tool_output":
                result.cancel()

    asyncio.run(leave())
    assert after.run(chat=chat, session=session).final_output == "done"

    assert len(left.sent) < 3
    assert [call.system_instructions for call in after.sent] == [left.sent[0].system_instructions] * 2
    assert all(len(test_openai_agents.blocks(call)) <= 1 for call in after.sent)
    assert after.steps[-1].refusal("tool_search") is None
    session.close()


def test_a_langchain_stream_that_is_left_after_its_first_tool() -> None:
    model = graph_models.Model(batches=[[("tool_search", {"query": "create an empty page", "limit": 1})], [], []])
    card, thread = Middleware(engine=cms()), {"configurable": {"thread_id": "one"}}
    agent: Any = create_agent(model, test_langchain.TOOLS, middleware=[card], checkpointer=InMemorySaver())

    for update in agent.stream({"messages": [HumanMessage("hello")]}, thread, stream_mode="updates"):
        if "tools" in update:
            break
    agent.invoke({"messages": [HumanMessage("again")]}, thread)

    first, after = model.requests[0], model.requests[-1]
    assert after[0] == first[0]
    assert len(graph_models.blocks(after)) == 1
