"""The results that a conversation knows: which of those it is passed are new, and which tool a call id stands for."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from cuecard.errors import InputError, Problem
from cuecard.model import History, ResultRecord, ToolResult
from cuecard.pipeline.discovery import record_of

_NAME_IT = "name it in the result, or pass `calls={id: tool}`"


class KnownResults:
    """The results so far, by their call ids; `tools` has the tool of each."""

    __slots__ = ("_records", "tools")

    def __init__(self, records: Iterable[ResultRecord] = ()) -> None:
        self._records: set[ResultRecord] = set()
        self.tools: dict[str, str] = {}
        self.note(records)

    def __copy__(self) -> KnownResults:
        """The same results, to be added to separately."""
        made = KnownResults()
        made._records, made.tools = set(self._records), dict(self.tools)
        return made

    def note(self, records: Iterable[ResultRecord]) -> None:
        """Add results."""
        for record in records:
            if record.call_id is not None:
                self._records.add(record)
                self.tools[record.call_id] = record.tool

    def named(self, results: History, waiting: Mapping[str, str]) -> History:
        """The results, each with the name of its tool.

        Args:
            results: results in their order.
            waiting: the tools of calls without a result yet, by call id; they count before those of known results.

        Raises:
            InputError: naming each result that has no name, and whose call is not known.
        """
        if all(result.tool for result in results):
            return results
        tools = ChainMap(dict(waiting), self.tools)
        problems = [
            Problem("unknown-call", f"unknown call id {each.call_id!r}", _NAME_IT, f"results[{place}]")
            for place, each in enumerate(results)
            if not each.tool and (each.call_id or "") not in tools
        ]
        if problems:
            raise InputError(problems)
        return [each if each.tool else replace(each, tool=tools[each.call_id or ""]) for each in results]

    def news(self, results: History, search: str, pending: str) -> Iterator[tuple[ResultRecord, ToolResult]]:
        """The results that are not known yet, each with what is kept of it; one without a call id is always new.

        Args:
            results: results with the names of their tools.
            search: the search tool.
            pending: the key by which a result asks for confirmation.
        """
        batch: set[ResultRecord] = set()
        for result in results:
            record = record_of(result, search, pending)
            if record.call_id is None or (record not in self._records and record not in batch):
                batch.add(record)
                yield record, result
