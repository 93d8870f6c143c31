"""A chat with a plain agent file: with the tools of servers and modules, or with none."""

from __future__ import annotations

import sys

from pydantic_ai.models import Model

from cuecard.adapters.assistant import ACKNOWLEDGE, FINAL_ANSWER
from cuecard.cli.run.chat import Ask, converse
from cuecard.cli.run.events import Emit
from cuecard.cli.run.options import ChatOptions
from cuecard.cli.run.sources import opened
from cuecard.cli.run.turn import Running, Talk
from cuecard.cli.step import assignments
from cuecard.cli.turn_file import read_turn
from cuecard.config.turn_file import TurnFile, to_turn
from cuecard.engine import Engine
from cuecard.errors import InputError, Problem
from cuecard.model import Turn

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
        running = Running.on(source, "chat", engine, own=own, base=base)
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


def _tell_unserved(running: Running) -> None:
    missing = [name for name in running.engine.agent.named if name not in {*running.own, *running.tools}]
    hint = "name its server with `--mcp`, or its module with `--tools-module`; the chat continues without it"
    for name in missing:
        told = Problem(
            "unserved-tool", f"no source provides the core tool `{name}`", hint, "cuecard run", severity="warning"
        )
        sys.stderr.write(f"{told.picture()}\n")
