"""Log files as records, and the conversation read from them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from cuecard.config.transcript_file import TranscriptFile, read_json
from cuecard.errors import CuecardError, Problem, SpecError
from cuecard.model import Json
from cuecard.workbench.transcripts.events import when

_WRAPPED = ("request", "request_body", "body", "kwargs")
_TIMES = ("at", "timestamp", "time", "created_at")


@dataclass(frozen=True, slots=True)
class Record:
    """One request of a log: its body, the response if it was kept, and when it was sent."""

    body: Mapping[str, Json]
    response: Mapping[str, Json] = field(default_factory=dict)
    at: datetime | None = None


def read_values(text: str, name: str) -> tuple[list[Json], list[Problem]]:
    """The values of a JSON file (the items, if it is a list) or of a file of JSON lines. Each invalid line costs only
    itself, and a warning.

    Raises:
        SpecError: when it is neither, with the place.
    """
    try:
        value = read_json(text, name)
    except SpecError:
        values, problems = _lines(text, name)
        if len(values) + len(problems) < 2 or not any(isinstance(value, dict) for value in values):
            raise
        return values, problems
    return (value if isinstance(value, list) else [value]), []


def records(values: Iterable[Json]) -> list[Record]:
    """The requests among these values, in order; other values are left out."""
    found = [_record(value) for value in values if isinstance(value, dict)]
    return [record for record in found if record is not None]


def conversations(found: Sequence[Record], key: str) -> list[list[Record]]:
    """The requests of each conversation, longest conversation first. Requests that begin with the same message belong
    together.

    `key` is where messages stand in a body. Logs hold other requests too, such as those that make titles.
    """
    groups: dict[str, list[Record]] = {}
    for record in found:
        groups.setdefault(_opening(record.body.get(key)), []).append(record)
    return sorted(groups.values(), key=len, reverse=True)


def listed(value: Json) -> Iterator[Mapping[str, Json]]:
    """The objects in a list; nothing when it is not a list."""
    return (item for item in value if isinstance(item, dict)) if isinstance(value, list) else iter(())


def content_text(content: Json, *kinds: str) -> str:
    """The text of a message's content: a string, or the parts of these types in a list."""
    if isinstance(content, str):
        return content
    parts = (part for part in listed(content) if part.get("type") in kinds)
    return "\n".join(str(part.get("text", "")) for part in parts)


def _lines(text: str, name: str) -> tuple[list[Json], list[Problem]]:
    values: list[Json] = []
    problems: list[Problem] = []
    for number, line in enumerate(text.split("\n"), 1):
        try:
            values += [read_json(line, name, number)] if line.strip() else []
        except CuecardError as error:
            hint = "this line is skipped"
            problems += [replace(problem, severity="warning", advice=hint) for problem in error.problems]
    return values, problems


def _record(value: Mapping[str, Json]) -> Record | None:
    at = next((when(value[key]) for key in _TIMES if key in value), None)
    if _is_body(value):
        return Record(value, at=at)
    inner = next((value[key] for key in _WRAPPED if isinstance(value.get(key), dict)), None)
    if inner is None:
        return None
    response = value.get("response")
    record = _record(inner)
    kept = response if isinstance(response, dict) else {}
    return Record(record.body, kept or record.response, at or record.at) if record else None


def _is_body(value: Mapping[str, Json]) -> bool:
    return isinstance(value.get("messages"), list) or isinstance(value.get("input"), (list, str))


def _opening(messages: Json) -> str:
    if isinstance(messages, str):
        return messages
    first = (m for m in listed(messages) if m.get("role") == "user")
    return str(next(first, {}).get("content"))


_THINKING = {"thinking", "redacted_thinking", "reasoning"}
_OPERATOR = {"system", "developer"}
_PLAYED = {
    *("text", "input_text", "output_text", "user-prompt", "message"),
    *("tool_use", "tool_result", "tool_reference", "tool-call", "tool-return", "retry-prompt"),
}
_PLURALS = {"part of an unknown kind": "parts of unknown kinds"}
_HINT = "the engine's own prompt replaces system prompts and reminders; thinking is not billed"


@dataclass(frozen=True, slots=True)
class ImportedLog:
    """A conversation, and a warning for each kind of content that was left out."""

    transcript: TranscriptFile
    warnings: tuple[Problem, ...] = ()


def is_reminder(text: str) -> bool:
    """Whether a host wrote this into the user's turn, in the documented form for instructions where no role exists
    for them.
    """
    return text.lstrip().startswith("<system-reminder>")


def left_out(messages: Iterable[Mapping[str, Json]], name: str) -> tuple[Problem, ...]:
    """One warning that counts the content of these messages that is not played; none where all of it is.

    Args:
        messages: messages, items or parts in the format of any log.
        name: the log.
    """
    counts = Counter(kind for message in messages for kind in _left(message))
    if not counts:
        return ()
    told = ", ".join(counted(number, kind) for kind, number in sorted(counts.items()))
    return (warning(f"left out of the conversation: {told}", _HINT, name),)


def counted(number: int, noun: str) -> str:
    """A number with its noun."""
    if number == 1:
        return f"1 {noun}"
    return f"{number:,} {_PLURALS.get(noun, f'{noun}s')}"


def warning(message: str, hint: str, name: str) -> Problem:
    """A warning about content of a log that is not played."""
    return Problem("left-out", message, hint, name, severity="warning")


def _left(message: Mapping[str, Json]) -> Iterator[str]:
    """The kinds of content left out of a message with parts, or of an item without parts."""
    if str(message.get("role")) in _OPERATOR:
        yield "system message"
        return
    content = message.get("parts", message.get("content"))
    parts = [{"type": "text", "text": content}] if isinstance(content, str) else listed(content)
    for part in parts if "role" in message or "parts" in message else [message]:
        yield from _left_part(part)


def _left_part(part: Mapping[str, Json]) -> Iterator[str]:
    kind, text = str(part.get("part_kind") or part.get("type") or "text"), part.get("text")
    if kind in _THINKING:
        yield "thinking block"
    elif kind == "system-prompt":
        yield "system message"
    elif isinstance(text, str) and is_reminder(text):
        yield "reminder"
    elif kind not in _PLAYED and not kind.endswith(("_call", "_output")):
        yield "part of an unknown kind"
