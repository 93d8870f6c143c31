"""The format of a log detected, and pydantic-ai's history."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Literal, TypeAlias, get_args

from cuecard.config.transcript_file import RecordedUsage, TranscriptFile, read_transcript
from cuecard.errors import Problem, SpecError
from cuecard.model import Json
from cuecard.workbench.transcripts.anthropic import ANTHROPIC
from cuecard.workbench.transcripts.events import (
    AnswerEvent,
    Event,
    ResultEvent,
    UserEvent,
    count_of,
    to_transcript,
    when,
)
from cuecard.workbench.transcripts.logs import arguments, read_log
from cuecard.workbench.transcripts.openai import OPENAI_CHAT, OPENAI_RESPONSES, whole_inputs
from cuecard.workbench.transcripts.records import ImportedLog, Record, left_out, listed, read_values, records


def read_messages(messages: Iterable[Mapping[str, Json]], name: str) -> TranscriptFile:
    """The conversation in these messages; system prompts and thinking are left out. The history contains no tool
    definitions.

    Raises:
        SpecError: when no message of a user is among them.
    """
    events: list[Event] = []
    for message in messages:
        events += _response(message) if message.get("kind") == "response" else _request(message)
    return to_transcript(events, (), "pydantic-ai", name)


def _request(message: Mapping[str, Json]) -> Iterator[Event]:
    for part in listed(message.get("parts")):
        kind, content = part.get("part_kind"), part.get("content")
        at = when(part.get("timestamp"))
        if kind == "user-prompt":
            yield UserEvent(_said(content), at)
        elif kind == "tool-return":
            failed = part.get("outcome", "success") != "success"
            yield ResultEvent(str(part.get("tool_call_id", "")), content, failed)
        elif kind == "retry-prompt" and part.get("tool_name"):
            yield ResultEvent(str(part.get("tool_call_id", "")), content, is_error=True)
        elif kind == "retry-prompt":
            yield UserEvent(_said(content), at)


def _response(message: Mapping[str, Json]) -> Iterator[Event]:
    parts = list(listed(message.get("parts")))
    texts = [str(part.get("content", "")) for part in parts if part.get("part_kind") == "text"]
    calls = tuple(
        (str(part.get("tool_call_id", "")), str(part.get("tool_name") or "unnamed"), arguments(part.get("args")))
        for part in parts
        if part.get("part_kind") == "tool-call"
    )
    yield AnswerEvent("\n".join(texts), calls, when(message.get("timestamp")), _usage(message.get("usage")))


def _said(content: Json) -> str:
    if isinstance(content, str):
        return content
    items = content if isinstance(content, list) else [content]
    return "\n".join(item if isinstance(item, str) else _placeholder(item) for item in items)


def _placeholder(item: Json) -> str:
    return f"[{item.get('kind', 'data')}]" if isinstance(item, dict) else str(item)


def _usage(usage: Json) -> RecordedUsage | None:
    if not isinstance(usage, dict) or not count_of(usage.get("input_tokens")):
        return None
    return RecordedUsage(
        input_tokens=count_of(usage.get("input_tokens")),
        cached_tokens=count_of(usage.get("cache_read_tokens")),
        output_tokens=count_of(usage.get("output_tokens")),
    )


LogForm: TypeAlias = Literal["auto", "cuecard", "pydantic-ai", "openai", "anthropic"]
"""The formats in which a conversation can be read."""

FORMS: tuple[str, ...] = get_args(LogForm)


def read_conversation(text: str, name: str, form: LogForm = "auto") -> ImportedLog:
    """The conversation in the text of a file: our own transcript, or a log of another program.

    Warnings say what of a log is not played: unreadable lines, other conversations, thinking.

    Raises:
        SpecError: with every problem at its place; also when the file holds no conversation in this format.
    """
    if form == "cuecard":
        return ImportedLog(read_transcript(text, name))
    values, broken = read_values(text, name)
    if form == "auto" and len(values) == 1 and isinstance(values[0], dict) and "turns" in values[0]:
        return ImportedLog(read_transcript(text, name))
    try:
        read = _read(values, name, form)
    except SpecError as error:
        raise SpecError([*error.problems, *broken]) from None
    return replace(read, warnings=(*broken, *read.warnings))


def _read(values: Sequence[Json], name: str, form: LogForm) -> ImportedLog:
    messages = [value for value in values if isinstance(value, dict)]
    if form == "pydantic-ai" or (form == "auto" and _is_pydantic(messages)):
        return ImportedLog(read_messages(messages, name), left_out(messages, name))
    found = records(values) or records([{"messages": messages}] if _are_messages(messages) else [])
    if not found:
        raise SpecError(_unknown(messages, name))
    if any("input" in record.body for record in found):
        whole = [record for record in found if "input" in record.body]
        return read_log(whole_inputs(whole), OPENAI_RESPONSES, name)
    anthropic = form == "anthropic" or (form == "auto" and any(map(_is_anthropic, found)))
    return read_log(found, ANTHROPIC if anthropic else OPENAI_CHAT, name)


def _unknown(messages: Sequence[Mapping[str, Json]], name: str) -> Problem:
    wanted = "a transcript, pydantic-ai messages, or requests to OpenAI or Anthropic; see --from"
    if any("manifest" in each and "conversation" in each for each in messages):
        told = "this file contains records of requests, which hold no messages to play"
        hint = f"read them with `cuecard tools report`, `memory` or `studio`; to price a conversation, give {wanted}"
        return Problem("no-conversation", told, hint, name)
    return Problem(
        "no-conversation", "this file contains no conversation in a known format", f"expected {wanted}", name
    )


def _is_pydantic(messages: Sequence[Mapping[str, Json]]) -> bool:
    return any(message.get("kind") in ("request", "response") and "parts" in message for message in messages)


def _are_messages(messages: Sequence[Mapping[str, Json]]) -> bool:
    return any("role" in message and "content" in message for message in messages)


def _is_anthropic(record: Record) -> bool:
    """Whether it has a system prompt beside the messages, tools with `input_schema`, or parts that only this API
    knows.
    """
    body = record.body
    parts = (part for message in listed(body.get("messages")) for part in listed(message.get("content")))
    return (
        "system" in body
        or any("input_schema" in tool for tool in listed(body.get("tools")))
        or any(part.get("type") in ("tool_use", "tool_result", "thinking") for part in parts)
        or str(body.get("model", "")).startswith("claude")
    )


__all__ = ["FORMS", "ImportedLog", "LogForm", "read_conversation"]
