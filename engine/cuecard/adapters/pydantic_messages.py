"""pydantic-ai's messages: the tool results in them, and the place of appended blocks among them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from pydantic_ai.messages import ModelMessage, ModelRequest, ModelRequestPart, SystemPromptPart, ToolReturnPart

from cuecard.model import Appended, ToolResult


def tool_results(messages: Iterable[ModelMessage]) -> tuple[ToolResult, ...]:
    """The tool results of a conversation as the engine takes them, oldest first."""
    requests = (message for message in messages if isinstance(message, ModelRequest))
    return tuple(result for request in requests for result in _results(request))


def _results(request: ModelRequest) -> Iterator[ToolResult]:
    """The results in one message: those of the calls that the model made in one."""
    parts = [part for part in request.parts if isinstance(part, ToolReturnPart)]
    batch = parts[0].tool_call_id if len(parts) > 1 else None
    for part in parts:
        failed = part.outcome != "success"
        yield ToolResult(part.tool_name, part.content, part.tool_call_id, is_error=failed, batch=batch)


def holds_all(messages: Iterable[ModelMessage], blocks: Iterable[Appended]) -> bool:
    """Whether the history still holds every block: a host may have shortened it."""
    present = {part.content for part in _parts(messages) if isinstance(part, SystemPromptPart)}
    return all(block.text in present for block in blocks)


def place_appended(messages: Sequence[ModelMessage], appended: Iterable[Appended]) -> list[ModelMessage]:
    """The messages with each block in its place, exactly once, however often this is asked for.

    A block comes after the last result of the batch that holds `after_call_id`, never between parallel results; when
    no message holds that result, and for what changed between two calls, at the end of the last request.
    """
    placed = list(messages)
    present = {part.content for part in _parts(placed) if isinstance(part, SystemPromptPart)}
    for block in appended:
        if block.text not in present:
            index, request = _home(placed, block.after_call_id)
            placed[index] = replace(request, parts=_with_block(request.parts, SystemPromptPart(content=block.text)))
    return placed


def _home(messages: Sequence[ModelMessage], call_id: str | None) -> tuple[int, ModelRequest]:
    """The request that holds the result, or the last one, with its position."""
    requests = [(index, message) for index, message in enumerate(messages) if isinstance(message, ModelRequest)]
    holding = (
        (i, r) for i, r in requests for p in r.parts if isinstance(p, ToolReturnPart) and p.tool_call_id == call_id
    )
    return next(holding, requests[-1])


def _with_block(parts: Sequence[ModelRequestPart], block: SystemPromptPart) -> list[ModelRequestPart]:
    after = max((place + 1 for place, part in enumerate(parts) if isinstance(part, ToolReturnPart)), default=len(parts))
    while after < len(parts) and isinstance(parts[after], SystemPromptPart):
        after += 1
    return [*parts[:after], block, *parts[after:]]


def _parts(messages: Iterable[ModelMessage]) -> Iterator[ModelRequestPart]:
    return (part for message in messages if isinstance(message, ModelRequest) for part in message.parts)
