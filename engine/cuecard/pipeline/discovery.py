"""Which tools a conversation has discovered: read from results of the search tool, and from nothing else."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from cuecard.errors import visible
from cuecard.model import Cut, Diagnostic, Discovery, ResultRecord, ToolResult
from cuecard.pipeline.found_names import FoundNames, found_names


@dataclass(frozen=True, slots=True)
class Found:
    """What searches have named so far.

    Attributes:
        tools: tools of the catalogue in order of first discovery.
        unknown: what else they named.
        unread: results that could not be read, each with the tool, the call and the shape, never the text.
    """

    tools: tuple[Discovery, ...] = ()
    unknown: tuple[Cut, ...] = ()
    unread: tuple[Diagnostic, ...] = ()

    def more(self, results: Iterable[ResultRecord], known: Collection[str]) -> Found:
        """With what later results found; `known` are the names of the catalogue, every other is dropped and recorded.

        What was found stays in front and is never re-ordered, so that a conversation can be read in any portions.
        """
        read = [result for result in results if not result.is_error and (result.found or result.unread)]
        if not read:
            return self
        unread = dict.fromkeys((*self.unread, *(_unread(result) for result in read if result.unread)))
        tools = {discovery.tool: discovery for discovery in self.tools}
        unknown = {cut.what: cut for cut in self.unknown}
        for search in read:
            for name in search.found:
                if name in tools or name in unknown:
                    continue
                if name in known:
                    tools[name] = Discovery(name, search.call_id)
                else:
                    unknown[name] = Cut(name, "unknown tool: a search result named it, the catalogue does not")
        return Found(tuple(tools.values()), tuple(unknown.values()), tuple(unread))


def record_of(result: ToolResult, search_tool: str) -> ResultRecord:
    """What is kept of a result; the bodies of other tools' results, and of errors, are never read."""
    searched = result.tool == search_tool and not result.is_error
    found = found_names(result.result) if searched else FoundNames()
    return ResultRecord(result.tool, result.call_id, found.names, result.is_error, found.unread)


def last_call_id(results: Sequence[ToolResult | ResultRecord]) -> str | None:
    """The call id of the last result that has one."""
    return next((result.call_id for result in reversed(results) if result.call_id is not None), None)


def _unread(record: ResultRecord) -> Diagnostic:
    call = f"call {visible(record.call_id)[:100]}" if record.call_id else "a call without an id"
    return Diagnostic("unknown_search_result", f"{visible(record.tool)[:100]}, {call}: {record.unread}")
