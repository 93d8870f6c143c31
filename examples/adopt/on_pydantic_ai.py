"""The conversation with a host of pydantic-ai, by the framework's own `FunctionModel`."""

from __future__ import annotations

import asyncio
from typing import Any

from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from cuecard import Engine
from customer import Customer
from talk import MESSAGES, Meter, ToolUse


def converse(host: dict[str, Any], meter: Meter, *engine: Engine) -> list[str]:
    """What the agent answers."""

    def model(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        shown = [(each.name, each.description or "", each.parameters_json_schema) for each in info.function_tools]
        parts = [part for message in messages for part in message.parts]
        said = [getattr(part, "content", None) or getattr(part, "args", None) for part in parts]
        due = meter.decide(info.instructions or "", shown, said)
        return ModelResponse([ToolCallPart(due.tool, due.arguments) if isinstance(due, ToolUse) else TextPart(due)])

    agent = host["build"](FunctionModel(model), *engine)
    history: list[ModelMessage] = []
    answers = []
    for message in MESSAGES:
        done = asyncio.run(agent.run(meter.say(message), deps=Customer(), message_history=history))
        history = done.all_messages()
        answers.append(done.output)
    return answers
