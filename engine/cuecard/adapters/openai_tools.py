"""What OpenAI offers so that `tools` never changes: a choice among them, and definitions mid-conversation."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Literal, TypeAlias

from cuecard.adapters.block_places import MessageReader, homes
from cuecard.adapters.blocks import without_blocks
from cuecard.adapters.bodies import Body, Message, is_offered, loaded_tools, reminder, tool_name
from cuecard.errors import InputError, Problem
from cuecard.model import Appended, Step
from cuecard.records import dataclass

DEFINITIONS = "additional_tools"
"""The type of an item with definitions."""

Interface: TypeAlias = Literal["responses", "chat"]


def allowed_tools(
    tools: Iterable[Message], step: Step, interface: Interface = "responses", *, also: Collection[str] = ()
) -> Body:
    """A `tool_choice` that limits the model to the active tools and leaves `tools` unchanged.

    It is not part of the cached prefix, so a discovery does not break the cache. Still refuse calls of other tools.

    Args:
        tools: every tool of the conversation, in the form of the interface.
        step: the step from `prepare_step`.
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
    """The tools for the front, and the items with all other definitions, each after what brought its tool.

    That is the search result that found the tool, or the user message that brought it. For models with
    `additional_tools` on the Responses interface; pass both to `responses_request`. If a tool's search result is no
    longer among the items, the tool is defined in front. Definitions stay when a tool is withdrawn: refuse its calls.

    Args:
        tools: every tool of the conversation.
        items: the conversation so far; definitions that this function placed earlier are recognised.
        step: the step from `prepare_step`.
        also: names of the host's own tools, which the catalogue does not know and which are always there.

    Raises:
        InputError: when there is no item of the user that a definition could follow.
    """
    late = _Late.of(tools, items, step)
    return late.front(also), late.after({**late.found, **dict.fromkeys(step.brought)})


def late_definitions(
    tools: Iterable[Message], items: Iterable[Message], step: Step
) -> tuple[list[Message], list[Message]]:
    """The same for tools of any kind: those that the catalogue does not know stay in front.

    Nothing changes where the host has placed definitions itself, or leaves the search to the model.
    """
    offered, said = list(tools), list(items)
    placed = {tool_name(tool) for item in said if item.get("type") == DEFINITIONS for tool in item["tools"]}
    searches = any(tool.get("type") == "tool_search" for tool in offered)
    if searches or not placed <= {tool_name(tool) for tool in offered}:
        return offered, said
    ours = {tool_name(tool): tool for tool in offered if tool_name(tool) in step.refusals.tools}
    first, said = additional_tools(ours.values(), said, step)
    late = ours.keys() - {tool_name(tool) for tool in first}
    return [tool for tool in offered if tool_name(tool) not in late], said


def client_tool_search(
    tools: Iterable[Message], items: Iterable[Message], step: Step, *, also: Collection[str] = ()
) -> tuple[list[Message], list[Message]]:
    """The tools for the front, and the items with the definitions that each search has found in its output.

    For models with OpenAI's own tool search, executed by the host. The search tool is sent as
    `{"type": "tool_search", "execution": "client"}` with the description and parameters of your function. The model
    answers with a `tool_search_call`: run `search_tools` with its arguments, and append the item
    `{"type": "tool_search_output", "call_id": ..., "execution": "client", "status": "completed", "tools": []}`. This
    function fills in its `tools`. To the engine, it is a search result like any other. Tools that a user message
    brought follow that message as `additional_tools`.

    Args:
        tools: every tool of the conversation, including the search tool as a function.
        items: the conversation so far; outputs that this function filled earlier stay unchanged.
        step: the step from `prepare_step`.
        also: names of the host's own tools, which the catalogue does not know and which are always there.

    Raises:
        InputError: when the search tool is not among the tools, or there is no item of the user that a definition could
            follow.
    """
    late, search = _Late.of(tools, items, step), step.refusals.search
    if step.offers_search and search not in late.tools:
        hint = f"add the function `{search}` to the tools: its description and parameters are used for the search"
        raise InputError(Problem("wrong-option", f"the search tool `{search}` is not among the tools", hint, "tools"))
    front = [_searching(tool) if tool_name(tool) == search else tool for tool in late.front(also)]
    by_call: dict[str, list[Message]] = {}
    for name, call in late.found.items():
        by_call.setdefault(call, []).append({**late.tools[name], "defer_loading": True})
    rest = [name for name, call in late.found.items() if not late.is_client_output(call)]
    filled = late.after(dict.fromkeys((*rest, *step.brought)))
    return front, [
        {**item, "tools": by_call.get(item.get("call_id") or "", [])} if _is_client_output(item) else item
        for item in filled
    ]


