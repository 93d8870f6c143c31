"""Requests to Anthropic's Messages API. System prompts, thinking and reminders are left out: the host writes those."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from cuecard.model import Json
from cuecard.workbench.transcripts.events import (
    AnswerEvent,
    Event,
    ResultEvent,
    UserEvent,
    count_of,
)
from cuecard.workbench.transcripts.logs import Form, LogReader
from cuecard.workbench.transcripts.records import (
    content_text,
    is_reminder,
    listed,
)


def _events(messages: Iterable[Form]) -> list[Event]:
    return [event for message in messages for event in _message(message)]


def _message(message: Form) -> Iterator[Event]:
    role, content = message.get("role"), message.get("content")
    parts = [{"type": "text", "text": content}] if isinstance(content, str) else list(listed(content))
    if role == "assistant":
        calls = [part for part in parts if part.get("type") == "tool_use"]
        made = tuple((str(c.get("id", "")), str(c.get("name") or "unnamed"), c.get("input")) for c in calls)
        yield AnswerEvent(content_text(parts, "text"), made)
    elif role == "user":
        results = [part for part in parts if part.get("type") == "tool_result"]
        yield from (_result(part) for part in results)
        said = [_said(part) for part in parts if part not in results]
        texts = [text for text in said if text and not is_reminder(text)]
        if texts:
            yield UserEvent("\n".join(texts))


def _result(part: Form) -> ResultEvent:
    content = part.get("content", "")
    plain = isinstance(content, list) and all(item.get("type") == "text" for item in listed(content))
    result: Json = content_text(content, "text") if plain else content
    return ResultEvent(str(part.get("tool_use_id", "")), result, part.get("is_error") is True)


def _said(part: Form) -> str:
    return str(part.get("text", "")) if part.get("type") == "text" else f"[{part.get('type')}]"


def _answer(response: Form) -> list[Form]:
    return [{"role": "assistant", "content": response["content"]}] if response.get("content") else []


def _usage(response: Form) -> tuple[Json, Json, Json] | None:
    usage = response.get("usage")
    if not isinstance(usage, dict):
        return None
    read, written = count_of(usage.get("cache_read_input_tokens")), count_of(usage.get("cache_creation_input_tokens"))
    return count_of(usage.get("input_tokens")) + read + written, read, usage.get("output_tokens")


def _tool(tool: Form) -> tuple[Json, Json, Json]:
    return tool.get("name"), tool.get("description"), tool.get("input_schema")


ANTHROPIC = LogReader("anthropic", "messages", _events, _answer, _usage, _tool)
"""Anthropic's Messages API."""
