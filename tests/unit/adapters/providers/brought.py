"""A conversation whose tools are found by the user's words, named by the host, found by a search, and withdrawn."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from functools import cache
from typing import Any

from cuecard import Message, Step, ToolResult, Turn
from cuecard.types import ToolCall
from property.test_every_conversation import CORE, TOOLS, engine_of

NOW = datetime(2026, 11, 20, tzinfo=UTC)
ENGINE = engine_of(0, (1, 1, 1, 1, 0), "append", "next-call", "{}")
AHEAD, SEARCHED, NAMED, LATER = TOOLS[:4]
PLAIN = TOOLS[4]
"""A tool without instructions."""

Requests = list[tuple[Step, list[Message]]]


@cache
def requests() -> Requests:
    """Each request of four turns: the step, and the conversation so far."""
    chat, said, made = ENGINE.conversation(), list[Message](), Requests()

    def user(**turn: Any) -> None:
        said.append(Message("user", f"message {len(said)}"))
        chat.user(Turn(now=NOW, **turn))
        made.append((chat.step(), [*said]))

    def answered(result: ToolResult) -> None:
        said.append(Message("assistant", "", (ToolCall(result.call_id or "", result.tool),)))
        said.append(Message("tool", json.dumps(result.result), tool_call_id=result.call_id))
        made.append((chat.step([result]), [*said]))

    user(ahead=(AHEAD,))
    answered(ToolResult("tool_search", {"tools": [SEARCHED, AHEAD]}, "c1"))
    answered(ToolResult(SEARCHED, "done", "c2"))
    said.append(Message("assistant", "done"))
    user(ahead=(LATER,), discovered=(NAMED, PLAIN))
    answered(ToolResult(LATER, "done", "c3"))
    said.append(Message("assistant", "done"))
    user(tools=tuple(name for name in ENGINE.tools if name not in (AHEAD, SEARCHED, NAMED)))
    said.append(Message("assistant", "done"))
    user(ahead=(AHEAD,))
    return made


BROUGHT = {AHEAD: 0, NAMED: 1, PLAIN: 1, LATER: 1}
EVERY = (*TOOLS[::-1], *CORE)
