"""What OpenAI offers so that `tools` never changes: a choice among them, and definitions in mid-conversation."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Literal, TypeAlias

from cuecard.adapters.placing import Body, Message, tool_name
from cuecard.model import Step

Interface: TypeAlias = Literal["responses", "chat"]


def allowed_tools(
    tools: Iterable[Message], step: Step, interface: Interface = "responses", *, also: Collection[str] = ()
) -> Body:
    """A `tool_choice` that leaves the model the tools that are active, and `tools` as it is.

    It stands behind the prefix, so a discovery costs no cache by it. A model that calls another tool all the same has
    to be refused, as anywhere.

    Args:
        tools: every tool of the conversation, in the form of the interface.
        step: what `prepare_step` gave.
        interface: whose form it gets.
        also: names of the host's own tools, which the catalogue does not know and which are always there.
    """
    may = {*step.active_tools, *also}
    names = [name for name in map(tool_name, tools) if name in may]
    if interface == "chat":
        listed = [{"type": "function", "function": {"name": name}} for name in names]
        return {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": listed}}
    return {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "function", "name": name} for name in names]}


def additional_tools(
    tools: Iterable[Message], items: Iterable[Message], step: Step, *, also: Collection[str] = ()
) -> tuple[list[Message], list[Message]]:
    """The tools for the front, and the items with each other definition behind the search result that found it.

    For the Responses interface of models that take `additional_tools`; both go into `responses_request`. A tool whose
    search result is no longer among the items is defined in front, since nothing else could.

    Args:
        tools: every tool of the conversation.
        items: the conversation so far; definitions that this function has placed before are recognised.
        step: what `prepare_step` gave.
        also: names of the host's own tools, which the catalogue does not know and which are always there.
    """
    bare = [item for item in items if item.get("type") != "additional_tools"]
    held = {item.get("call_id") for item in bare if _is_output(item)}
    found = {each.tool: each.after_call_id for each in step.discovered if each.after_call_id in held}
    active, by_name = {*step.active_tools, *also}, {tool_name(tool): tool for tool in tools}
    front = [tool for name, tool in by_name.items() if name in active and name not in found]
    placed: list[Message] = []
    waiting: list[str] = []
    for place, item in enumerate(bare):
        placed.append(item)
        waiting += [name for name, call in found.items() if _is_output(item) and item.get("call_id") == call]
        if waiting and not _goes_on(bare, place):
            given = [dict(by_name[name]) for name in waiting if name in by_name and name in active]
            placed += [{"type": "additional_tools", "role": "developer", "tools": given}] if given else []
            waiting = []
    return front, placed


def _goes_on(items: Sequence[Message], place: int) -> bool:
    """Whether another result of the same batch follows."""
    return place + 1 < len(items) and _is_output(items[place + 1])


def _is_output(item: Message) -> bool:
    return str(item.get("type", "")).endswith("_output")
