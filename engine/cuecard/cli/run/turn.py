"""One turn of a conversation: the user's message goes in, steps come out, and history and memory are carried on."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from datetime import datetime

from pydantic_ai import Agent
from pydantic_ai.exceptions import AgentRunError, UsageLimitExceeded
from pydantic_ai.messages import ModelMessage, ModelResponse
from pydantic_ai.models import Model
from pydantic_ai.usage import UsageLimits

from cuecard.adapters.assistant import ACKNOWLEDGE, FINAL_ANSWER, make_assistant
from cuecard.adapters.pydantic_messages import tool_results
from cuecard.cli.run.events import Answered, Asked, CallMade, Emit, StepTaken
from cuecard.config.assistant_file import AssistantFile
from cuecard.conversation import Conversation
from cuecard.engine import Engine
from cuecard.errors import most_telling
from cuecard.model import Memory, Step, ToolResult, Turn
from cuecard.outside.mcp import ToolServer


@dataclass(frozen=True, slots=True)
class Running:
    """An assistant that can be talked to: its tool server is open, and its engine knows the server's tools."""

    name: str
    file: AssistantFile
    engine: Engine
    server: ToolServer
    server_tools: tuple[str, ...]

    @classmethod
    async def on(cls, server: ToolServer, name: str, file: AssistantFile, engine: Engine) -> Running:
        """The assistant with the tools of this server."""
        cards = await server.tools()
        sys.stderr.write("".join(f"{problem.picture()}\n" for problem in most_telling(server.dropped)[0]))
        own = {engine.search_tool, FINAL_ANSWER, ACKNOWLEDGE}
        known = engine.with_tools(cards)
        names = tuple(card.name for card in cards if card.name not in own and card.name in known.tools)
        return cls(name, file, known, server, names)

    def turn(self, now: datetime | None) -> Turn:
        """What the engine is told of the next turn: a tool exists if the server has it, or the agent itself."""
        core = self.engine.core_tools
        return Turn(now=now, tools=tuple(dict.fromkeys((*core, *self.server_tools))))


@dataclass(frozen=True, slots=True)
class Talk:
    """A conversation so far: what the prompt engine remembers of it, the messages, and what was shown of them."""

    chat: Conversation
    messages: tuple[ModelMessage, ...] = ()
    steps: tuple[StepTaken, ...] = ()
    turns: tuple[Answered, ...] = ()


async def take_turn(
    running: Running, talk: Talk, user: str, model: Model, emit: Emit, now: datetime | None = None
) -> Talk:
    """The conversation after one more message of the user.

    Args:
        running: who is talked to.
        talk: the conversation so far.
        user: what the user writes.
        model: what decides.
        emit: told of the question, each step, and the answer.
        now: the time of the turn; None for the engine's clock.
    """
    number = len(talk.turns) + 1
    emit(Asked(running.name, number, user))
    turn = running.turn(now)
    everything: list[int] = []
    prepared: list[Step] = []
    retries, limits = running.file.retries, UsageLimits(request_limit=running.file.steps)
    agent = make_assistant(
        running.engine,
        model,
        running.server_tools,
        running.server.call,
        retries=retries,
        conversation=talk.chat,
        on_call=lambda _: everything.append(_with_all_protocols(running.engine, turn, talk.chat.memory)),
        on_step=prepared.append,
    )
    steps: list[StepTaken] = list(talk.steps)
    answered = Answered(running.name, number, "")
    async with agent.iter(user, deps=turn, message_history=talk.messages, usage_limits=limits) as run:
        response: ModelResponse | None = None
        try:
            async for node in run:
                if response is not None:
                    messages = [node.request] if Agent.is_model_request_node(node) else run.all_messages()[-1:]
                    before = steps[-1].manifest if steps else None
                    thought, made = _decision(response, tool_results(messages))
                    taken = len(steps) - len(talk.steps) + 1
                    told = (prepared[-1], before, everything[-1], thought, made)
                    steps.append(StepTaken(running.name, number, taken, *told))
                    emit(steps[-1])
                response = node.model_response if Agent.is_call_tools_node(node) else None
            answered = replace(answered, answer=run.result.output if run.result else "")
        except UsageLimitExceeded:
            answered = replace(answered, stopped=f"no answer within {running.file.steps} steps")
        except AgentRunError as error:
            answered = replace(answered, stopped=str(error))
        messages = run.all_messages()
    emit(answered)
    return Talk(talk.chat, tuple(messages), tuple(steps), (*talk.turns, answered))


def _with_all_protocols(engine: Engine, turn: Turn, memory: Memory) -> int:
    """Tokens of this turn's prompt if it always held the instructions of every tool."""
    frozen = engine.prepare_call(replace(turn, memory=memory, delivery="frozen"))
    return sum(segment.tokens for segment in frozen.prompt.segments)


def _decision(response: ModelResponse, results: tuple[ToolResult, ...]) -> tuple[str, tuple[CallMade, ...]]:
    by_id = {result.call_id: result for result in results}
    calls = []
    for call in response.tool_calls:
        result = by_id.get(call.tool_call_id, ToolResult(call.tool_name, None))
        calls.append(CallMade(call.tool_name, call.args_as_dict(), result.result, result.is_error))
    return "\n".join(part.content for part in response.parts if part.part_kind == "thinking"), tuple(calls)
