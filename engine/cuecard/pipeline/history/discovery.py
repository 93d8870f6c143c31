"""Which tools a conversation has discovered: read from results of the search tool, and from nothing else."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from cuecard.errors import visible
from cuecard.model import Cut, Diagnostic, Discovery, History, ToolResult
from cuecard.pipeline.history.found import found_names


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
        for name in found_names(item.result).names:
            if name in known:
                found.setdefault(name, Discovery(name, item.call_id))
            else:
                dropped.setdefault(name, Cut(name, "unknown tool: a search result named it, the catalogue does not"))
    return tuple(found.values()), tuple(dropped.values())


def unread_results(history: History, search_tool: str) -> tuple[Diagnostic, ...]:
    """What of the search's results could not be read: each with the tool, the call and the shape, never the text."""
    results = [item for item in history if item.tool == search_tool and not item.is_error]
    read = [(item, found_names(item.result).unread) for item in results]
    return tuple(dict.fromkeys(_unread(item, shape) for item, shape in read if shape))


def _unread(item: ToolResult, shape: str) -> Diagnostic:
    call = f"call {visible(item.call_id)[:100]}" if item.call_id else "a call without an id"
    return Diagnostic("unknown_search_result", f"{visible(item.tool)[:100]}, {call}: {shape}")
