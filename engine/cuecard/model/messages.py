"""Messages of a conversation in a neutral form that no provider owns, and plain JSON both ways."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, TypeAlias, get_args

from pydantic import AfterValidator

from cuecard.errors import InputError, Problem, did_you_mean
from cuecard.model.boundary import Count, FilledText, JsonObject, JsonValue, agreeing
from cuecard.model.json_values import Wrong
from cuecard.model.values import Json
from cuecard.records import dataclass

Role: TypeAlias = Literal["system", "user", "assistant", "tool"]
"""Who speaks; `tool` is the result of one tool call."""

Part: TypeAlias = JsonObject
"""A piece of a multimodal message, such as `{"type": "text", "text": "..."}`; every other type is passed on unread."""

_KEYS = ("role", "content", "tool_calls", "tool_call_id", "timestamp", "speaker", "id", "persist")
_ANSWERS = "messages of role `tool` must name the call they answer, and no others may"
_CALL_KEYS = ("id", "name", "arguments")


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One tool call in a message of the assistant; `arguments` is usually a mapping."""

    id: FilledText
    name: FilledText
    arguments: JsonValue = None

    def to_json(self) -> dict[str, Json]:
        """`{"id", "name", "arguments"}`."""
        return {"id": self.id, "name": self.name, "arguments": self.arguments}


@dataclass(frozen=True, slots=True)
class Message:
    """One message.

    Attributes:
        role: who speaks.
        content: the text, or the parts of a multimodal message.
        tool_calls: what the assistant calls in this message.
        tool_call_id: in a result, the id of its call.
        timestamp: the time of the message, as a `datetime` or in the host's own format.
        speaker: the speaker, if the role does not identify them.
        id: the host's id; messages with equal ids are the same message.
        persist: False for messages that are created for each request and do not belong in a stored conversation.
    """

    role: Role
    content: str | tuple[Part, ...] = ""
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None
    timestamp: str | datetime | None = None
    speaker: str = ""
    id: str = ""
    persist: bool = True

    @property
    def blank(self) -> bool:
        """Whether it is empty: no tool call, no text except white space, no other part."""
        texts = (self.content,) if isinstance(self.content, str) else map(part_text, self.content)
        return not self.tool_calls and all(text is not None and not text.strip() for text in texts)

    def to_json(self) -> dict[str, Json]:
        """The message as plain JSON, without what is empty; a `datetime` becomes ISO 8601 text."""
        content = self.content if isinstance(self.content, str) else [dict(part) for part in self.content]
        time = self.timestamp.isoformat() if isinstance(self.timestamp, datetime) else self.timestamp
        optional = {
            "tool_calls": [call.to_json() for call in self.tool_calls],
            "tool_call_id": self.tool_call_id,
            "timestamp": time,
            "speaker": self.speaker,
            "id": self.id,
        }
        filled = {key: value for key, value in optional.items() if value}
        return {"role": self.role, "content": content, **filled, **({} if self.persist else {"persist": False})}


def _disagreeing(message: Message) -> Iterator[Wrong]:
    """What `messages_from_json` checks as well."""
    if (message.role == "tool") != bool(message.tool_call_id):
        told, hint = "is required for tool results and allowed only there", _ANSWERS
        yield Wrong("wrong-argument", ("tool_call_id",), told, hint)
    if message.tool_calls and message.role != "assistant":
        yield Wrong("wrong-argument", ("tool_calls",), "is only allowed in assistant messages")


agreed: AfterValidator = agreeing(_disagreeing)
"""Annotates a message whose fields have to fit its role."""


@dataclass(frozen=True, slots=True)
class Summary:
    """A stored summary: its text, and the part of the conversation that it covers.

    It covers the first `covers` messages or, if messages have ids, those up to the one with the id `upto`. So a host
    may drop covered messages from its own list, or keep passing all of them.
    """

    text: str = ""
    covers: Count = 0
    upto: str = ""

    def covered(self, messages: Sequence[Message]) -> int:
        """How many of these messages it covers; 0 if they are no longer there."""
        if self.upto:
            return next((place + 1 for place, message in enumerate(messages) if message.id == self.upto), 0)
        return self.covers if self.covers <= len(messages) else 0


