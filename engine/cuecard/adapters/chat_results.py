"""Results in messages of Chat Completions, as the texts that the agent file makes of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from cuecard.model import Json, RenderedResult, ToolResult


def with_results(
    messages: Iterable[Mapping[str, Any]], render: Callable[[ToolResult], RenderedResult]
) -> list[Mapping[str, Any]]:
    """The messages of one request with results as texts, where the agent has templates for them.

    The host keeps what the tools returned. A result with something else than texts in it stays as it is, as does one
    whose call nobody knows. These messages do not say that a call has failed.
    """
    names: dict[str, str] = {}
    told: list[Mapping[str, Any]] = []
    for message in messages:
        for call in message.get("tool_calls") or ():
            names[str(call.get("id"))] = str((call.get("function") or {}).get("name") or "")
        told.append(_told(message, names, render) if message.get("role") in {"tool", "function"} else message)
    return told


def _told(
    message: Mapping[str, Any], names: Mapping[str, str], render: Callable[[ToolResult], RenderedResult]
) -> Mapping[str, Any]:
    call, said = str(message.get("tool_call_id") or ""), message.get("content")
    tool = names.get(call) or str(message.get("name") or "")
    if not tool or not _is_text(said):
        return message
    result = render(ToolResult(tool, said, call or None))
    return {**message, "content": result.text} if result.rule else message


def _is_text(content: Json) -> bool:
    parts = content if isinstance(content, list) else []
    return all(isinstance(part, Mapping) and part.get("type") == "text" for part in parts)
