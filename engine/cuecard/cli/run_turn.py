"""One turn of a conversation: the user's message goes in, steps come out, and history and memory are carried on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from pydantic_ai import Agent
from pydantic_ai.exceptions import AgentRunError, UsageLimitExceeded
from pydantic_ai.messages import ModelMessage, ModelResponse
from pydantic_ai.models import Model
from pydantic_ai.run import AgentRun
from pydantic_ai.usage import UsageLimits

from cuecard.adapters.assistant import make_assistant
from cuecard.adapters.pydantic_messages import tool_results
from cuecard.cli.run_events import Answered, Asked, CallMade, Emit, StepTaken
from cuecard.engine import Engine
from cuecard.model import Memory, Step, ToolResult, Turn
from cuecard.outside.mcp import ToolServer
from cuecard.spec.assistant_file import AssistantFile


@dataclass(frozen=True, slots=True)
class Running:
    """An assistant that is ready to be talked to: its engine knows the tools of the server that is open."""

    name: str
    file: AssistantFile
    engine: Engine
    server: ToolServer
    tools: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Talk:
    """A conversation so far."""

    messages: tuple[ModelMessage, ...] = ()
    memory: Memory = Memory()
    steps: tuple[StepTaken, ...] = ()
    turns: int = 0


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
    engine, file = running.engine, running.file
    emit(Asked(running.name, talk.turns + 1, user))
    turn = Turn(memory=talk.memory, now=now, tools=running.tools)
    recorder = _Recorder(running.name, talk, _everything(engine, turn))
    agent = make_assistant(
        engine, model, running.server_tools, running.server.call, retries=file.retries, on_step=recorder.begin
    )
