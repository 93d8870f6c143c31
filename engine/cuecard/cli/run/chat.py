"""A chat: the user types, and history and working memory are kept until the end."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from pydantic_ai.models import Model

from cuecard.adapters.mcp_client.client import ToolServer, open_server
from cuecard.cli.run.events import Began, Emit, totals
from cuecard.cli.run.sources import of_server
from cuecard.cli.run.turn import Running, Talk, take_turn
from cuecard.config.assistant_file import AssistantFile
from cuecard.engine import Engine
from cuecard.outside.assistant import Assistant

Ask = Callable[[], str | None]
"""Returns the user's next message; None at the end."""


async def chat(assistant: Assistant, engine: Engine, model: Model, data: Path, ask: Ask, emit: Emit) -> Talk:
    """Chat with an assistant until the user stops; returns the conversation.

    Raises:
        ToolServerError: when the tool server cannot be started or reached.
    """
    async with open_server(assistant.server(data, engine.clock())) as server:
        return await converse(await assistant_on(server, "chat", assistant.file, engine), model, ask, emit)


async def converse(running: Running, model: Model, ask: Ask, emit: Emit) -> Talk:
    """Chat until the user stops; returns the conversation.

    Raises:
        ToolServerError: when a tool server ends, or does not answer.
    """
    emit(Began("chat", "", len(running.engine.tools)))
    talk = Talk(running.engine.conversation())
    while (said := ask()) is not None:
        if said.strip():
            talk = await take_turn(running, talk, said, model, emit)
    emit(totals("chat", talk.steps))
    return talk


async def assistant_on(server: ToolServer, name: str, file: AssistantFile, engine: Engine) -> Running:
    """The assistant with the tools of its server; its core tools exist in any case.

    Raises:
        ToolServerError: when the server cannot list its tools.
    """
    source = await of_server(server)
    return Running.on(source, name, engine, own=engine.agent.named, steps=file.steps, retries=file.retries)
