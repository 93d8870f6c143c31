"""The result of reading a log: its conversation, and warnings about what was left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from cuecard.analysis.replay.importers.records import listed
from cuecard.config.transcript_file import TranscriptFile
from cuecard.errors import Problem
from cuecard.model import Json

_THINKING = {"thinking", "redacted_thinking", "reasoning"}
_OPERATOR = {"system", "developer"}
_PLAYED = {
    *("text", "input_text", "output_text", "user-prompt", "message"),
    *("tool_use", "tool_result", "tool_reference", "tool-call", "tool-return", "retry-prompt"),
}
_PLURALS = {"part of an unknown kind": "parts of unknown kinds"}
_HINT = "the engine's own prompt replaces system prompts and reminders; thinking is not billed"


@dataclass(frozen=True, slots=True)
class Imported:
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
