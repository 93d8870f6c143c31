"""pydantic-ai's message history as JSON (`ModelMessagesTypeAdapter`); reading it does not need the package."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from cuecard.analysis.replay.importers.events import Answer, Event, Returned, Said, count_of, to_transcript, when
from cuecard.analysis.replay.importers.logs import arguments
from cuecard.analysis.replay.importers.records import listed
from cuecard.config.transcript_file import RecordedUsage, TranscriptFile
from cuecard.model import Json


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
            yield Said(_said(content), at)
        elif kind == "tool-return":
            failed = part.get("outcome", "success") != "success"
            yield Returned(str(part.get("tool_call_id", "")), content, failed)
        elif kind == "retry-prompt" and part.get("tool_name"):
            yield Returned(str(part.get("tool_call_id", "")), content, is_error=True)
        elif kind == "retry-prompt":
            yield Said(_said(content), at)


def _response(message: Mapping[str, Json]) -> Iterator[Event]:
    parts = list(listed(message.get("parts")))
    texts = [str(part.get("content", "")) for part in parts if part.get("part_kind") == "text"]
    calls = tuple(
        (str(part.get("tool_call_id", "")), str(part.get("tool_name") or "unnamed"), arguments(part.get("args")))
        for part in parts
        if part.get("part_kind") == "tool-call"
    )
    yield Answer("\n".join(texts), calls, when(message.get("timestamp")), _usage(message.get("usage")))


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
