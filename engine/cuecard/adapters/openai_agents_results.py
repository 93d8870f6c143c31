"""Results in the items of the OpenAI Agents SDK, as the texts that the agent file makes of them."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from cuecard.adapters.openai_agents_items import Item, is_result, said_in, tools_of
from cuecard.adapters.plain_values import plain_value
from cuecard.model import Json, RenderedResult, ToolResult

Render = Callable[[ToolResult], RenderedResult]


def with_results(
    items: Sequence[Item], render: Render, known: Mapping[str, str], given: Mapping[str, Any], failed: set[str]
) -> list[Item]:
    """The items of one request with results as texts, where the agent has templates for them.

    The session keeps what the tools returned. A result with something else than texts in it stays as it is.

    Args:
        items: the conversation so far.
        render: makes the text of a result.
        known: the tools of earlier calls by call id, where a window has dropped those.
        given: what tools returned in this process, before the SDK made text of it, by call id.
        failed: the ids of calls that failed or were refused.
    """
    tools = tools_of(items, known)

    def told(item: Item) -> Item:
        call = str(item.get("call_id") or "")
        if not is_result(item) or not tools.get(call) or not _is_text(item.get("output")):
            return item
        said = _value(given.get(call), said_in(item.get("output")))
        result = render(ToolResult(tools[call], said, call, is_error=call in failed))
        return {**item, "output": result.text} if result.rule else item

    return [told(item) for item in items]


def _is_text(output: Any) -> bool:
    parts = output if isinstance(output, list) else []
    return all(isinstance(part, Mapping) and part.get("type") == "input_text" for part in parts)


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
