"""Which tools a conversation has discovered: read from results of the search tool, and from nothing else."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from cuecard.model import Cut, Discovery, Json, ResultRecord, ToolResult


@dataclass(frozen=True, slots=True)
class Found:
    """What searches have named so far: tools of the catalogue in order of first discovery, and what else they named."""

    tools: tuple[Discovery, ...] = ()
    unknown: tuple[Cut, ...] = ()

    def more(self, results: Iterable[ResultRecord], known: Collection[str]) -> Found:
        """With what later results found; `known` are the names of the catalogue, every other is dropped and recorded.

        What was found stays in front and is never re-ordered, so that a conversation can be read in any portions.
        """
        searches = [result for result in results if result.found and not result.is_error]
        if not searches:
            return self
        tools = {discovery.tool: discovery for discovery in self.tools}
        unknown = {cut.what: cut for cut in self.unknown}
        for search in searches:
            for name in search.found:
                if name in tools or name in unknown:
                    continue
                if name in known:
                    tools[name] = Discovery(name, search.call_id)
                else:
                    unknown[name] = Cut(name, "unknown tool: a search result named it, the catalogue does not")
        return Found(tuple(tools.values()), tuple(unknown.values()))


def record_of(result: ToolResult, search_tool: str) -> ResultRecord:
    """What is kept of a result; the bodies of other tools' results, and of errors, are never read."""
    searched = result.tool == search_tool and not result.is_error
    found = tuple(dict.fromkeys(found_names(result.result))) if searched else ()
    return ResultRecord(result.tool, result.call_id, found, result.is_error)


def found_names(result: Json) -> list[str]:
    """The tool names in a search result.

    Understood are `{"tools": [...]}` with names or `{"name": ...}` objects, the same under `result` or as JSON text
    (frameworks wrap results differently), and nothing else: no other text of a result is ever read.
    """
    if isinstance(result, str):
        try:
            result = json.loads(result)
        except (ValueError, RecursionError):
            return []
    if not isinstance(result, dict):
        return []
    tools = result.get("tools")
    if tools is None and isinstance(result.get("result"), dict):
        tools = result["result"].get("tools")
    if not isinstance(tools, (list, tuple)):
        return []
    names = (tool.get("name") if isinstance(tool, dict) else tool for tool in tools)
    return [name for name in names if isinstance(name, str) and name]
