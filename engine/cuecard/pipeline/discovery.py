"""Tools a conversation has discovered."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence

from cuecard.errors import visible
from cuecard.model import Call, Cut, Diagnostic, Discovery, Json, ResultRecord, ToolResult
from cuecard.model.values import BLOCKS, STRUCTURED
from cuecard.pipeline.run import NO_TALLY, Tally
from cuecard.pipeline.search_results import NOTHING_FOUND, found_names
from cuecard.records import dataclass, replace

_WRAPS = ("result", "output", *STRUCTURED, "content", "json", "text", "response", *BLOCKS)
_DEEPEST = 6


def asks_first(result: Json, key: str, depth: int = _DEEPEST) -> bool:
    """Whether an object in this result has the key with the value true.

    The result itself, JSON text, and the wrappers of frameworks, tool servers and providers are examined: `result`,
    `output`, `structuredContent`, `toolResult`, `functionResponse`, and lists of content.
    """
    if not depth or not key:
        return False
    if isinstance(result, str):
        return key in result and asks_first(_parsed(result), key, depth - 1)
    if isinstance(result, Mapping):
        return result.get(key) is True or any(asks_first(result.get(wrap), key, depth - 1) for wrap in _WRAPS)
    if isinstance(result, (list, tuple)):
        return any(asks_first(part, key, depth - 1) for part in result if _is_part(part))
    return False


def _is_part(part: Json) -> bool:
    """Whether an item of a list is a part of content with text or JSON; Bedrock's parts have no type."""
    return isinstance(part, Mapping) and (part.get("type") in {"text", "json"} or part.keys() in ({"text"}, {"json"}))


def _parsed(text: str) -> Json:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, (dict, list)) else None


@dataclass(frozen=True, slots=True)
class FirstResult:
    """The first result of a discovered tool that reports success.

    `behind` is the number of tools discovered by then.
    """

    tool: str
    after_call_id: str | None
    batch: str | None
    behind: int


