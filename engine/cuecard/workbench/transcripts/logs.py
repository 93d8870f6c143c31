"""Logs of requests; Anthropic's."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from cuecard.config.transcript_file import RecordedTool, RecordedUsage
from cuecard.errors import Problem
from cuecard.model import Json
from cuecard.workbench.transcripts.events import (
    AnswerEvent,
    Event,
    ResultEvent,
    UserEvent,
    count_of,
    dated,
    to_transcript,
)
from cuecard.workbench.transcripts.records import (
    ImportedLog,
    Record,
    content_text,
    conversations,
    counted,
    is_reminder,
    left_out,
    listed,
    warning,
)

Form: TypeAlias = Mapping[str, Json]
"""A body, response, message or tool in a provider's own format."""


@dataclass(frozen=True, slots=True)
class LogReader:
    """How to read one provider's requests.

    Attributes:
        source: the provider's name.
        key: the key of the messages in a body.
        events: the events of messages.
        answer: the messages that a response adds.
        usage: the token usage that a response reports.
        tool: name, description and schema of a tool definition.
    """

    source: str
    key: str
    events: Callable[[Iterable[Form]], list[Event]]
    answer: Callable[[Form], list[Form]]
    usage: Callable[[Form], tuple[Json, Json, Json] | None]
    tool: Callable[[Form], tuple[Json, Json, Json]]


def read_log(found: Sequence[Record], reader: LogReader, name: str) -> ImportedLog:
    """The longest conversation in these requests.

    Raises:
        SpecError: when no message of a user is among them.
    """
    records, *others = conversations(found, reader.key) or [[]]
    said = [reader.events(listed(record.body.get(reader.key))) for record in records]
    numbers = [sum(isinstance(event, AnswerEvent) for event in events) for events in said]
    longest = max(range(len(records)), key=lambda place: (numbers[place], place), default=None)
    events: list[Event] = []
    if longest is not None:
        answered = reader.answer(records[longest].response)
        events = [*said[longest], *reader.events(answered)]
    if events and not isinstance(events[-1], AnswerEvent):
        events.append(AnswerEvent(""))  # the last request was sent, but its answer is not in the log
    at = {number: record.at for number, record in zip(numbers, records, strict=True) if record.at}
    reported = ((number, reader.usage(record.response)) for number, record in zip(numbers, records, strict=True))
    usage = {number: _usage(*counts) for number, counts in reported if counts}
    tools = [_tool(*reader.tool(tool)) for record in records for tool in listed(record.body.get("tools"))]
    told = [tool for tool in tools if tool]
    transcript = to_transcript(dated(events, at, usage), told, reader.source, name)
    whole = listed(records[longest].body.get(reader.key)) if longest is not None else ()
    return ImportedLog(transcript, (*_others(others, name), *left_out(whole, name)))


def arguments(value: Json) -> Json:
    """The arguments of a call. Providers pass them on as the model's JSON text, which may be invalid."""
    try:
        return json.loads(value) if isinstance(value, str) else value
    except (ValueError, RecursionError):
        return value


def _others(others: Sequence[Sequence[Record]], name: str) -> list[Problem]:
    if not others:
        return []
    requests, talks = counted(sum(map(len, others)), "request"), counted(len(others), "other conversation")
    message = f"left out: {requests} of {talks}"
    return [warning(message, "the conversation with the most requests is replayed", name)]


def _usage(whole: Json, cached: Json, output: Json) -> RecordedUsage:
    return RecordedUsage(input_tokens=count_of(whole), cached_tokens=count_of(cached), output_tokens=count_of(output))


def _tool(name: Json, description: Json, schema: Json) -> RecordedTool | None:
    if not isinstance(name, str) or not name:
        return None
    text = description if isinstance(description, str) else ""
    return RecordedTool(name=name, description=text, input_schema=schema if isinstance(schema, dict) else {})


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


def _anthropic_usage(response: Form) -> tuple[Json, Json, Json] | None:
    usage = response.get("usage")
    if not isinstance(usage, dict):
        return None
    read, written = count_of(usage.get("cache_read_input_tokens")), count_of(usage.get("cache_creation_input_tokens"))
    return count_of(usage.get("input_tokens")) + read + written, read, usage.get("output_tokens")


def _anthropic_tool(tool: Form) -> tuple[Json, Json, Json]:
    return tool.get("name"), tool.get("description"), tool.get("input_schema")


ANTHROPIC = LogReader("anthropic", "messages", _events, _answer, _anthropic_usage, _anthropic_tool)
"""Anthropic's Messages API."""
