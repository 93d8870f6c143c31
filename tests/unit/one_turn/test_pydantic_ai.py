"""pydantic-ai: a text of one turn is in the requests of its run, and in no history."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import get_args

import pytest
from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from cuecard import Delivery, Engine, Turn
from cuecard.adapters.pydantic_ai import Cuecard

POLYANT = Path(__file__).parents[3] / "prompts/polyant"
SECRET = "ORDER-7-OF-JANA"  # noqa: S105 - what must not leak


@pytest.mark.parametrize("delivery", get_args(Delivery))
def test_the_context_of_a_webhook_is_in_its_own_run_alone(delivery: Delivery) -> None:
    wire: list[str] = []

    def model(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        wire.append(str(info.instructions) + repr([part for each in messages for part in each.parts]))
        return ModelResponse(parts=[TextPart("ok")])

    engine = Engine.open(POLYANT, delivery=delivery)
    turns = iter([Turn({"channel": "webhook", "context": SECRET}), Turn({"channel": "telegram", "userName": "Otto"})])
    card = Cuecard(engine=engine, turn=lambda _: next(turns), conversation=engine.conversation())
    agent = Agent(FunctionModel(model), capabilities=[card])
    first = asyncio.run(agent.run("event"))
    asyncio.run(agent.run("hi", message_history=first.all_messages()))

    assert [text.count(SECRET) for text in wire] == [1, 0]
    assert SECRET not in repr(first.all_messages()) or delivery == "rewrite"
