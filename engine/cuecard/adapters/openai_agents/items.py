"""Input items of the Agents SDK, and results in them."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, TypeAlias

from cuecard.adapters.block_places import MessageFacts, homes
from cuecard.adapters.bodies import reminder
from cuecard.adapters.function_tools import plain_value
from cuecard.adapters.host import content_text, said_beside_files, told_beside_files
from cuecard.adapters.one_turn import in_ended_turns
from cuecard.errors import InputError, Problem
from cuecard.model import Authority, Json, RenderedResult, Step, ToolResult

Item: TypeAlias = Mapping[str, Any]
"""An input item: a message, a tool call, or what it gave."""

_OUTPUTS = ("function_call_output", "custom_tool_call_output")
_NOT_WHOLE = (
    "send the whole conversation, for example with a session; if the server keeps it, use Turn(host='system-only')"
)


def user_words(items: Sequence[Item]) -> str:
    """The text of the last message of the user."""
    return next((content_text(item.get("content")) for item in reversed(items) if item.get("role") == "user"), "")


def tool_results(
    items: Sequence[Item], known: Mapping[str, str], read: Mapping[str, str] | None = None
) -> tuple[ToolResult, ...]:
    """The results of function tools as the engine takes them, oldest first.

    Args:
        items: the conversation so far.
        known: the tools of earlier calls by call id, where a window has dropped those.
        read: the tools of calls by call id whose results are left out, because they were read before.

    Raises:
        InputError: naming each result whose call is neither among the items nor known.
    """
    results = list(_results(items, tools_of(items, known), read or {}))
    if lost := [result.call_id for result in results if not result.tool]:
        raise InputError(
            [Problem("unknown-call", f"the items contain no call {call!r}", _NOT_WHOLE, "input") for call in lost]
        )
    return tuple(results)


def tools_of(items: Sequence[Item], known: Mapping[str, str]) -> dict[str, str]:
    """The tools of calls, by call id: those of the items over those that are known."""
    return {**known, **{item["call_id"]: item["name"] for item in items if item.get("call_id") and item.get("name")}}


def is_result(item: Item) -> bool:
    """Whether an item is the result of a function tool."""
    return item.get("type") in _OUTPUTS


def _results(items: Sequence[Item], tools: Mapping[str, str], read: Mapping[str, str]) -> Iterator[ToolResult]:
    asked = {item["call_id"]: item.get("arguments") for item in items if item.get("call_id") and item.get("name")}
    for together in (tuple(group) for outputs, group in groupby(items, lambda item: bool(_ids(item))) if outputs):
        batch = str(together[0].get("call_id")) if len(together) > 1 else None
        for item in filter(is_result, together):
            call = item.get("call_id") or None
            tool = tools.get(call or "", "")
            if not tool or read.get(call or "") != tool:
                yield ToolResult(tool, said_in(item.get("output")), call, batch=batch, arguments=asked.get(call))


def said_in(output: Any) -> Any:
    """What a tool said beside pictures and files: of one text in a list of parts, the text."""
    only = output[0] if isinstance(output, list) and len(output) == 1 else None
    if isinstance(only, Mapping) and only.get("type") == "input_text":
        return only["text"]
    return said_beside_files(output)


def place_blocks(items: Sequence[Item], step: Step, role: Authority) -> list[Item]:
    """The items with each block in its place, as a message of this role; for `user`, as a reminder of the user.

    Args:
        items: of the request, without blocks: the SDK makes them anew for each.
        step: what is to be placed.
        role: whose words the blocks are.

    Raises:
        InputError: when there is no item of the user or of a tool that a block could follow.
    """
    found = homes(_read(items), step.appended, step.turns)
    placed: list[Item] = []
    for place, item in enumerate(items):
        placed.append(item)
        for block in found.get(place, ()):
            text = reminder(block.text, step.reminder) if role == "user" else block.text
            placed.append({"role": role, "content": text})
    return placed


def without_ended_thinking(items: Sequence[Item], step: Step) -> list[Item]:
    """The items without the reasoning of ended turns, for models that check it against what stands before it."""
    places = {place for held in in_ended_turns(_read(items), step) for place in held}
    return [item for at, item in enumerate(items) if at not in places or item.get("type") != "reasoning"]


def _read(items: Sequence[Item]) -> MessageFacts:
    """What of each item matters: history that a handoff has folded into an answer stands for the words in it."""
    return MessageFacts(
        [_ids(item) for item in items], [_says(item) or _is_folded(item, place) for place, item in enumerate(items)]
    )


def _says(item: Item) -> bool:
    return item.get("role") == "user"


def _is_folded(item: Item, place: int) -> bool:
    return place == 0 and item.get("role") == "assistant"


def _ids(item: Item) -> tuple[str, ...]:
    return (item.get("call_id") or "",) if str(item.get("type")).endswith("_output") else ()


Render = Callable[[ToolResult], RenderedResult]


def with_results(
    items: Sequence[Item], render: Render, known: Mapping[str, str], given: Mapping[str, Any], failed: set[str]
) -> list[Item]:
    """The items of one request with results as texts, where the agent has templates for them.

    The session keeps what the tools returned. Pictures and files stay, behind the text.

    Args:
        items: the conversation so far.
        render: makes the text of a result.
        known: the tools of earlier calls by call id, where a window has dropped those.
        given: what tools returned in this process, before the SDK made text of it, by call id.
        failed: the ids of calls that failed or were refused.
    """
    tools = tools_of(items, known)

    def told(item: Item) -> Item:
        call, output = str(item.get("call_id") or ""), item.get("output")
        said = said_in(output)
        if not is_result(item) or not tools.get(call) or said is None:
            return item
        result = render(ToolResult(tools[call], _value(given.get(call), said), call, is_error=call in failed))
        shown = {**item, "output": told_beside_files(output, result.text, "input_text")}
        return shown if result.rule or result.media else item

    return [told(item) for item in items]


def _value(given: Any, said: Any) -> Json:
    """What a tool returned. Only the process that ran the tool has it; in another one, the SDK's text is read back."""
    if not isinstance(said, str):
        return plain_value(said)
    return plain_value(_read_back(said) if given is None else given)


def _read_back(said: str) -> Any:
    """The object that the SDK has made this text of by `str`; the text itself where `str` would not write it so."""
    if said[:1] not in {"{", "["}:
        return said
    try:
        value = ast.literal_eval(said)
        return value if str(value) == said else said
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        return said
