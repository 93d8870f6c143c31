"""Rows of the table of the five systems as hosts meet them: turns of a conversation, in a loop and on pydantic-ai."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

from pydantic_ai import Agent, Tool
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    SystemPromptPart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.profiles import ModelProfile

from cuecard import Conversation, CuecardError, Engine, InputError, Message, Step, ToolResult, Turn
from cuecard.adapters import openai
from cuecard.adapters.pydantic_ai import Cuecard
from cuecard.types import DeliveryWish

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "tests" / "cases" / "systems" / "README.md"
CELL = re.compile(r"(?<!\\)\|")
PROOF = re.compile(r"`(tests/[^`\s]+)`")

WORDS = "hello"
"""What the user says where a turn has no message."""


@dataclass(frozen=True)
class Row:
    """A row of the page."""

    id: str
    behaviour: str
    proof: str

    @property
    def proofs(self) -> list[str]:
        """The tests and cases that it names."""
        return PROOF.findall(self.proof)

    @property
    def cases(self) -> list[str]:
        """The cases among them that are turns of a shipped system."""
        return [each for each in self.proofs if each.startswith("tests/cases/systems/")]

    @property
    def is_out(self) -> bool:
        """Whether it gives a reason in place of a conversation."""
        return self.proof.startswith("out of scope")


@cache
def chapters() -> dict[str, list[Row]]:
    """Heading to the rows of its table."""
    parts = re.split(r"^## (.*)\n", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {title: [*_rows(text)] for title, text in zip(parts[1::2], parts[2::2], strict=True)}


def _rows(text: str) -> Iterator[Row]:
    lines = [CELL.split(line.strip())[1:-1] for line in text.splitlines() if line.startswith("|")]
    for cells in lines[2:]:
        row, behaviour, proof = (cell.strip() for cell in cells)
        yield Row(row, behaviour, proof)


@cache
def rows_proved_by(test: str) -> list[str]:
    """The rows that name a test."""
    return [row.id for rows in chapters().values() for row in rows if test in row.proofs]


@dataclass(frozen=True)
class Sent:
    """The first request of a turn: the system prompt, the texts of messages, the offered tools, and its step."""

    system: str
    messages: tuple[str, ...]
    offered: tuple[str, ...]
    step: Step

    @property
    def text(self) -> str:
        return "\n".join([self.system, *self.messages])

    @property
    def lines(self) -> list[str]:
        return lines(self.text)


def lines(text: str) -> list[str]:
    """The lines that say something."""
    return [line.strip() for line in text.splitlines() if line.strip()]


@dataclass(frozen=True)
class Asked:
    """A turn of the host, and the results that were stored before its request; the engine that goes on, if another."""

    turn: Turn
    results: tuple[ToolResult, ...] = ()
    engine: Engine | None = None


def in_a_loop(engine: Engine, asked: Iterable[Asked]) -> list[Sent]:
    """The requests of a host that sends what the engine says, in OpenAI's form.

    Raises:
        CuecardError: when a turn is refused.
    """
    chat, sent, kept = engine.conversation(), list[Sent](), list[dict[str, Any]]()
    for each in asked:
        chat, engine = _goes_on(chat, engine, each)
        chat.user(each.turn)
        step = chat.step(each.results)
        stack = [message for message in step.messages if not _is_system_prompt(message, step)]
        said = [_wire(message) for message in stack] or [*kept, {"role": "user", "content": WORDS}]
        tools: list[dict[str, Any]] = [
            {"type": "function", "function": {"name": name}} for name in _there(engine, each)
        ]
        body = openai.chat_request(step, [*said, *_results(each.results)], model="gpt-5.2", tools=tools)
        front, *others = body["messages"] if step.system.strip() else [{"content": ""}, *body["messages"]]
        told = [_text(message["content"]) for message in others if message["role"] != "tool" and message["content"]]
        offered = tuple(tool["function"]["name"] for tool in body.get("tools", ()))
        sent.append(Sent(front["content"], tuple(told), offered, step))
        kept = [*said, {"role": "assistant", "content": "Done."}]
    return sent


def _goes_on(chat: Conversation, engine: Engine, asked: Asked) -> tuple[Conversation, Engine]:
    """The conversation with the engine of this turn."""
    if asked.engine is None:
        return chat, engine
    return asked.engine.conversation(chat.state), asked.engine


def _is_system_prompt(message: Message, step: Step) -> bool:
    return message.role == "system" and not message.persist and message.content == step.system


def _wire(message: Message) -> dict[str, Any]:
    made: dict[str, Any] = {"role": message.role, "content": message.to_json()["content"]}
    if message.tool_calls:
        made["tool_calls"] = [_call(call.id, call.name, dict(call.arguments)) for call in message.tool_calls]
    return made | ({"tool_call_id": message.tool_call_id} if message.tool_call_id else {})


def _call(call: str | None, name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    return {"id": call, "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}


def _results(results: Sequence[ToolResult]) -> Iterator[dict[str, Any]]:
    for result in results:
        yield {"role": "assistant", "content": None, "tool_calls": [_call(result.call_id, result.tool, {})]}
        yield {"role": "tool", "tool_call_id": result.call_id, "content": json.dumps(result.result)}


def _text(content: Any) -> str:
    return content if isinstance(content, str) else json.dumps(content, indent=1)


def on_pydantic_ai(engine: Engine, asked: Iterable[Asked]) -> list[Sent]:
    """The requests of a host on pydantic-ai, which keeps the messages itself."""
    sent, history, steps = list[Sent](), list[ModelMessage](), list[Step]()
    chat = engine.conversation()

    async def model(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        parts = (part for message in messages for part in message.parts)
        told = [str(part.content) for part in parts if isinstance(part, SystemPromptPart | UserPromptPart)]
        offered = tuple(tool.name for tool in info.function_tools)
        sent.append(Sent(info.instructions or "", tuple(told), offered, steps[-1]))
        return ModelResponse(parts=[TextPart("Done.")])

    function = FunctionModel(model, profile=ModelProfile(supports_inline_system_prompts=True))
    for each in asked:
        chat, engine = _goes_on(chat, engine, each)
        there = engine.tools if each.turn.tools is None else each.turn.tools
        card = Cuecard(
            engine=engine, turn=replace(each.turn, tools=tuple(there)), conversation=chat, on_step=steps.append
        )
        tools = [
            Tool.from_schema(_nothing, name, name, {"type": "object"}) for name in there if name != engine.search_tool
        ]
        agent = Agent(function, capabilities=[card], tools=tools)
        run = agent.run(WORDS, message_history=[*history, *_stored(each.results)])
        history = asyncio.run(run).all_messages()
    return sent


def _there(engine: Engine, asked: Asked) -> tuple[str, ...]:
    return tuple(engine.tools) if asked.turn.tools is None else asked.turn.tools


def _nothing(**_: Any) -> str:
    return ""


def _stored(results: Sequence[ToolResult]) -> Iterator[ModelMessage]:
    if results:
        yield ModelRequest(parts=[UserPromptPart("Earlier.")])
    for each in results:
        call, name = each.call_id or "call", each.tool
        yield ModelResponse(parts=[ToolCallPart(name, {}, call)])
        outcome: Any = "failed" if each.is_error else "success"
        yield ModelRequest(parts=[ToolReturnPart(name, each.result, call, outcome=outcome)])


@cache
def _opened(agent: Path) -> Engine:
    return Engine.open(agent)


def opened(agent: Path, delivery: DeliveryWish | None = None) -> Engine:
    """The engine of an agent file, opened once in each process whatever its deliveries."""
    engine = _opened(agent)
    return replace(engine, delivery=delivery) if delivery else engine


Play: TypeAlias = Callable[[Engine, Iterable[Asked]], list[Sent]]
"""A host."""


def records(step: Step) -> list[str]:
    """What the manifest says was left out, or is wrong, as a case writes it down."""
    cuts = [f"left out: {cut.what}: {cut.reason}" for cut in step.manifest.cuts]
    return [*cuts, *(f"diagnostic {each.code}: {each.message}" for each in step.manifest.diagnostics)]


def refused(play: Play, engine: Engine, asked: Sequence[Asked]) -> str:
    """The error of a conversation as a case writes it down; empty if there is none."""
    try:
        play(engine, asked)
    except CuecardError as error:
        return told(error)
    return ""


def told(error: CuecardError) -> str:
    """An error as `cuecard render` ends with it."""
    return f"exit {2 if isinstance(error, InputError) else 1}\n\n{error}\n"
