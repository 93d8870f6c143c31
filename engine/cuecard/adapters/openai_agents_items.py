"""Input items of the OpenAI Agents SDK: the tool results in them, and the place of appended blocks among them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from cuecard.adapters.blocks import place_after
from cuecard.adapters.homes import Reader
from cuecard.adapters.placing import Body, reminder
from cuecard.errors import InputError, Problem
from cuecard.model import Authority, Step, ToolResult

Item: TypeAlias = Mapping[str, Any]
"""An input item: a message, a tool call, or what it gave."""

_OUTPUTS = ("function_call_output", "custom_tool_call_output")
_NOT_WHOLE = (
    "send the whole conversation, such as with a session, or where the server keeps it: Turn(host='system-only')"
)


def tool_results(items: Sequence[Item], known: Mapping[str, str]) -> tuple[ToolResult, ...]:
    """The results of function tools as the engine takes them, oldest first.

    Args:
        items: the conversation so far.
        known: the tools of earlier calls by call id, where a window has dropped those.

    Raises:
        InputError: naming each result whose call is neither among the items nor known.
    """
    tools = {**known, **{item["call_id"]: item["name"] for item in items if item.get("call_id") and item.get("name")}}
    results = list(_results(items, tools))
    if lost := [result.call_id for result in results if not result.tool]:
        raise InputError(
            [Problem("unknown-call", f"no call {call!r} is among the items", _NOT_WHOLE, "input") for call in lost]
        )
    return tuple(results)


def _results(items: Sequence[Item], tools: Mapping[str, str]) -> Iterator[ToolResult]:
    batch = None
    for place, item in enumerate(items):
        goes_on = place > 0 and _ids(items[place - 1])
        batch = batch if goes_on else str(item.get("call_id"))
        alone = not goes_on and not (place + 1 < len(items) and _ids(items[place + 1]))
        if item.get("type") in _OUTPUTS:
            call = item.get("call_id") or None
            yield ToolResult(tools.get(call or "", ""), item.get("output"), call, batch=None if alone else batch)


def place_blocks(items: Sequence[Item], step: Step, role: Authority) -> list[Body]:
    """The items with each block in its place, as a message of this role; for `user`, as a reminder of the user.

    Raises:
        InputError: when there is no item of the user or of a tool that a block could follow.
    """

    def block(text: str) -> Body:
        return {"role": role, "content": reminder(text, step.reminder) if role == "user" else text}

    return place_after(items, step, block, Reader(_ids, lambda item: item.get("role") == "user"))


def _ids(item: Item) -> tuple[str, ...]:
    return (item.get("call_id") or "",) if str(item.get("type", "")).endswith("_output") else ()
