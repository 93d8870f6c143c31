"""What logs of requests have in common: each body holds the conversation so far, and the longest holds all of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from cuecard.config.transcript_file import RecordedTool, RecordedUsage
from cuecard.errors import Problem
from cuecard.model import Json
from cuecard.workbench.transcripts.events import (
    AnswerEvent,
    Event,
    count_of,
    dated,
    to_transcript,
)
from cuecard.workbench.transcripts.records import (
    ImportedLog,
    Record,
    conversations,
    counted,
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
