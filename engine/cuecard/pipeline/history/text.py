"""The text of messages, for counting, for prefixes, and for a summarizer."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import datetime

from cuecard.config.history_spec import OVERHEAD, PART_TOKENS, UNDATED, HistoryBase
from cuecard.config.values.placeholders import fill
from cuecard.model import CountTokens, Json
from cuecard.model.messages import Message, Part, ToolCall


def one_line(text: str) -> str:
    """The text without line breaks and control characters, so that a name cannot start a new line."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def to_json(value: Json) -> str:
    """JSON as models read it: compact, without escaping letters."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)


def text_of(message: Message) -> str:
    """All text in the message; other parts are only named, such as `[image]`."""
    if isinstance(message.content, str):
        return message.content
    return "\n".join(text if (text := part_text(part)) is not None else _placeholder(part) for part in message.content)


def part_text(part: Part) -> str | None:
    """The text of a part, or None for other kinds."""
    text = part.get("text")
    return text if part.get("type") == "text" and isinstance(text, str) else None


def call_text(call: ToolCall) -> str:
    """A tool call on one line: its name and its arguments."""
    return f"{call.name} {to_json(call.arguments)}"


def cost(message: Message, count: CountTokens) -> int:
    """The cost of a message in tokens: its texts, calls and other parts, and what every message costs."""
    parts = ({"type": "text", "text": message.content},) if isinstance(message.content, str) else message.content
    texts = [part_text(part) for part in parts]
    said = sum(PART_TOKENS if text is None else count(text) for text in texts)
    return OVERHEAD + said + sum(count(call_text(call)) for call in message.tool_calls)


def prefixed(message: Message, spec: HistoryBase) -> Message:
    """The message with a prefix before the text of user or assistant; results and bare tool calls are unchanged.

    If no speaker is known, the role is used. Time and speaker cannot break the line.
    """
    if not spec.prefix or message.role not in {"user", "assistant"} or not message.content:
        return message
    time = message.timestamp.isoformat() if isinstance(message.timestamp, datetime) else message.timestamp or ""
    values = {"timestamp": one_line(time), "speaker": one_line(message.speaker) or message.role, "role": message.role}
    undated = not values["timestamp"] and "{timestamp}" in spec.prefix
    head = fill(UNDATED if undated else spec.prefix, values)
    if isinstance(message.content, str):
        return replace(message, content=head + message.content)
    return replace(message, content=_with_head(message.content, head))


def _with_head(parts: tuple[Part, ...], head: str) -> tuple[Part, ...]:
    for place, part in enumerate(parts):
        if (text := part_text(part)) is not None:
            return (*parts[:place], {**part, "text": head + text}, *parts[place + 1 :])
    return ({"type": "text", "text": head}, *parts)


def _placeholder(part: Part) -> str:
    return f"[{one_line(str(part.get('type') or 'part'))}]"
