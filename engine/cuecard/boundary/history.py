"""The messages and the summary that a host has stored: others wrote them, and no host can fix the past."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from cuecard.model import Diagnostic, Json, Turn
from cuecard.model.messages import Message, Summary, ToolCall
from cuecard.template.guards.controls import has_controls, without_controls


def cleaned_history(turn: Turn) -> Turn:
    """The turn without control characters in its stored messages and summary; a diagnostic says how many were removed.

    In the current message and in inputs, they are an error instead.
    """
    if not (turn.messages or turn.summary):
        return turn
    if not any(map(_is_dirty, turn.messages)) and not has_controls(_summary_text(turn.summary)):
        return turn
    messages = tuple(_cleaned(message) if _is_dirty(message) else message for message in turn.messages)
    text = without_controls(_summary_text(turn.summary))
    summary = replace(turn.summary, text=text) if isinstance(turn.summary, Summary) else text
    removed = sum(len(text) - len(without_controls(text)) for text in _everything(turn))
    told = Diagnostic("control_characters", f"{removed:,} control characters were removed from the stored conversation")
    return replace(turn, messages=messages, summary=summary, diagnostics=(*turn.diagnostics, told))


def _everything(turn: Turn) -> Iterator[str]:
    yield _summary_text(turn.summary)
    for message in turn.messages:
        yield from _texts_of(message)


def _summary_text(summary: str | Summary) -> str:
    return summary if isinstance(summary, str) else summary.text


def _is_dirty(message: Message) -> bool:
    return any(map(has_controls, _texts_of(message)))


def _texts_of(message: Message) -> Iterator[str]:
    yield from (message.speaker, message.id, message.tool_call_id or "")
    yield message.timestamp if isinstance(message.timestamp, str) else ""
    yield from (message.content,) if isinstance(message.content, str) else _texts(message.content)
    for call in message.tool_calls:
        yield from (call.id, call.name)
        yield from _texts(call.arguments)


def _texts(value: Json) -> Iterator[str]:
    """The texts in JSON, keys included; without recursion, since arguments may be deeply nested."""
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, Mapping):
            waiting += (*item.keys(), *item.values())
        elif isinstance(item, (list, tuple)):
            waiting += item


def _cleaned(message: Message) -> Message:
    time = message.timestamp
    content = message.content
    return replace(
        message,
        content=without_controls(content) if isinstance(content, str) else tuple(map(_plain, content)),
        tool_calls=tuple(ToolCall(_plain(c.id), _plain(c.name), _plain(c.arguments)) for c in message.tool_calls),
        tool_call_id=_plain(message.tool_call_id),
        timestamp=without_controls(time) if isinstance(time, str) else time,
        speaker=without_controls(message.speaker),
        id=without_controls(message.id),
    )


def _plain(value: Json) -> Json:
    if isinstance(value, str):
        return without_controls(value)
    if isinstance(value, Mapping):
        return {_plain(key): _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, (list, tuple)) else value