def messages_from_json(data: Json, name: str = "messages") -> tuple[Message, ...]:
    """The messages that `Message.to_json` wrote, oldest first; `content` may be null.

    Raises:
        InputError: naming every key that is missing, unknown or of the wrong type, in every message.
    """
    if not isinstance(data, (list, tuple)):
        raise InputError(_problem(name, "", "should be a list of messages"))
    problems = [problem for place, item in enumerate(data) for problem in _problems(name, str(place), item)]
    if problems:
        raise InputError(problems)
    return tuple(map(_message, data))


def _message(item: Mapping[str, Json]) -> Message:
    content = item.get("content") or ""
    return Message(
        item["role"],
        content if isinstance(content, str) else tuple(content),
        tuple(ToolCall(c["id"], c["name"], c.get("arguments")) for c in item.get("tool_calls") or ()),
        item.get("tool_call_id"),
        item.get("timestamp"),
        item.get("speaker") or "",
        item.get("id") or "",
        persist=item.get("persist", True),
    )


def part_text(part: Part) -> str | None:
    """The text of a part, or None for other kinds."""
    text = part.get("text")
    return text if part.get("type") == "text" and isinstance(text, str) else None


def _problems(name: str, at: str, item: Json) -> Iterator[Problem]:
    if not isinstance(item, Mapping):
        yield _problem(name, at, "should be a mapping")
        return
    yield from _unknown(name, at, item, _KEYS)
    role = item.get("role")
    if role not in get_args(Role):
        yield _problem(name, f"{at}.role", f"should be one of {', '.join(get_args(Role))}")
    yield from _wrong_content(name, f"{at}.content", item.get("content"))
    for key in ("speaker", "id", "tool_call_id"):
        if not isinstance(item.get(key), (str, type(None))):
            yield _problem(name, f"{at}.{key}", "should be a text")
    if not isinstance(item.get("timestamp"), (str, datetime, type(None))):
        yield _problem(name, f"{at}.timestamp", "should be a time as text", "such as 2026-11-20T09:00:00+00:00")
    if not isinstance(item.get("persist", True), bool):
        yield _problem(name, f"{at}.persist", "should be true or false")
    if (role == "tool") != bool(item.get("tool_call_id")):
        yield _problem(name, f"{at}.tool_call_id", "is required for tool results and allowed only there", _ANSWERS)
    if item.get("tool_calls"):
        yield from _wrong_calls(name, at, item)


def _wrong_content(name: str, at: str, content: Json) -> Iterator[Problem]:
    parts = content if isinstance(content, (list, tuple)) else ()
    if not isinstance(content, (str, list, tuple, type(None))):
        yield _problem(name, at, "should be a text or a list of parts")
    for place, part in enumerate(parts):
        if not isinstance(part, Mapping) or not all(isinstance(key, str) for key in part):
            hint = 'a text is written as {"type": "text", "text": "..."}'
            yield _problem(name, f"{at}.{place}", "should be a mapping", hint)


def _wrong_calls(name: str, at: str, item: Mapping[str, Any]) -> Iterator[Problem]:
    calls = item["tool_calls"]
    if item.get("role") != "assistant":
        yield _problem(name, f"{at}.tool_calls", "is only allowed in assistant messages")
    if not isinstance(calls, (list, tuple)):
        yield _problem(name, f"{at}.tool_calls", "should be a list of calls")
        return
    for place, call in enumerate(calls):
        inner = f"{at}.tool_calls.{place}"
        if not isinstance(call, Mapping):
            yield _problem(name, inner, "should be a mapping", "write {id, name, arguments}")
            continue
        yield from _unknown(name, inner, call, _CALL_KEYS)
        for key in ("id", "name"):
            if not isinstance(call.get(key), str) or not call[key]:
                yield _problem(name, f"{inner}.{key}", "should be a text that is not empty")


def _unknown(name: str, at: str, item: Mapping[Any, Any], known: tuple[str, ...]) -> Iterator[Problem]:
    for key in item:
        if key not in known:
            yield _problem(name, f"{at}.{key}", "is not a key of a message", did_you_mean(str(key), known))


def _problem(name: str, at: str, what: str, hint: str = "") -> Problem:
    return Problem("bad-message", f"`{at or name}` {what}", hint, name)
