"""pydantic-ai: texts of one turn or one request, which are in the requests of their turn and in no history."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Literal

from pydantic_ai.messages import (
    CachePoint,
    ModelMessage,
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    SystemPromptPart,
    ThinkingPart,
    ToolReturnPart,
    UserPromptPart,
)

from cuecard.adapters.one_turn import ended_turns, in_ended_turns
from cuecard.adapters.pydantic_messages import home_of, with_block
from cuecard.adapters.turns import Read, turn_places
from cuecard.model import Appended, Step


def place_passing(messages: Sequence[ModelMessage], step: Step, run: str | None) -> list[ModelMessage]:
    """The messages of one request with the texts that do not stay: with the run's first message, behind a result, or at
    the end.
    """
    placed = list(messages)
    for block in step.appended:
        if not block.stays:
            index, request = _home(placed, block, run)
            placed[index] = replace(request, parts=with_block(request.parts, SystemPromptPart(content=block.text)))
    return placed


def _home(messages: Sequence[ModelMessage], block: Appended, run: str | None) -> tuple[int, ModelRequest]:
    requests = [(index, message) for index, message in enumerate(messages) if isinstance(message, ModelRequest)]
    if block.after_call_id is None and block.turn is not None:
        return next(((index, each) for index, each in requests if run and each.run_id == run), requests[-1])
    return home_of(messages, block.after_call_id)


def without_ended_thinking(messages: Sequence[ModelMessage], step: Step) -> list[ModelMessage]:
    """The messages without the thinking of ended turns, for models that check it against what stands before it."""
    places = {place for held in in_ended_turns(_read(messages), step) for place in held}
    bare = [_without_thinking(message) if at in places else message for at, message in enumerate(messages)]
    return [message for message in bare if message.parts]


def _without_thinking(message: ModelMessage) -> ModelMessage:
    if not isinstance(message, ModelResponse):
        return message
    return replace(message, parts=[part for part in message.parts if not isinstance(part, ThinkingPart)])


def with_cache_points(messages: Sequence[ModelMessage], step: Step, ttl: Literal["5m", "1h"]) -> list[ModelMessage]:
    """The messages of a turn's first request with cache points where what stays ends, in this turn and in the last.

    pydantic-ai itself marks the end of the request, which holds the turn's text. Models without caching ignore them.
    """
    places, now = turn_places(_read(messages), step.turns), len(step.turns) - 1
    marked = {places.get(now)} if any(block.turn == now and not block.stays for block in step.appended) else set()
    marked |= {places.get(now - 1)} if now - 1 in ended_turns(step) else set()
    return [_marked(message, ttl) if at in marked else message for at, message in enumerate(messages)]


def _marked(message: ModelMessage, ttl: Literal["5m", "1h"]) -> ModelMessage:
    words = [part for part in message.parts if isinstance(part, UserPromptPart)]
    if not isinstance(message, ModelRequest) or not words or not words[-1].content:
        return message
    said = words[-1].content
    content = [*([said] if isinstance(said, str) else said), CachePoint(ttl=ttl)]
    parts: Iterable[ModelRequestPart] = (
        replace(words[-1], content=content) if part is words[-1] else part for part in message.parts
    )
    return replace(message, parts=[*parts])


def _read(messages: Sequence[ModelMessage]) -> Read:
    requests = [message if isinstance(message, ModelRequest) else None for message in messages]
    ids = [
        tuple(part.tool_call_id for part in each.parts if isinstance(part, ToolReturnPart)) if each else ()
        for each in requests
    ]
    return Read(ids, [bool(each and any(isinstance(p, UserPromptPart) for p in each.parts)) for each in requests])
