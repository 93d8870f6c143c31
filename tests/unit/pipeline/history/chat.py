"""Conversations for the tests of the history, as short to write as they are to read."""

from __future__ import annotations

from cuecard import Message
from cuecard.types import Cut, ToolCall


def words(text: str) -> int:
    """A token is a word: counts that a reader can check."""
    return len(text.split())


def user(text: str, **more: str) -> Message:
    return Message("user", text, **more)  # type: ignore[arg-type]


def assistant(text: str, **more: str) -> Message:
    return Message("assistant", text, **more)  # type: ignore[arg-type]


def calls(*ids: str, text: str = "") -> Message:
    return Message("assistant", text, tool_calls=tuple(ToolCall(i, "look_up", {"id": i}) for i in ids))


def result(call_id: str, text: str = "found") -> Message:
    return Message("tool", text, tool_call_id=call_id)


def talk(count: int) -> list[Message]:
    """`count` messages, user and assistant in turn: `message 1`, `message 2`, ..."""
    return [(user if n % 2 else assistant)(f"message {n}") for n in range(1, count + 1)]


def texts(messages: tuple[Message, ...] | list[Message]) -> list[str]:
    return [str(message.content) for message in messages]


def reasons(cuts: tuple[Cut, ...]) -> dict[str, str]:
    return {cut.what: cut.reason for cut in cuts}
