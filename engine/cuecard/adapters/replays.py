"""Conversations of hosts that keep nothing but messages in Chat Completions form: each request tells it all again."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from threading import Lock
from typing import Any, TypeAlias

from cuecard.conversation import Conversation
from cuecard.engine import Engine
from cuecard.model import ConversationState, ToolResult, Turn

Message: TypeAlias = Mapping[str, Any]
"""A message in the form of Chat Completions."""


@dataclass(frozen=True, slots=True)
class _Part:
    """A message of the user, and what stands in front of it.

    Attributes:
        results: the results since the message of the user before.
        until: the fingerprint of the conversation up to this message.
    """

    results: tuple[ToolResult, ...]
    until: str


@dataclass(frozen=True, slots=True)
class _Read:
    """A conversation as it was read.

    Attributes:
        parts: the messages of the user, oldest first; those that follow each other are one.
        results: the results since the last one.
    """

    parts: tuple[_Part, ...]
    results: tuple[ToolResult, ...]


class Replays:
    """Goes through conversations from their beginning: the same messages and turn give the same prompts, anywhere.

    The newest states are kept, by what made them, so that a request need not go through what an earlier one has.
    """

    def __init__(self, engine: Engine, most: int = 1024) -> None:
        self._engine, self._most = engine, most
        self._states: OrderedDict[tuple[str, str], ConversationState] = OrderedDict()
        self._lock = Lock()

    def replay(self, messages: Sequence[Message], turn: Turn) -> tuple[Conversation, tuple[ToolResult, ...]]:
        """The conversation up to its last message of the user, and the results since then.

        Args:
            messages: the conversation, without the system prompt.
            turn: what the host knows: the same for every message of the user.

        Raises:
            InputError: with everything that is wrong in the turn.
        """
        read, who = _read(messages), repr(turn)
        parts = read.parts or (_Part((), ""),)
        known, chat = self._known(parts, who)
        for part in parts[known:]:
            chat.user(turn, part.results)
            self._keep((part.until, who), chat.state)
        return chat, read.results

    def _known(self, parts: Sequence[_Part], who: str) -> tuple[int, Conversation]:
        """How many messages of the user a kept state has come to, and its conversation."""
        with self._lock:
            for known in range(len(parts), 0, -1):
                state = self._states.get((parts[known - 1].until, who))
                if state is not None:
                    self._states.move_to_end((parts[known - 1].until, who))
                    return known, self._engine.conversation(state)
        return 0, self._engine.conversation()

    def _keep(self, key: tuple[str, str], state: ConversationState) -> None:
        with self._lock:
            self._states[key] = state
            while len(self._states) > self._most:
                self._states.popitem(last=False)


@dataclass(slots=True)
class _Reading:
    """What is known while messages are read."""

    names: dict[str, str] = field(default_factory=dict)
    results: list[ToolResult] = field(default_factory=list)
    batch: str | None = None

    def called(self, calls: Iterable[Mapping[str, Any]]) -> None:
        named = {str(call.get("id")): str((call.get("function") or {}).get("name") or "") for call in calls}
        self.names |= named
        self.batch = next(iter(named), None) if len(named) > 1 else None

    def answered(self, message: Message, place: int) -> None:
        call = str(message.get("tool_call_id") or "")
        tool = self.names.get(call) or str(message.get("name") or "")
        if tool:  # a result of a call that nobody knows any more tells nothing
            self.results.append(ToolResult(tool, message.get("content"), call or f"result-{place}", batch=self.batch))


def _read(messages: Sequence[Message]) -> _Read:
    reading, parts, digest, before = _Reading(), list[_Part](), b"", ""
    for place, message in enumerate(messages):
        text = json.dumps(message, sort_keys=True, default=str)
        digest = sha256(digest + text.encode("utf-8", "surrogatepass")).digest()
        role = message.get("role")
        if role == "user":
            held = parts.pop().results if before == "user" else tuple(reading.results)
            parts.append(_Part(held, digest.hex()))
            reading.results = []
        elif role == "assistant":
            reading.called(message.get("tool_calls") or ())
        elif role in {"tool", "function"}:
            reading.answered(message, place)
        before = str(role)
    return _Read(tuple(parts), tuple(reading.results))


def with_tools(turn: Turn, names: Iterable[str], catalogue: Mapping[str, Any]) -> Turn:
    """The turn with the tools that are there, where it says nothing of them."""
    return turn if turn.tools is not None else replace(turn, tools=tuple(name for name in names if name in catalogue))
