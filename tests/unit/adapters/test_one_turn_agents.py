"""Texts of one turn in runs of the OpenAI Agents SDK: in the requests of their turn, and in nothing that is kept."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import httpx2
import pytest
from agents import (
    Agent,
    GuardrailFunctionOutput,
    OpenAIChatCompletionsModel,
    OpenAIProvider,
    OpenAIResponsesModel,
    RunConfig,
    Runner,
    SQLiteSession,
    UserError,
    function_tool,
    input_guardrail,
)
from agents.testing import ScriptedModel, assistant_message, function_call
from openai import AsyncOpenAI

from cuecard import InputError, Turn
from cuecard.adapters.openai_agents import Cuecard
from cuecard.adapters.openai_agents.run import provider_keeps_history
from unit.adapters.model_server import ToLoopback, model_server
from unit.adapters.one_turn_hosts import BATCHES, CASES, NOW, WORDS, check, engine, pairs, turn_of

pytestmark = pytest.mark.filterwarnings("ignore:agent .* has no tool")  # their one tool has no entry
QUIET = RunConfig(tracing_disabled=True)
RUNTIME = "## Runtime Facts"


@function_tool
def look(at: str) -> str:
    return f"seen {at}"


def pieces(body: dict[str, Any]) -> list[str]:
    front = [body["instructions"]] if "instructions" in body else []
    return [json.dumps(each) for each in [*front, *body.get("input", body.get("messages", ()))]]


@pytest.mark.parametrize(
    ("name", "kind", "how"), pairs([OpenAIResponsesModel, OpenAIChatCompletionsModel], ["whole", "streamed"])
)
def test_a_text_of_one_turn_is_in_its_own_requests_and_in_no_session(name: str, kind: Any, how: str) -> None:
    text, session, seen = CASES[name][0], SQLiteSession("talk"), list[str]()

    async def say(url: str, turn: int, stored: str) -> str:
        client = AsyncOpenAI(
            api_key="k",
            base_url="https://api.openai.com/v1",
            http_client=httpx2.AsyncClient(transport=ToLoopback(url)),
        )
        card = Cuecard(engine(name))
        agent: Agent[Any] = Agent("one", model=kind("gpt-5.4", client), tools=card.tools([look]))
        chat = engine(name).load(stored) if stored else engine(name).conversation()
        options = card.options(turn_of(name, turn), chat, config=QUIET)
        async with client:
            if how == "streamed":
                run = Runner.run_streamed(agent, WORDS[turn], session=session, **options)
                seen.extend([repr(event) async for event in run.stream_events()])
                items = run.to_input_list()
            else:
                items = (await Runner.run(agent, WORDS[turn], session=session, **options)).to_input_list()
        assert text not in repr(items)
        assert text not in repr(await session.get_items())
        return engine(name).dump(chat, ended=True)

    with model_server(BATCHES) as server:
        stored = ""
        for turn in range(len(WORDS)):
            stored = asyncio.run(say(server.url, turn, stored))
            assert text not in stored
        sent = server.sent
    session.close()

    check([pieces(body) for body in sent], text, [RUNTIME])
    assert text not in "".join(seen)


def test_inputs_that_may_change_are_asked_for_with_each_request() -> None:
    asked = list[int]()
    calls = [function_call("look", {"at": "x"}, call_id=f"c{number}") for number in range(2)]
    model = ScriptedModel([[calls[0]], [calls[1]], [assistant_message("done")]])

    def turn() -> Turn:
        asked.append(len(asked))
        inputs: dict[str, Any] = {"os": f"os-{asked[-1]}"}
        return Turn(inputs | ({"retry_instruction": "TRY-ANOTHER-WAY"} if asked[-1] == 1 else {}), now=NOW)

    card = Cuecard(engine("pioneer"))
    agent: Agent[Any] = Agent("one", model=model, tools=card.tools([look]))
    asyncio.run(Runner.run(agent, "go", **card.options(turn, config=QUIET)))

    first, second, third = ([repr(item) for item in call.input] for call in model.calls)
    assert asked == [0, 1, 2]
    assert second[: len(first)] == first
    assert third[: len(second)] == second
    assert [repr(call).count("TRY-ANOTHER-WAY") for call in (first, second, third)] == [0, 1, 1]
    assert not any("os-1" in str(call.system_instructions) for call in model.calls)


KEPT: list[dict[str, Any]] = [
    {"previous_response_id": "resp_1"},
    {"conversation_id": "conv_1"},
    {"auto_previous_response_id": True},
]


async def whole(agent: Agent[Any], said: str, **options: Any) -> str:
    return str((await Runner.run(agent, said, **options)).final_output)


async def streamed(agent: Agent[Any], said: str, **options: Any) -> str:
    result = Runner.run_streamed(agent, said, **options)
    async for _ in result.stream_events():
        pass
    return str(result.final_output)


@pytest.mark.parametrize("kept", KEPT, ids=lambda kept: next(iter(kept)))
@pytest.mark.parametrize("how", [whole, streamed])
def test_a_history_that_the_provider_keeps_is_refused_before_anything_is_sent(how: Any, kept: dict[str, Any]) -> None:
    card, model = Cuecard(engine("polyant")), ScriptedModel([[assistant_message("done")]] * 2)
    agent: Agent[Any] = Agent("one", model=model, tools=card.tools([look]))
    chat = engine("polyant").conversation()
    options = card.options(turn_of("polyant", 0), chat, config=QUIET)

    with pytest.raises(InputError, match=r"`conversation-context` lives for one turn.*\n?.*system-only"):
        asyncio.run(how(agent, "hello", **options, **kept))
    assert not model.calls
    assert chat.call is None

    asyncio.run(how(agent, "hello", **options))
    alone = Turn({"context": "ORDER-7-OF-JANA"}, now=NOW, host="system-only")
    asyncio.run(how(agent, "hello", **card.options(alone, config=QUIET), **kept))
    assert ["ORDER-7-OF-JANA" in str(call.system_instructions) for call in model.calls] == [False, True]


async def untouched(data: Any) -> Any:
    await asyncio.sleep(0)
    return data.model_data


@input_guardrail
async def passes(*_: Any) -> GuardrailFunctionOutput:
    return GuardrailFunctionOutput(None, tripwire_triggered=False)


def test_it_is_noticed_behind_guardrails_and_filters_and_where_a_provider_makes_the_model() -> None:
    card = Cuecard(engine("polyant"))
    agent: Agent[Any] = Agent("one", model="gpt-5.4", tools=card.tools([look]), input_guardrails=[passes])

    async def say(url: str, **kept: Any) -> None:
        client = httpx2.AsyncClient(transport=ToLoopback(url))
        config = RunConfig(
            tracing_disabled=True,
            model_provider=OpenAIProvider(openai_client=AsyncOpenAI(api_key="k", http_client=client)),
            call_model_input_filter=untouched,
        )
        async with client:
            await Runner.run(agent, "hello", **card.options(turn_of("polyant", 1), config=config), **kept)

    with model_server([[]] * 2) as server:
        with pytest.raises(InputError, match="kept-history"):
            asyncio.run(say(server.url, previous_response_id="resp_1"))
        asyncio.run(say(server.url))
        sent = server.sent

    assert ["previous_response_id" in body for body in sent] == [False]


@pytest.mark.parametrize("inner", [{}, KEPT[0]], ids=["outer", "inner"])
def test_the_history_of_a_run_within_another_is_its_own(inner: dict[str, Any]) -> None:
    card, model = Cuecard(engine("polyant")), ScriptedModel([[assistant_message("done")]])
    one: Agent[Any] = Agent("one", model=model, tools=card.tools([look]))

    @function_tool(failure_error_function=None)
    async def ask(question: str) -> str:
        return await whole(one, question, **card.options(turn_of("polyant", 0), config=QUIET), **inner)

    calls = ScriptedModel([[function_call("ask", {"question": "what?"}, call_id="c")], [assistant_message("done")]])
    outer: Agent[Any] = Agent("outer", model=calls, tools=[ask])
    kept = {} if inner else KEPT[0]

    if inner:
        with pytest.raises(UserError, match="kept-history"):
            asyncio.run(whole(outer, "hello", run_config=QUIET, **kept))
    else:
        asyncio.run(whole(outer, "hello", run_config=QUIET, **kept))
    assert len(model.calls) == (0 if inner else 1)


def test_an_agent_that_is_handed_a_run_is_refused_where_the_first_has_no_prompt() -> None:
    card, model = Cuecard(engine("polyant")), ScriptedModel([[assistant_message("done")]])
    one: Agent[Any] = Agent("one", model=model, tools=card.tools([look]))
    first: Agent[Any] = Agent(
        "first", model=ScriptedModel([[function_call("transfer_to_one", {}, call_id="c")]]), handoffs=[one]
    )

    with pytest.raises(InputError, match="kept-history"):
        asyncio.run(
            whole(first, "hello", **card.options(turn_of("polyant", 0), config=QUIET), auto_previous_response_id=True)
        )
    assert not model.calls


@pytest.mark.parametrize("said", [False, True], ids=["noticed", "said"])
def test_an_agent_without_such_texts_is_not_refused_there(*, said: bool) -> None:
    card, model = Cuecard(engine("cms")), ScriptedModel([[assistant_message("done")]])
    agent: Agent[Any] = Agent("one", model=model, tools=card.tools([look]))

    options = card.options(Turn(now=NOW), config=QUIET, kept=said)
    asyncio.run(Runner.run(agent, "hello", previous_response_id="r", **options))

    assert len(model.calls) == 1


def test_a_host_may_say_it_where_the_runner_is_passed_nothing() -> None:
    assert provider_keeps_history() is False
    card, model = Cuecard(engine("polyant")), ScriptedModel([[assistant_message("done")]])
    agent: Agent[Any] = Agent("one", model=model, tools=card.tools([look]))

    with pytest.raises(InputError, match="kept-history"):
        asyncio.run(whole(agent, "hello", **card.options(turn_of("polyant", 0), config=QUIET, kept=True)))
    assert not model.calls


@pytest.mark.parametrize(("name", "left"), [("claude-opus-5-5", ["T0"]), ("claude-opus-4-8", ["T0", "T1"])])
def test_thinking_of_an_ended_turn_leaves_where_the_model_checks_it(name: str, left: list[str]) -> None:
    card, model = Cuecard(engine("polyant")), ScriptedModel([[assistant_message("done")]] * 3)
    model.model = name  # type: ignore[attr-defined]  # as LiteLLM's model has it
    agent: Agent[Any] = Agent("one", model=model, tools=card.tools([look]))
    chat = engine("polyant").conversation()
    said: list[Any] = []
    for number in range(3):
        said.append({"role": "user", "content": WORDS[number]})
        asyncio.run(Runner.run(agent, list(said), **card.options(turn_of("polyant", number), chat, config=QUIET)))
        said.append(
            {"type": "reasoning", "id": f"r{number}", "summary": [{"type": "summary_text", "text": f"T{number}"}]}
        )
        said.append({"role": "assistant", "content": "done"})

    last = model.calls[-1].input
    assert [word for word in ("T0", "T1") if word in repr(last)] == left
    assert "ORDER-7-OF-JANA" not in repr(last)
