"""The tools of a LangChain agent as a request shows them, the search tool, and what reveals a tool to Claude."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any, TypeAlias

from langchain_core.messages import BaseMessage, ToolMessage
from langchain_core.tools import BaseTool, StructuredTool
from pydantic import Field, create_model

from cuecard.adapters.bodies import loaded_tools
from cuecard.adapters.function_tools import search_card
from cuecard.adapters.host import HostTool
from cuecard.adapters.langgraph.messages import revealed_by_results
from cuecard.engine import Engine
from cuecard.model import Step

AnyTool: TypeAlias = BaseTool | dict[str, Any]
"""A tool that runs here, or one of the provider's, in its own form."""


def name_of(tool: AnyTool) -> str:
    """The name of a tool; of a provider's own, its type where it has none."""
    if not isinstance(tool, dict):  # quicker than to ask for an abstract class
        return tool.name
    function = tool.get("function")
    named = tool.get("name") or (function.get("name") if isinstance(function, dict) else None)
    return str(named or tool.get("type", ""))


def described(tool: AnyTool) -> HostTool:
    """What a tool says of itself."""
    if not isinstance(tool, dict):
        return HostTool.of(tool.name, tool.description, {"properties": tool.args})
    function = tool.get("function")
    told: dict[str, Any] = function if isinstance(function, dict) else tool
    schema = told.get("parameters") or told.get("input_schema")
    return HostTool.of(name_of(tool), str(told.get("description") or ""), schema)


class OrderedTools:
    """Tools in an order that no discovery changes: by the baseline, then by name. The last order is kept."""

    def __init__(self) -> None:
        self._last: tuple[tuple[str, ...], list[AnyTool], list[AnyTool]] = ((), [], [])

    def of(self, tools: Sequence[AnyTool], step: Step) -> list[AnyTool]:
        """These tools, as every request of the conversation has them."""
        base, (known, given, ordered) = step.base_tools, self._last
        if base != known or [*map(id, tools)] != [*map(id, given)]:
            first = {name: place for place, name in enumerate(base)}
            named = {name_of(tool): tool for tool in tools}
            ordered = [named[name] for name in sorted(named, key=lambda name: (first.get(name, len(first)), name))]
            self._last = (base, list(tools), ordered)
        return [*ordered]


class DeferredTools:
    """Copies of tools that Claude is sent with `defer_loading`; each is made once."""

    def __init__(self) -> None:
        self._copies: dict[str, tuple[BaseTool, BaseTool]] = {}

    def shown(
        self, tools: Iterable[AnyTool], step: Step, catalogue: Collection[str], held: Collection[str]
    ) -> list[Any]:
        """The tools, those that are still to be found deferred.

        Args:
            tools: all of them, in their order.
            step: what is to be sent.
            catalogue: the names that the engine knows.
            held: the call ids of the results in the messages: a tool whose search result is gone is loaded, since
                nothing could reveal it. Where the agent searches ahead, all are: a message that brings tools comes
                before any result that could reveal them.
        """
        if step.looks_ahead:
            return list(tools)
        found = (each for each in step.found if each.tool not in step.brought)
        lost = {each.tool for each in found if each.after_call_id not in held}
        loaded = loaded_tools(step) | lost
        return [
            self._copy(tool)
            if isinstance(tool, BaseTool) and tool.name in catalogue and tool.name not in loaded
            else tool
            for tool in tools
        ]

    def _copy(self, tool: BaseTool) -> BaseTool:
        known = self._copies.get(tool.name)
        if known is None or known[0] is not tool:
            copy = tool.model_copy(update={"extras": {**(tool.extras or {}), "defer_loading": True}})
            known = self._copies[tool.name] = (tool, copy)
        return known[1]


def revealing(messages: Sequence[BaseMessage], step: Step, there: Collection[str]) -> list[BaseMessage]:
    """The messages with references, in each search result, to the deferred tools that it found.

    What a message of the user brought is revealed by the first result behind that.
    """
    found: dict[str, list[dict[str, str]]] = {}
    calls = {each.tool: each.after_call_id for each in step.found if each.tool not in step.brought}
    for tool, call in {**calls, **revealed_by_results(messages, step)}.items():
        if call is not None and tool in there:
            found.setdefault(call, []).append({"type": "tool_reference", "tool_name": tool})
    return [
        # The first result with an id counts, and a provider takes each reference once.
        _with(message, found.pop(message.tool_call_id))
        if isinstance(message, ToolMessage) and message.tool_call_id in found
        else message
        for message in messages
    ]


def _with(message: ToolMessage, references: list[dict[str, str]]) -> ToolMessage:
    said = message.content
    parts = [{"type": "text", "text": said}] if isinstance(said, str) else said
    return message.model_copy(update={"content": [*parts, *(each for each in references if each not in parts)]})


def rough(tools: Iterable[AnyTool]) -> list[dict[str, Any]]:
    """The tools as far as their length counts."""
    return [
        {"name": tool.name, "description": tool.description, "args": json.dumps(tool.args, default=str)}
        if isinstance(tool, BaseTool)
        else tool
        for tool in tools
    ]


def search_tool(engine: Engine, search: Callable[..., Any]) -> BaseTool:
    """The search tool, under the name that the agent file gives it, described in the agent's words."""
    name, words = engine.search_tool, engine.words.search
    fields: dict[str, Any] = {
        "query": (str, Field(description=words.query_description)),
        "limit": (int | None, Field(default=None, description=words.limit_description)),
    }
    return StructuredTool.from_function(
        search,
        name=name,
        description=search_card(engine).description,
        args_schema=create_model(name, **fields),
        handle_tool_error=True,
    )
