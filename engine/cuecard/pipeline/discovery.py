"""Which tools a conversation has discovered: read from results of the search tool, and from nothing else."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from cuecard.errors import visible
from cuecard.model import Call, Cut, Diagnostic, Discovery, ResultRecord, ToolResult
from cuecard.pipeline.found_names import FoundNames, found_names


@dataclass(frozen=True, slots=True)
class Found:
    """What searches have named so far.

    Attributes:
        tools: tools of the catalogue in order of first discovery.
        unknown: what else they named.
        unread: results that could not be read, each with the tool, the call and the shape, never the text.
        called: tools of the catalogue that were called without an error, the one whose last result is oldest first.
        named: tools of the catalogue that searches have named, the one that was named last at the end.
    """

    tools: tuple[Discovery, ...] = ()
    unknown: tuple[Cut, ...] = ()
    unread: tuple[Diagnostic, ...] = ()
    called: tuple[str, ...] = ()
    named: tuple[str, ...] = ()

    @classmethod
    def before(cls, call: Call) -> Found:
        """What had been found as a call began."""
        return cls(call.tools.discovered, called=call.tools.called, named=call.tools.named)

    def more(self, results: Iterable[ResultRecord], known: Collection[str]) -> Found:
        """With what later results found; `known` are the names of the catalogue, every other is dropped and recorded.

        What was found stays in front and is never re-ordered, so that a conversation can be read in any portions.
        """
        good = [result for result in results if not result.is_error]
        read = [result for result in good if result.found or result.unread]
        called = _latest(self.called, [r.tool for r in good if not r.found and r.tool in known])
        if not read:
            return self if called is self.called else replace(self, called=called)
        unread = dict.fromkeys((*self.unread, *(_unread(result) for result in read if result.unread)))
        tools = {discovery.tool: discovery for discovery in self.tools}
        unknown = {cut.what: cut for cut in self.unknown}
        named = dict.fromkeys(self.named)
        for search in read:
            for name in search.found:
                if name in known:
                    named.pop(name, None)
                    named[name] = None
                if name in tools or name in unknown:
                    continue
                if name in known:
                    tools[name] = Discovery(name, search.call_id)
                else:
                    unknown[name] = Cut(name, "unknown tool: a search result named it, the catalogue does not")
        return Found(tuple(tools.values()), tuple(unknown.values()), tuple(unread), called, tuple(named))


def _latest(before: tuple[str, ...], now: Sequence[str]) -> tuple[str, ...]:
    """Names by the place where each stands last: those of now behind those before."""
    if not now:
        return before
    return tuple(reversed(dict.fromkeys(reversed((*before, *now)))))


def record_of(result: ToolResult, search_tool: str) -> ResultRecord:
    """What is kept of a result; the bodies of other tools' results, and of errors, are never read."""
    searched = result.tool == search_tool and not result.is_error
    found = found_names(result.result) if searched else FoundNames()
    return ResultRecord(result.tool, result.call_id, found.names, result.is_error, found.unread)


def _unread(record: ResultRecord) -> Diagnostic:
    call = f"call {visible(record.call_id)[:100]}" if record.call_id else "a call without an id"
    return Diagnostic("unknown_search_result", f"{visible(record.tool)[:100]}, {call}: {record.unread}")
