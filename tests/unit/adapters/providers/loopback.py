"""A server on this machine that records what arrives, byte by byte, and answers as little as each client accepts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from typing_extensions import override

from unit.loopback_server import Handler, serving

_USAGE = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}

ANSWERS: dict[str, dict[str, Any]] = {
    "/v1/messages": {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "any",
        "content": [{"type": "text", "text": "done"}],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    },
    "/v1/responses": {
        "id": "resp_1",
        "object": "response",
        "created_at": 0,
        "model": "any",
        "status": "completed",
        "output": [],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
    },
    "/v1/chat/completions": {
        "id": "chat_1",
        "object": "chat.completion",
        "created": 0,
        "model": "any",
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "done"}}],
        "usage": _USAGE,
    },
    "/model/us.anthropic.claude-opus-4-8-v1%3A0/converse": {
        "output": {"message": {"role": "assistant", "content": [{"text": "done"}]}},
        "stopReason": "end_turn",
        "usage": {"inputTokens": 1, "outputTokens": 1, "totalTokens": 2},
        "metrics": {"latencyMs": 1},
    },
    "/v1beta/models/any:generateContent": {"candidates": [{"content": {"role": "model", "parts": [{"text": "done"}]}}]},
}
"""What is answered at each path."""


@dataclass
class Loopback:
    """The server: its address, and the bodies that it got, in order."""

    url: str
    bodies: list[bytes] = field(default_factory=list)


@contextmanager
def loopback() -> Iterator[Loopback]:
    """A server for the time of one test, on a port that is free."""

    class Recorder(Handler):
        @override
        def post(self) -> None:
            got.bodies.append(self.body())
            self.answer(json.dumps(ANSWERS[self.path.partition("?")[0]]).encode())

    with serving(Recorder) as url:
        got = Loopback(url)
        yield got
