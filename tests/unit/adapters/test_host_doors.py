"""Hosts as people from outside meet them: what they stream, trace and return as state, and calls nobody may make."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from inspect import signature
from pathlib import Path
from typing import Any

import pytest
from agents import Agent, RunConfig, RunContextWrapper, Runner, RunState, SQLiteSession, function_tool
from agents.testing import ScriptedModel, assistant_message, function_call
from google.adk.agents import LlmAgent
from google.adk.apps import App
from google.adk.runners import Runner as AdkRunner
from google.adk.sessions import BaseSessionService, InMemorySessionService
from google.adk.sessions.sqlite_session_service import SqliteSessionService
from google.adk.tools.function_tool import FunctionTool
from google.genai import types
from pydantic_ai import Agent as PydanticAgent
from pydantic_ai import DeferredToolRequests, DeferredToolResults, Tool
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, FunctionModel
from pydantic_ai.models.test import TestModel
from typing_extensions import override

from cuecard import Call, InputError, Step, Turn
from cuecard.adapters import adk, langchain, langgraph, openai_agents, pydantic_ai
from cuecard.adapters.litellm import Cuecard as LiteLlm
from unit.adapters.shop import REFUND, SEARCH, TEXTS, Shop, held_in
from unit.adapters.test_adk import Batch, Scripted

RAN: list[str] = []
NAMES: dict[str, Any] = {"app_name": "site", "user_id": "ann", "session_id": "one"}
FIND_AND_PAY: list[Batch] = [[SEARCH], [REFUND]]
CHANGES = ["nothing", "new_prompt", "new_tools"]


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    RAN.clear()
    return Shop(tmp_path / "shop")


def refund_order(order_id: str) -> dict[str, Any]:
    """Pay money back for an order."""
    RAN.append(order_id)
    return {"success": True}


def change(shop: Shop, how: str) -> None:
    getattr(shop, how, lambda: None)()


# Google ADK


def app(shop: Shop, model: Scripted, sessions: BaseSessionService, *, asks: bool = False, **options: Any) -> AdkRunner:
    tool = FunctionTool(refund_order, require_confirmation=asks)
    plugin = adk.Cuecard(shop.engine, **options)
    agent = LlmAgent(name="shop", model=model, tools=[tool])
    return AdkRunner(app=App(name="site", root_agent=agent, plugins=[plugin]), session_service=sessions)


async def tell(run: AdkRunner, *parts: types.Part) -> list[Any]:
    if await run.session_service.get_session(**NAMES) is None:
        await run.session_service.create_session(**NAMES)
    message = types.Content(role="user", parts=list(parts))
    return [event async for event in run.run_async(user_id="ann", session_id="one", new_message=message)]


async def state_of(sessions: BaseSessionService) -> Any:
    session = await sessions.get_session(**NAMES)
    listed = await sessions.list_sessions(app_name="site", user_id="ann")
    assert session is not None
    assert [each.id for each in listed.sessions] == ["one"]
    return session


async def confirm(run: AdkRunner) -> list[Any]:
    session = await state_of(run.session_service)
    asked = [c for e in session.events for c in e.get_function_calls() if c.name == "adk_request_confirmation"]
    answer = types.FunctionResponse(id=asked[-1].id, name=asked[-1].name, response={"confirmed": True})
    return await tell(run, types.Part(function_response=answer))


@pytest.mark.parametrize("stored", [False, True])
def test_adk_streams_and_stores_no_text_of_the_prompt(shop: Shop, tmp_path: Path, *, stored: bool) -> None:
    sessions: BaseSessionService = SqliteSessionService(str(tmp_path / "s.db")) if stored else InMemorySessionService()
    model = Scripted(batches=FIND_AND_PAY, ids=True)

    async def whole() -> list[Any]:
        run = app(shop, model, sessions)
        events = [*await tell(run, types.Part(text="x")), *await tell(run, types.Part(text="y"))]
        return [*(event.model_dump_json() for event in events), (await state_of(sessions)).model_dump_json()]

    told = asyncio.run(whole())

    assert held_in([(request.config, request.contents) for request in model.sent]) == list(TEXTS)
    assert held_in(told) == []
    assert RAN == ["o-1"]


def test_adk_goes_on_with_a_session_that_was_stored_with_its_text(shop: Shop) -> None:
    sessions, model = InMemorySessionService(), Scripted(batches=FIND_AND_PAY, ids=True)
    chat = shop.engine.conversation()
    chat.user(Turn(tools=("refund_order", "tool_search"), authority="user"))
    held = {"invocation": "e-1", "conversation": shop.engine.dump(chat)}

    async def whole() -> Any:
        await sessions.create_session(**NAMES, state={"cuecard:shop": held})
        calls: list[Any] = []
        await tell(app(shop, model, sessions, on_call=calls.append), types.Part(text="x"))
        assert [call.turn for call in calls] == [1]
        return (await state_of(sessions)).state

    assert held_in(asyncio.run(whole())) == []


def test_adk_makes_a_conversation_anew_whose_text_is_gone_and_the_manifest_says_so(shop: Shop) -> None:
    sessions, model, steps = InMemorySessionService(), Scripted(batches=[[SEARCH]], ids=True), list[Step]()

    async def whole() -> None:
        await tell(app(shop, model, sessions), types.Part(text="x"))
        for kept in (await sessions.list_sessions(app_name="site.cuecard", user_id="ann")).sessions:
            await sessions.delete_session(app_name="site.cuecard", user_id="ann", session_id=kept.id)
        await tell(app(shop, model, sessions, on_step=steps.append), types.Part(text="y"))

    asyncio.run(whole())

    assert "not known here" in next(cut.reason for cut in steps[0].manifest.cuts if cut.what == "baseline")
    assert "refund_order" in steps[0].active_tools


class Refusing(InMemorySessionService):
    """Refuses what is not of the host's own app."""

    async def create_session(self, *, app_name: str, **said: Any) -> Any:
        return await super().create_session(app_name=own(app_name), **said)

    async def get_session(self, *, app_name: str, **said: Any) -> Any:
        return await super().get_session(app_name=own(app_name), **said)

    async def delete_session(self, *, app_name: str, **said: Any) -> None:
        await super().delete_session(app_name=own(app_name), **said)