@dataclass(frozen=True)
class Discoveries:
    """The tools that searches have named so far.

    Attributes:
        tools: tools in the catalogue, in order of first discovery.
        unknown: other names.
        diagnostics: the problems of results, each with the tool and the call but never the text: unreadable results,
            and searches whose call id belonged to another result before.
        called: tools in the catalogue that were called without an error, the one with the oldest last result first.
        named: tools in the catalogue that searches named, ending with the best hit of the latest search.
        answers: the first results of discovered tools, in order.
        early: results of tools in the catalogue that were not discovered by then.
        tally: what counts against the limits of the run.
    """

    tools: tuple[Discovery, ...] = ()
    unknown: tuple[Cut, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    called: tuple[str, ...] = ()
    named: tuple[str, ...] = ()
    answers: tuple[FirstResult, ...] = ()
    early: tuple[Discovery, ...] = ()
    tally: Tally = NO_TALLY

    @classmethod
    def before(cls, call: Call) -> Discoveries:
        """The discoveries at the beginning of a call."""
        tools = call.tools
        tally = Tally.before(call.run)
        return cls(tools.discovered, called=tools.called, named=tools.named, early=tools.early, tally=tally)

    def without(self, left: Collection[str]) -> Discoveries:
        """The discoveries without tools that have left the conversation."""
        kept = tuple(found for found in self.tools if found.tool not in left)
        return replace(self, tools=kept, named=tuple(name for name in self.named if name not in left))

    def more(self, results: Sequence[ResultRecord], known: Collection[str], *, cues: bool) -> Discoveries:
        """The discoveries including those in later results.

        Earlier ones stay in front and are never reordered, so a conversation can be read in portions of any size.

        Args:
            results: the results in order, after those that were read before.
            known: the names in the catalogue; others are dropped and recorded.
            cues: whether first results of tools trigger cues, so that `answers` and `early` are needed.
        """
        left, earlier = self.tally.run.left, self.tally.earlier(results)
        tally = self.tally.more(results, earlier)
        if left and earlier:
            results = [_without(left, result) for result in results[:earlier]] + [*results[earlier:]]
        return self._more(results, known, tally, cues=cues)

    def _more(
        self, results: Sequence[ResultRecord], known: Collection[str], tally: Tally, *, cues: bool
    ) -> Discoveries:
        good = [result for result in results if not result.is_error]
        read = [result for result in good if result.found or result.unread]
        called = _latest(self.called, [r.tool for r in good if not r.found and r.tool in known])
        answers = _Answers(self, known) if cues else None
        if not read:
            if called is self.called:
                return self if tally is self.tally else replace(self, tally=tally)
            if answers is None:
                return replace(self, called=called, tally=tally)
            answers.note(good, {discovery.tool for discovery in self.tools})
            return replace(self, called=called, answers=answers.first, early=answers.too_soon, tally=tally)
        told = dict.fromkeys([*self.diagnostics, *[_unread(result) for result in read if result.unread]])
        tools = {discovery.tool: discovery for discovery in self.tools}
        unknown = {cut.what: cut for cut in self.unknown}
        # Within one search, the best hit counts as the latest.
        named = _latest(self.named, [n for search in read for n in reversed(search.found) if n in known])
        searches = {discovery.after_call_id for discovery in self.tools}
        for search in read if answers is None else good:
            if answers is not None and not (search.found or search.unread):
                answers.note((search,), tools)
            new = [name for name in search.found if name not in tools]
            if lost := [name for name in new if name not in known]:
                unknown |= {name: _unknown(name) for name in lost if name not in unknown}
                new = [name for name in new if name in known]
            if new:
                if search.call_id and search.call_id in searches:
                    told[_repeated(search)] = None
                searches.add(search.call_id)
                tools |= {name: Discovery(name, search.call_id) for name in new}
        first, early = (self.answers, self.early) if answers is None else (answers.first, answers.too_soon)
        return Discoveries(
            tuple(tools.values()), tuple(unknown.values()), tuple(told), called, named, first, early, tally
        )


def _unknown(name: str) -> Cut:
    return Cut(name, "unknown tool: named by a search result, but not in the catalogue")


def _without(left: Collection[str], result: ResultRecord) -> ResultRecord:
    """A result as if it had not named these tools."""
    found = tuple(name for name in result.found if name not in left)
    return result if len(found) == len(result.found) else replace(result, found=found)


def _latest(before: tuple[str, ...], now: Sequence[str]) -> tuple[str, ...]:
    """Names ordered by their last occurrence: new ones after earlier ones."""
    if not now:
        return before
    return tuple(reversed(dict.fromkeys(reversed((*before, *now)))))


class _Answers:
    """Collects the first results of discovered tools, and those that came too early."""

    def __init__(self, found: Discoveries, known: Collection[str]) -> None:
        self._known = known
        self._first = {each.tool: each for each in found.answers}
        self._early = dict.fromkeys(found.early)

    def note(self, results: Iterable[ResultRecord], tools: Collection[str]) -> None:
        """Read results without errors, with `tools` discovered by then."""
        for result in results:
            if result.pending or result.tool in self._first or result.tool not in self._known:
                continue
            what = Discovery(result.tool, result.call_id)
            if result.tool not in tools:
                self._early[what] = None
            elif what not in self._early:
                self._first[result.tool] = FirstResult(result.tool, result.call_id, result.batch, len(tools))

    @property
    def first(self) -> tuple[FirstResult, ...]:
        return tuple(self._first.values())

    @property
    def too_soon(self) -> tuple[Discovery, ...]:
        return tuple(self._early)


def record_of(result: ToolResult, search_tool: str, pending: str = "") -> ResultRecord:
    """What is kept of a result; the content of errors is never read.

    Args:
        result: the result.
        search_tool: the tool whose results contain tool names.
        pending: the key with which a result of another tool asks for confirmation; empty if not used.
    """
    searched = result.tool == search_tool and not result.is_error
    found = found_names(result.result) if searched else NOTHING_FOUND
    asks = result.pending or bool(pending and not searched and asks_first(result.result, pending))
    return ResultRecord(result.tool, result.call_id, found.names, result.is_error, found.unread, asks, result.batch)


def last_call_id(results: Sequence[ToolResult | ResultRecord]) -> str | None:
    """The call id of the last result that has one."""
    return next((result.call_id for result in reversed(results) if result.call_id is not None), None)


def _unread(record: ResultRecord) -> Diagnostic:
    return Diagnostic("unknown_search_result", f"{_named(record)}: {record.unread}")


def _repeated(record: ResultRecord) -> Diagnostic:
    told = "an earlier search has the same id, so blocks for both go behind its result; give each call an id of its own"
    return Diagnostic("repeated_call_id", f"{_named(record)}: {told}")


def _named(record: ResultRecord) -> str:
    call = f"call {visible(record.call_id)[:100]}" if record.call_id else "a call without an id"
    return f"{visible(record.tool)[:100]}, {call}"
