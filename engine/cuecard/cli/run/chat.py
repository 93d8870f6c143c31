"""A chat on the terminal: what the user types goes in, history and working memory are kept until the end of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from pydantic_ai.models import Model

from cuecard.cli.run.events import Began, Emit, totals
from cuecard.cli.run.turn import Running, Talk, take_turn
from cuecard.engine import Engine
from cuecard.outside.assistant import Assistant
from cuecard.outside.mcp import open_server

Ask = Callable[[], str | None]
"""The next message of the user; None when there is none any more."""


async def chat(assistant: Assistant, engine: Engine, model: Model, data: Path, ask: Ask, emit: Emit) -> None:
    """Talk until the user stops.

    Raises:
        ToolServerError: when the tool server cannot be started or spoken to.
    """
    async with open_server(assistant.server(data, engine.clock())) as server:
        running = await Running.on(server, "chat", assistant.file, engine)
        emit(Began("chat", "", len(running.engine.tools)))
        talk = Talk(running.engine.conversation())
        while (said := ask()) is not None:
            if said.strip():
                talk = await take_turn(running, talk, said, model, emit)
        emit(totals("chat", talk.steps))
