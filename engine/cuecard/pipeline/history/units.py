"""Messages that have to stay together, and their text.

Providers reject a result without its call, a call without its results, and anything between the two.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field
from datetime import datetime

from cuecard.config.history_spec import OVERHEAD, PART_TOKENS, UNDATED, HistoryBase
from cuecard.config.values import fill
from cuecard.model import CountTokens, Json
from cuecard.model.messages import Message, Part, ToolCall, part_text
from cuecard.records import dataclass, replace


@dataclass(frozen=True, slots=True)
class MessageUnit:
    """Messages that stay together, with their positions in the host's list: a call with its results, or a single
    message.
    """

    messages: tuple[Message, ...]
    places: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.messages)


@dataclass(frozen=True, slots=True)
class OmittedMessage:
    """A message that is left out, with its position in the host's list, and the reason."""

    place: int
    reason: str
    tokens: int = 0


@dataclass(slots=True)
class _Block:
    """A unit under construction; `missing` results have not come yet."""

    messages: list[Message]
    places: list[int]
    missing: int = field(default=0)


def units(messages: Sequence[Message], spec: HistoryBase) -> tuple[tuple[MessageUnit, ...], tuple[OmittedMessage, ...]]:
    """The messages in whole units, oldest first, and those that belong to no unit.

    Results follow their call directly, in order of arrival. Left out are messages listed in `spec.drop`, results
    without a call, and calls that lack a result, together with the results they have.
    """
    dropped = tuple(_dropped(messages, spec))
    out = {left.place for left in dropped}
    blocks, orphans = _blocks((place, message) for place, message in enumerate(messages) if place not in out)
    whole = tuple(MessageUnit(tuple(block.messages), tuple(block.places)) for block in blocks if not block.missing)
    incomplete = (
        OmittedMessage(place, f"incomplete tool calls: {block.missing} without a result")
        for block in blocks
        if block.missing
        for place in block.places
    )
    return whole, (*dropped, *orphans, *incomplete)


def _dropped(messages: Iterable[Message], spec: HistoryBase) -> Iterator[OmittedMessage]:
    seen: dict[str, int] = {}
    for place, message in enumerate(messages):
        if "system" in spec.drop and message.role == "system":
            yield OmittedMessage(place, "history.drop: a system message")
        elif "blank" in spec.drop and message.role != "tool" and message.blank:
            yield OmittedMessage(place, "history.drop: blank")
        elif "duplicates" in spec.drop and message.id and message.id in seen:
            yield OmittedMessage(place, f"history.drop: has the same id as message {seen[message.id] + 1}")
        elif message.id:
            seen[message.id] = place


def _blocks(placed: Iterable[tuple[int, Message]]) -> tuple[list[_Block], list[OmittedMessage]]:
    blocks: list[_Block] = []
    orphans: list[OmittedMessage] = []
    # Some hosts reuse an id in a later message: from there on, results belong to the later call.
    waiting: dict[str, list[_Block]] = {}
    for place, message in placed:
        if message.role != "tool":
            block = _Block([message], [place], len(message.tool_calls))
            blocks.append(block)
            waiting |= {call.id: [] for call in message.tool_calls}
            for call in message.tool_calls:
                waiting[call.id].append(block)
        elif waiting.get(message.tool_call_id or ""):
            block = waiting[message.tool_call_id or ""].pop()
            block.messages.append(message)
            block.places.append(place)
            block.missing -= 1
        else:
            orphans.append(OmittedMessage(place, "a tool result without its call"))
    return blocks, orphans


def printable_line(text: str) -> str:
    """The text without line breaks and control characters, so that a name cannot start a new line."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def to_json(value: Json) -> str:
    """JSON as models read it: compact, without escaping letters."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def message_text(message: Message) -> str:
    """All text in the message; other parts are only named, such as `[image]`."""
    if isinstance(message.content, str):
        return message.content
    texts = ((part, part_text(part)) for part in message.content)
    return "\n".join(_placeholder(part) if text is None else text for part, text in texts)


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
    values = {
        "timestamp": printable_line(time),
        "speaker": printable_line(message.speaker) or message.role,
        "role": message.role,
    }
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
    return f"[{printable_line(str(part.get('type') or 'part'))}]"