def _searching(tool: Message) -> Message:
    told = {key: tool[key] for key in ("description", "parameters") if key in tool}
    return {"type": "tool_search", "execution": "client", **told}


@dataclass(frozen=True, slots=True)
class _Late:
    """A conversation and its tools, by where their definitions can stand.

    Attributes:
        tools: every tool, by name.
        items: the conversation without definitions.
        found: the tools that search results among the items have found, by name, each with the call.
        step: the step from `prepare_step`.
    """

    tools: Mapping[str, Message]
    items: Sequence[Message]
    found: Mapping[str, str]
    step: Step

    @classmethod
    def of(cls, tools: Iterable[Message], items: Iterable[Message], step: Step) -> _Late:
        bare = [item for item in items if item.get("type") != DEFINITIONS]
        held = {call for item in bare for call in _output_ids(item)}
        by_name = {tool_name(tool): tool for tool in tools}
        base = loaded_tools(step)
        found = {
            each.tool: each.after_call_id
            for each in step.found
            if each.after_call_id is not None and each.after_call_id in held
            if each.tool in by_name and each.tool not in base and each.tool not in step.brought
        }
        return cls(by_name, bare, found, step)

    def front(self, also: Collection[str]) -> list[Message]:
        """What is defined from the start, and what nothing else could define."""
        step = self.step
        base = {name for name in (*loaded_tools(step), *also) if is_offered(name, step)}
        # One that was withdrawn before the baseline comes with the message that brings it back.
        told = (each for each in step.found if each.after_call_id or each.tool in step.active_tools)
        lost = {each.tool for each in told} - self.found.keys() - step.brought.keys()
        return [tool for name, tool in self.tools.items() if name in base or name in lost]

    def is_client_output(self, call: str) -> bool:
        return any(_is_client_output(item) and item.get("call_id") == call for item in self.items)

    def after(self, names: Iterable[str]) -> list[Message]:
        """The items with the definitions of these tools as items of their own, each behind what brought its tool."""
        step = self.step
        wanted = [
            Appended(self.found.get(name), name, turn=None if name in self.found else step.brought[name])
            for name in names
            if name in self.tools
        ]
        reader = MessageReader(_output_ids, lambda item: item.get("role") == "user")
        made = {block.text: {"role": "user", "content": reminder(block.text, step.reminder)} for block in step.appended}
        bare = without_blocks(self.items, step, made, reader)
        read = reader.read(self.items[place] for place in bare)
        given, late = defaultdict[int, list[Body]](list), defaultdict[int, list[Body]](list)
        for home, found in homes(read, wanted, step.turns).items():
            for each in found:  # one told too late goes behind the next message, which no request before has held
                told_late = each.after_call_id is None and each.text in self.found
                place = bare[read.next_told(home) if told_late else home]
                (late if told_late else given)[place].append(dict(self.tools[each.text]))
        placed: list[Message] = []
        for place, item in enumerate(self.items):  # in front of blocks: a later request may add one there
            placed.append(item)
            defined = (each[place] for each in (late, given) if place in each)
            placed += [{"type": DEFINITIONS, "role": "developer", "tools": tools} for tools in defined]
        return placed


def _is_client_output(item: Message) -> bool:
    return item.get("type") == "tool_search_output" and item.get("execution") == "client"


def _output_ids(item: Message) -> tuple[str, ...]:
    # A search that the server has run has no id.
    return (item.get("call_id") or "",) if str(item.get("type")).endswith("_output") else ()