def own(app_name: str) -> str:
    if app_name != "site":
        raise PermissionError(app_name)
    return app_name


@pytest.mark.parametrize(("another", "turns"), [(True, [0, 0, 0]), (False, [0, 1, 2])])
def test_adk_goes_on_where_a_service_of_sessions_refuses_and_says_so(
    shop: Shop, caplog: pytest.LogCaptureFixture, turns: list[int], *, another: bool
) -> None:
    sessions, model, calls = Refusing(), Scripted(batches=[[SEARCH]], ids=True), list[Call]()

    async def whole() -> None:
        run = app(shop, model, sessions, on_call=calls.append)
        for words in ("x", "y", "z"):
            await tell(run, types.Part(text=words))
            run = app(shop, model, sessions, on_call=calls.append) if another else run

    asyncio.run(whole())

    assert [call.turn for call in calls] == turns
    assert {each.getMessage() for each in caplog.records if each.name.startswith("cuecard")} == {
        "the conversation is not kept for other processes: PermissionError",
        *(["the conversation is not known here: PermissionError"] if another else []),
        "a conversation that has ended is still kept: PermissionError",
    }


def test_adk_keeps_the_conversations_of_the_newest_requests_at_hand(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where a service keeps no texts, those that are no longer at hand begin anew."""
    monkeypatch.setattr(adk, "_KEPT", 2)
    calls = list[Call]()
    run = app(shop, Scripted(batches=[[SEARCH]], ids=True), Refusing(), on_call=calls.append)

    async def whole() -> None:
        for name in ("one", "two", "three"):
            await run.session_service.create_session(app_name="site", user_id="ann", session_id=name)
        for name in ("one", "two", "one", "three", "one", "two"):
            message = types.Content(role="user", parts=[types.Part(text="x")])
            _ = [each async for each in run.run_async(user_id="ann", session_id=name, new_message=message)]

    asyncio.run(whole())

    assert [call.turn for call in calls] == [0, 0, 1, 0, 2, 0]


def test_adk_goes_on_with_what_another_process_has_done_meanwhile(shop: Shop) -> None:
    batches: list[Batch] = [[], [SEARCH], [REFUND]]
    sessions, model, calls = InMemorySessionService(), Scripted(batches=batches, ids=True), list[Call]()

    async def whole() -> list[int]:
        one, two = (app(shop, model, sessions, on_call=calls.append) for _ in range(2))
        events = [await tell(run, types.Part(text="x")) for run in (one, two, one)]
        return [sum(bool(event.actions.state_delta) for event in told) for told in events]

    written = asyncio.run(whole())

    assert [call.turn for call in calls] == [0, 1, 2]
    assert [each.tool for each in calls[2].tools.discovered] == ["refund_order"]
    assert written == [1, 2, 1]


@pytest.mark.parametrize("process", ["one", "another after each turn"])
def test_adk_keeps_one_text_for_each_turn_and_those_that_a_failing_request_may_leave_behind(
    shop: Shop, process: str
) -> None:
    sessions, kept = InMemorySessionService(), list[int]()

    async def count() -> None:
        kept.append(len((await sessions.list_sessions(app_name="site.cuecard", user_id="ann")).sessions))

    class Watched(Scripted):
        @override
        async def generate_content_async(self, llm_request: Any, stream: bool = False) -> Any:
            await count()
            async for response in super().generate_content_async(llm_request, stream):
                yield response

    model = Watched(batches=[[SEARCH], [REFUND], [SEARCH], []], ids=True)

    async def whole() -> None:
        run = app(shop, model, sessions)
        for words in ("x", "y", "z"):
            run = app(shop, model, sessions) if process != "one" else run
            await tell(run, types.Part(text=words))
            await count()

    asyncio.run(whole())

    assert kept == [*(2, 2, 2, 2), 1, *(3,), 2, *(4,), 3]


@pytest.mark.parametrize("how", CHANGES)
@pytest.mark.parametrize(("batches", "ran"), [([[REFUND]], []), (FIND_AND_PAY, ["o-1"])])
def test_adk_runs_an_approved_call_only_of_a_tool_that_was_found(
    shop: Shop, how: str, batches: list[Batch], ran: list[str]
) -> None:
    sessions = InMemorySessionService()

    async def whole() -> list[Any]:
        events = await tell(app(shop, Scripted(batches=batches, ids=True), sessions, asks=True), types.Part(text="x"))
        change(shop, how)
        if not any(c.name == "adk_request_confirmation" for e in events for c in e.get_function_calls()):
            return []  # nobody is asked about a call that is refused
        return await confirm(app(shop, Scripted(ids=True), sessions, asks=True))

    events = asyncio.run(whole())

    assert ran == RAN
    assert bool(events) is bool(ran)


@pytest.mark.parametrize("how", CHANGES)
def test_adk_refuses_a_tool_that_nobody_found_where_the_state_is_another_conversations(shop: Shop, how: str) -> None:
    sessions = InMemorySessionService()

    async def whole() -> None:
        await tell(app(shop, Scripted(batches=FIND_AND_PAY, ids=True), sessions, asks=True), types.Part(text="x"))
        session = await state_of(sessions)
        for event in session.events:  # the search is gone, and so is the conversation
            if any(
                call.name == "tool_search" for call in [*event.get_function_calls(), *event.get_function_responses()]
            ):
                event.content = types.Content(role="user", parts=[types.Part(text="gone")])
        sessions.sessions["site"]["ann"]["one"].events = session.events
        sessions.sessions["site"]["ann"]["one"].state.pop("cuecard:shop")
        change(shop, how)
        await confirm(app(shop, Scripted(ids=True), sessions, asks=True))

    asyncio.run(whole())

    assert RAN == []


# OpenAI Agents SDK


QUIET = RunConfig(tracing_disabled=True)


def hand(*, asks: bool = False) -> Any:
    return function_tool(refund_order, needs_approval=asks)


def script(batches: list[Batch]) -> ScriptedModel:
    turns: list[Any] = [
        [function_call(name, args, call_id=f"c{number}") for name, args in batch]
        for number, batch in enumerate(batches)
    ]
    return ScriptedModel([*turns, [assistant_message("done")]])


@pytest.mark.parametrize("own", [False, True])
def test_the_openai_agents_sdk_streams_and_returns_no_text_of_the_prompt(shop: Shop, *, own: bool) -> None:
    engine, model, session = shop.engine, script([[SEARCH], [REFUND]]), SQLiteSession("talk")
    card = openai_agents.Cuecard(engine)
    agent: Agent[Any] = Agent("shop", model=model, tools=card.tools([hand(asks=True)]))
    run = card.run()
    context: Any = {"cuecard": run, "user": "ann"} if own else run

    async def whole() -> list[Any]:
        streamed = Runner.run_streamed(agent, "x", context=context, run_config=card.config(QUIET), session=session)
        told: list[Any] = [repr(event) async for event in streamed.stream_events()]
        state = streamed.to_state()
        told += [streamed.to_input_list(), await session.get_items(), repr(run)]
        if not own:
            told.append(state.to_string())
        state.approve(streamed.interruptions[0])
        done = await Runner.run(agent, state, run_config=card.config(QUIET))
        return [*told, done.to_input_list(), repr(done), done.new_items]

    told = asyncio.run(whole())
    session.close()

    assert held_in([(call.system_instructions, call.input) for call in model.calls]) == list(TEXTS)
    assert held_in(told) == []
    assert RAN == ["o-1"]


@pytest.mark.parametrize("how", CHANGES)
def test_the_openai_agents_sdk_asks_nobody_about_a_call_that_is_refused(shop: Shop, how: str) -> None:
    card, model = openai_agents.Cuecard(shop.engine), script([[REFUND]])
    agent: Agent[Any] = Agent("shop", model=model, tools=card.tools([hand(asks=True)]))

    done = asyncio.run(Runner.run(agent, "x", **card.options(config=QUIET)))

    assert (done.interruptions, done.final_output, RAN) == ([], "done", [])
    assert "is not active" in json.dumps(model.calls[-1].input)


@pytest.mark.parametrize("how", CHANGES)
@pytest.mark.parametrize("knows", [True, False])
def test_the_openai_agents_sdk_runs_an_approved_call_only_of_a_tool_that_was_found(
    shop: Shop, how: str, *, knows: bool
) -> None:
    card, chat = openai_agents.Cuecard(shop.engine), shop.engine.conversation()
    agent: Agent[Any] = Agent("shop", model=script(FIND_AND_PAY), tools=card.tools([hand(asks=True)]))
    first = asyncio.run(Runner.run(agent, "x", **card.options(conversation=chat, config=QUIET)))
    waiting = first.to_state()
    waiting.approve(first.interruptions[0])
    text = waiting.to_string(context_serializer=lambda _: {})
    if not knows:  # another conversation, in which nobody has searched
        chat = shop.engine.conversation()
        chat.user(Turn(tools=("refund_order", "tool_search")))
    stored = shop.engine.dump(chat)
    change(shop, how)
    card = openai_agents.Cuecard(shop.engine)
    again: Agent[Any] = Agent("shop", model=script([]), tools=card.tools([hand(asks=True)]))
    run = card.run(conversation=shop.engine.load(stored), resumed=True)

    async def go_on() -> Any:
        state = await RunState.from_string(again, text, context_override=RunContextWrapper(run))
        return await Runner.run(again, state, run_config=card.config(QUIET))

    assert asyncio.run(go_on()).final_output == "done"
    assert (["o-1"] if knows else []) == RAN


# pydantic-ai


def decide(batches: list[Batch]) -> FunctionModel:
    def say(messages: list[ModelMessage], _: AgentInfo) -> ModelResponse:
        number = sum(isinstance(message, ModelResponse) for message in messages)
        calls = batches[number] if number < len(batches) else ()
        parts: list[Any] = [ToolCallPart(name, args, f"c{number}-{at}") for at, (name, args) in enumerate(calls)]
        return ModelResponse(parts=parts or [TextPart("done")])

    async def stream(messages: list[ModelMessage], info: AgentInfo) -> Any:
        for at, part in enumerate(say(messages, info).parts):
            if isinstance(part, ToolCallPart):
                yield {at: DeltaToolCall(part.tool_name, json.dumps(part.args), tool_call_id=part.tool_call_id)}
            elif isinstance(part, TextPart):
                yield part.content

    return FunctionModel(say, stream_function=stream)


def pydantic_agent(shop: Shop, batches: list[Batch], *, asks: bool = False, **options: Any) -> Any:
    return PydanticAgent(
        decide(batches),
        tools=[Tool(refund_order, requires_approval=asks)],
        capabilities=[pydantic_ai.Cuecard(engine=shop.engine, **options)],
        output_type=[str, DeferredToolRequests],
    )


def test_pydantic_ai_streams_no_text_of_the_prompt(shop: Shop) -> None:
    async def whole() -> list[Any]:
        async with pydantic_agent(shop, FIND_AND_PAY).run_stream_events("x") as events:
            return [event async for event in events]

    told = [event for event in asyncio.run(whole()) if type(event).__name__ != "AgentRunResultEvent"]

    assert len(told) > 3
    assert held_in(told) == []
    assert RAN == ["o-1"]


def test_pydantic_ai_asks_nobody_about_a_call_that_is_refused(shop: Shop) -> None:
    done = asyncio.run(pydantic_agent(shop, [[REFUND]], asks=True).run("x"))

    assert done.output == "done"
    assert RAN == []


@pytest.mark.parametrize("how", CHANGES)
@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize(("batches", "ran"), [([[REFUND]], []), (FIND_AND_PAY, ["o-1"])])
def test_pydantic_ai_runs_an_approved_call_only_of_a_tool_that_was_found(
    shop: Shop, how: str, batches: list[Batch], ran: list[str], *, known: bool
) -> None:
    chat = shop.engine.conversation()
    first = pydantic_agent(shop, batches, asks=True, **({"conversation": chat} if known else {}))
    done = asyncio.run(first.run("x"))
    stored = shop.engine.dump(chat)
    change(shop, how)
    calls = [
        p for m in done.all_messages() for p in m.parts if isinstance(p, ToolCallPart) and p.tool_name == "refund_order"
    ]
    answered = {p.tool_call_id for m in done.all_messages() for p in m.parts if isinstance(p, ToolReturnPart)}
    history = done.all_messages()
    if isinstance(done.output, str):  # it was refused at once: as if it waited, for somebody who resumes what he likes
        history = history[:2]
    else:
        assert calls[-1].tool_call_id not in answered
    options = {"conversation": shop.engine.load(stored)} if known else {}
    approvals = DeferredToolResults(approvals={calls[-1].tool_call_id: True})

    again = pydantic_agent(shop, [], asks=True, **options)
    assert asyncio.run(again.run(message_history=history, deferred_tool_results=approvals)).output == "done"

    assert ran == RAN


# LiteLLM


def test_litellm_answers_each_call_from_the_step_that_was_sent(shop: Shop) -> None:
    refund = {
        "type": "function",
        "function": {"name": "refund_order", "description": "x", "parameters": {"type": "object"}},
    }
    call = {"id": "c", "type": "function", "function": {"name": "refund_order", "arguments": "{}"}}
    said: list[Any] = [{"role": "user", "content": "x"}]
    card = LiteLlm(engine=shop.engine)

    ready = card.prepare("openai/gpt-4.1", said, [refund])
    shop.new_tools()
    refused = ready.answer(call)

    assert refused is not None
    assert "is not active" in refused["content"]
    assert held_in([said, refused]) == []


# The card of every adapter


async def late(_: object) -> None:
    """Nobody would await it."""


ERRORS = {"handle_tool_errors": 7}
CARDS: Mapping[Any, Mapping[str, Any]] = {
    pydantic_ai.Cuecard: {**ERRORS, "turn": {}, "conversation": {}, "retries": True},
    openai_agents.Cuecard: {**ERRORS, "find": 7},
    adk.Cuecard: {**ERRORS, "turn": {}, "agents": 7, "name": 7},
    LiteLlm: {"turn": {}, "cache": "2h"},
    langchain.Cuecard: {**ERRORS, "turn": {}, "cache": "2h", "state_key": ""},
    langgraph.Cuecard: {**ERRORS, "cache": "2h", "state_key": ""},
}


@pytest.mark.parametrize("card", CARDS, ids=[card.__module__ for card in CARDS])
def test_what_is_wrong_is_refused_with_every_name_as_the_card_is_made(card: Any) -> None:
    wrong = {"engine": "prompts/cms", "on_call": late, "on_step": late, **CARDS[card]}

    with pytest.raises(InputError) as caught:
        card(**wrong)

    assert sorted(problem.name for problem in caught.value.problems) == sorted(wrong)


@pytest.mark.parametrize("card", CARDS, ids=[card.__module__ for card in CARDS])
def test_a_function_that_is_asked_for_something_may_not_be_asynchronous(card: Any, shop: Shop) -> None:
    asked = CARDS[card].keys() & {"turn", "conversation", "handle_tool_errors"}

    with pytest.raises(InputError) as caught:
        card(engine=shop.engine, **dict.fromkeys(asked, late))

    assert {problem.name for problem in caught.value.problems} == asked
    assert {problem.hint for problem in caught.value.problems} == {"await what it needs before the run"}


def test_a_function_that_finds_no_conversation_is_told_of_it_before_anything_is_sent(shop: Shop) -> None:
    nothing: Any = {}.get
    card = pydantic_ai.Cuecard(engine=shop.engine, conversation=lambda ctx: nothing(ctx.deps))

    with pytest.raises(InputError, match="`conversation` should be a Conversation, not None"):
        asyncio.run(PydanticAgent(TestModel(), capabilities=[card]).run("hello"))


@pytest.mark.parametrize("card", CARDS, ids=[card.__module__ for card in CARDS])
def test_what_a_card_keeps_for_itself_is_neither_asked_for_nor_shown(card: Any, shop: Shop) -> None:
    assert not [name for name in signature(card).parameters if name.startswith("_")]
    assert ", _" not in repr(card(engine=shop.engine))
