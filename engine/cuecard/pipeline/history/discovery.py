"""Which tools a conversation has discovered: read from results of the search tool, and from nothing else."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable

from cuecard.model import Cut, Discovery, History, Json


def discover(
    history: History, *, search_tool: str, known: Collection[str], before: Iterable[Discovery] = ()
) -> tuple[tuple[Discovery, ...], tuple[Cut, ...]]:
    """The discovered tools in order of first discovery, and the names that were dropped.

    Args:
        history: tool results of the conversation, oldest first; results of other tools and errors count for nothing.
        search_tool: the name of the search tool.
        known: the names of the catalogue; every other name is dropped and recorded.
        before: what was discovered earlier; kept in front, never re-ordered.
    """
    found = {discovery.tool: discovery for discovery in before}
    dropped: dict[str, Cut] = {}
    for item in history:
        if item.tool != search_tool or item.is_error:
            continue
        for name in found_names(item.result):
            if name in known:
                found.setdefault(name, Discovery(name, item.call_id))
            else:
                dropped.setdefault(name, Cut(name, "unknown tool: a search result named it, the catalogue does not"))
    return tuple(found.values()), tuple(dropped.values())


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
