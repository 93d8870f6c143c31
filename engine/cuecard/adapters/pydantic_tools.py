"""The tools of a pydantic-ai agent as a request shows them: a list that no discovery changes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

from pydantic_ai import RunContext, Tool
from pydantic_ai.tools import ToolDefinition
from pydantic_ai.toolsets import FunctionToolset

from cuecard.config.values.placeholders import fill
from cuecard.config.words_spec import WordsSpec
from cuecard.engine import Engine
from cuecard.model import Call, Step

Showing: TypeAlias = Literal["all", "revealed", "active"]
"""How a request shows tools that may be found.

`all`: every definition in front, from the start; a call of one that is not active is refused. `revealed`: the provider
gets the definition where the tool was found. `active`: those that are active, so that the list grows.
"""


@dataclass(frozen=True, slots=True)
class ToolList:
    """The definitions that a conversation has been sent, in the order in which they stand, and which are left."""

    sent: tuple[ToolDefinition, ...] = ()
    there: frozenset[str] = frozenset()

    def more(self, tools: Iterable[ToolDefinition], call: Call) -> ToolList:
        """The same list with tools that are new at its end, as the first list is sorted: those that are active from
        the start, then the others by name. What the agent no longer has stays: taking it out would change the front.
        """
        now = {tool.name: tool for tool in tools}
        there = frozenset(now)
        known = [now.pop(tool.name, tool) for tool in self.sent]
        first = {name: place for place, name in enumerate(call.tools.initial)}
        new = sorted(now.values(), key=lambda tool: (first.get(tool.name, len(first)), tool.name))
        return ToolList((*known, *new), there)

    def has(self, name: str) -> bool:
        """Whether the agent has a tool, as far as the list knows: of tools that are no functions it knows nothing."""
        return name in self.there or all(tool.name != name for tool in self.sent)

    def notices(self, before: ToolList, words: WordsSpec) -> list[str]:
        """What the model is told of tools that the agent has lost since the request before, or has again."""
        lost = [tool.name for tool in before.sent if tool.name in before.there - self.there]
        back = [tool.name for tool in before.sent if tool.name in self.there - before.there]
        told = ((words.notices.withdrawn_tools, lost), (words.notices.restored_tools, back))
        return [fill(notice, {"tools": words.listed(tools)}) for notice, tools in told if tools]


def shown_tools(
    tools: Sequence[ToolDefinition], step: Step, catalogue: Collection[str], showing: Showing
) -> list[ToolDefinition]:
    """The tools of one request; those that the catalogue does not know are the host's own, and always there."""
    if showing == "all":
        return list(tools)
    if showing == "active":
        return _active(tools, step, catalogue)
    late = {tool.name for tool in tools if tool.name in catalogue and tool.name not in step.initial_tools}
    return [replace(tool, defer_loading=True) if tool.name in late else tool for tool in tools]


def _active(tools: Iterable[ToolDefinition], step: Step, catalogue: Collection[str]) -> list[ToolDefinition]:
    order = {name: place for place, name in enumerate(step.active_tools)}

    def rank(tool: ToolDefinition) -> tuple[int, int]:
        group = 0 if tool.name in step.initial_tools else 2 if tool.name in order else 1
        return group, order.get(tool.name, 0)

    return sorted((tool for tool in tools if tool.name in order or tool.name not in catalogue), key=rank)


def search_toolset(engine: Engine, search: Callable[..., Awaitable[Any]]) -> FunctionToolset[Any]:
    """The search tool, under the name that the agent file gives it, described in the agent's words."""
    name, words = engine.search_tool, engine.words.search
    card = engine.tools.get(name)
    described = {"query": words.query_description, "limit": words.limit_description}

    async def in_words(_: RunContext[Any], tool: ToolDefinition) -> ToolDefinition:
        schema = tool.parameters_json_schema
        fields = {key: {**value, "description": described[key]} for key, value in schema["properties"].items()}
        return replace(tool, parameters_json_schema={**schema, "properties": fields})

    description = card.description if card else words.description
    return FunctionToolset([Tool(search, name=name, description=description, prepare=in_words)])
