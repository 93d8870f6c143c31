"""A chat with an agent."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from pydantic_ai.models import Model

from cuecard.adapters.mcp_client.client import ToolServer, open_server
from cuecard.config.assistant_file import AssistantFile
from cuecard.config.turn_file import TurnFile, to_turn
from cuecard.engine import Engine
from cuecard.errors import InputError, Problem
from cuecard.model import RunLimits, Turn
from cuecard.workbench.played import read_turn
from cuecard.workbench.run.assistant import ACKNOWLEDGE, FINAL_ANSWER
from cuecard.workbench.run.assistant_file import Assistant
from cuecard.workbench.run.events import Emit, ScenarioStart, totals
from cuecard.workbench.run.sources import ChatOptions, of_server, opened
from cuecard.workbench.run.turn import LiveAgent, Talk, take_turn
from cuecard.workbench.step import assignments

Ask = Callable[[], str | None]
"""Returns the user's next message; None at the end."""


async def chat(assistant: Assistant, engine: Engine, model: Model, data: Path, ask: Ask, emit: Emit) -> Talk:
    """Chat with an assistant until the user stops; returns the conversation.

    Raises:
        ToolServerError: when the tool server cannot be started or reached.
    """
    async with open_server(assistant.server(data, engine.clock())) as server:
        return await converse(await assistant_on(server, "chat", assistant.file, engine), model, ask, emit)


async def converse(running: LiveAgent, model: Model, ask: Ask, emit: Emit) -> Talk:
    """Chat until the user stops; returns the conversation.

    Raises:
        ToolServerError: when a tool server ends, or does not answer.
    """
    emit(ScenarioStart("chat", "", len(running.engine.tools)))
    talk = Talk(running.engine.conversation())
    while (said := ask()) is not None:
        if said.strip():
            talk = await take_turn(running, talk, said, model, emit)
    emit(totals("chat", talk.steps))
    return talk


async def assistant_on(server: ToolServer, name: str, file: AssistantFile, engine: Engine) -> LiveAgent:
    """The assistant with the tools of its server; its core tools exist in any case.

    Raises:
        ToolServerError: when the server cannot list its tools.
    """
    source = await of_server(server)
    over = RunLimits(file.steps, file.retries, first_tool=file.first_tool)
    return LiveAgent.on(source, name, engine, own=engine.agent.named, over=over)


_LIVE = ("history", "messages", "message", "discovered", "tools")
"""What a chat supplies itself."""


async def chat_with(engine: Engine, options: ChatOptions, model: Model, ask: Ask, emit: Emit) -> Talk:
    """Chat with an agent until the user stops; returns the conversation.

    Raises:
        InputError: when an option is wrong, or an input is missing.
        ToolServerError: when a tool server cannot be started or reached.
    """
    base = base_turn(engine, options)
    async with opened(options.sources) as source:
        own = tuple(name for name in (engine.search_tool, FINAL_ANSWER, ACKNOWLEDGE) if name in engine.tools)
        running = LiveAgent.on(source, "chat", engine, own=own, base=base)
        _tell_cuts(running.engine)
        _tell_unserved(running)
        return await converse(running, model, ask, emit)


def base_turn(engine: Engine, options: ChatOptions) -> Turn:
    """What the host knows of every turn.

    Raises:
        SpecError: when the turn file is wrong.
        InputError: when it contains what a chat supplies itself, or an input is wrong.
    """
    file = read_turn(options.turn) if options.turn else TurnFile()
    said = [key for key in _LIVE if getattr(file, key) != getattr(TurnFile(), key)]
    if said:
        hint = "remove it; `cuecard render` shows the prompt of such a turn"
        raise InputError(
            Problem("wrong-option", f"a chat supplies `{key}` itself, so a turn file cannot", hint, "--turn")
            for key in said
        )
    turn = to_turn(file, {**file.inputs, **assignments(engine, options.values)})
    engine.prepare_call(turn)  # a wrong input is reported before the first question
    return turn


def _tell_cuts(engine: Engine) -> None:
    for cut in engine.tool_cuts:
        told = Problem("server-tool", f"{cut.what} is {cut.reason}", "", "cuecard run", severity="warning")
        sys.stderr.write(f"{told.picture()}\n")


def _tell_unserved(running: LiveAgent) -> None:
    missing = [name for name in running.engine.agent.named if name not in {*running.own, *running.tools}]
    hint = "name its server with `--mcp`, or its module with `--tools-module`; the chat continues without it"
    for name in missing:
        told = Problem(
            "unserved-tool", f"no source provides the core tool `{name}`", hint, "cuecard run", severity="warning"
        )
        sys.stderr.write(f"{told.picture()}\n")


def asker(messages: Sequence[str]) -> Callable[[], str | None]:
    """A function that returns one message after another, and None at the end.

    Args:
        messages: the user's messages; without any, they are read from the terminal, or line by line from a pipe.
    """
    if messages:
        said = iter(messages)
        return lambda: next(said, None)
    ask = _typed if sys.stdin.isatty() else _piped
    return lambda: _until_interrupted(ask)


def _until_interrupted(ask: Callable[[], str | None]) -> str | None:
    """What this function returns. Ctrl-C ends the input, not the event loop that the servers need; and one that came
    just before, which waits for the loop, does so as well.
    """
    task = _running_task()
    if task and task.cancelling():
        return None
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return ask()
    except (EOFError, KeyboardInterrupt):
        sys.stderr.write("\n")
        return None
    finally:
        signal.signal(signal.SIGINT, handler)


def _running_task() -> asyncio.Task[Any] | None:
    try:
        return asyncio.current_task()
    except RuntimeError:  # no loop
        return None


def _piped() -> str | None:
    line = sys.stdin.readline()
    return line.rstrip("\r\n") if line else None


def _typed() -> str:
    if sys.stdout.isatty():
        return input("> ")
    sys.stderr.write("> ")  # no prompts if the output goes into a file
    sys.stderr.flush()
    return input()
