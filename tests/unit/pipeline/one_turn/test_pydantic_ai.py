"""pydantic-ai: a text of one turn is in the requests of its run, and in no history."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any, get_args

import httpx2
import pytest
from openai import AsyncOpenAI
from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ThinkingPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.models.openai import OpenAIResponsesModel, OpenAIResponsesModelSettings
from pydantic_ai.providers.openai import OpenAIProvider

from cuecard import Engine, InputError, Turn
from cuecard.adapters.pydantic_ai import Cuecard
from cuecard.types import Delivery, Host
from unit.adapters.model_server import ToLoopback, model_server

POLYANT = Path(__file__).parents[4] / "prompts/polyant"
SECRET = "ORDER-7-OF-JANA"  # noqa: S105 - what must not leak


@pytest.mark.parametrize(("name", "left"), [("claude-opus-5-5", ["T0"]), ("claude-opus-4-8", ["T0", "T1"])])
def test_thinking_of_an_ended_turn_leaves_where_the_model_checks_it(name: str, left: list[str]) -> None:
    sent: list[list[ModelMessage]] = []

    def model(messages: list[ModelMessage], _: AgentInfo) -> ModelResponse:
        sent.append(messages)
        return ModelResponse(parts=[ThinkingPart(f"T{len(sent) - 1}"), TextPart("ok")])

    engine = Engine.open(POLYANT, delivery="append")
    turns = iter([Turn(), Turn({"context": SECRET}), Turn()])
    card = Cuecard(engine=engine, turn=lambda _: next(turns), conversation=engine.conversation())
    agent, history = Agent(FunctionModel(model, model_name=name), capabilities=[card]), list[ModelMessage]()
    for words in ("hello", "what came in?", "and now?"):
        history = asyncio.run(agent.run(words, message_history=history)).all_messages()

    assert [word for word in ("T0", "T1") if f"'{word}'" in repr(sent[-1])] == left
    assert [len(messages) for messages in sent] == [1, 3, 5]
    assert [SECRET in repr(messages) for messages in (*sent, history)] == [False, True, False, False]


@pytest.mark.parametrize("delivery", get_args(Delivery))
def test_a_turn_that_is_a_function_is_asked_for_each_request(delivery: Delivery, tmp_path: Path) -> None:
    """The retry instruction of a request follows its last result, and is gone with the run."""
    (tmp_path / "agent.yaml").write_text(
        "agent: a\ninputs: {retry: {tier: step, default: ''}}\ntools: {core: all}\n"
        "sections:\n  - {id: rules, text: Be kind.}\n  - {id: retry, when: retry, text: '{{{retry}}}'}\n",
        encoding="utf-8",
    )
    wire: list[str] = []
    said = ["", "TRY ONCE MORE", "", ""]

    def model(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        wire.append(str(info.instructions) + repr([part for each in messages for part in each.parts]))
        again = len(wire) in {1, 2}
        return ModelResponse(parts=[ToolCallPart("look", {}) if again else TextPart("ok")])

    def look() -> str:
        """Look."""
        return "nothing"

    engine = Engine.open(tmp_path, delivery=delivery)
    card = Cuecard(engine=engine, turn=lambda _: Turn({"retry": said[len(wire)]}), conversation=engine.conversation())
    agent = Agent(FunctionModel(model), tools=[look], capabilities=[card])
    first = asyncio.run(agent.run("go"))
    asyncio.run(agent.run("on", message_history=first.all_messages()))

    assert ["TRY ONCE MORE" in text for text in wire] == [False, True, delivery != "rewrite", False]
    assert "TRY ONCE MORE" not in repr(first.all_messages()) or delivery == "rewrite"


@pytest.mark.parametrize(
    "kept", [{"openai_previous_response_id": "resp_1"}, {"openai_conversation_id": "conv_1"}], ids=["response", "talk"]
)
def test_a_history_that_the_provider_keeps_is_refused_before_anything_is_sent(kept: Any) -> None:
    engine, sent = Engine.open(POLYANT, delivery="append"), list[str]()
    chat = engine.conversation()

    def model(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        sent.append(str(info.instructions))
        return ModelResponse(parts=[TextPart("ok")])

    def run(host: Host, settings: Any) -> None:
        card = Cuecard(engine=engine, turn=Turn({"context": SECRET}, host=host), conversation=chat)
        asyncio.run(Agent(FunctionModel(model), capabilities=[card], model_settings=settings).run("event"))

    with pytest.raises(InputError, match=r"`conversation-context` lives for one turn.*\n?.*system-only"):
        run("messages", kept)
    assert chat.call is None
    assert not sent

    run("system-only", kept)
    assert SECRET in sent[-1]


def test_a_reference_to_the_last_response_is_left_out_where_a_text_of_its_turn_is_gone() -> None:
    """pydantic-ai compares what was sent then with what would be sent now, so that nothing needs to be refused."""
    engine, turns = Engine.open(POLYANT, delivery="append"), iter([Turn({"context": SECRET}), Turn()])

    async def talk(url: str) -> None:
        client = httpx2.AsyncClient(transport=ToLoopback(url))
        provider = OpenAIProvider(openai_client=AsyncOpenAI(api_key="k", http_client=client))
        card = Cuecard(engine=engine, turn=lambda _: next(turns), conversation=engine.conversation())
        settings = OpenAIResponsesModelSettings(openai_previous_response_id="auto")
        agent = Agent(OpenAIResponsesModel("gpt-5.4", provider=provider), capabilities=[card], model_settings=settings)
        async with client:
            first = await agent.run("event")
            await agent.run("hi", message_history=first.all_messages())

    with model_server() as server:
        asyncio.run(talk(server.url))
        sent = server.sent
    assert [SECRET in str(body) for body in sent] == [True, False]
    assert not any("previous_response_id" in body for body in sent)
