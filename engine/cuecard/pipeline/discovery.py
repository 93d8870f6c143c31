"""Tools a conversation has discovered."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from types import MappingProxyType

from cuecard.errors import visible
from cuecard.model import Call, Cut, Diagnostic, Discovery, Json, ResultRecord, ToolResult
from cuecard.model.values import BLOCKS, STRUCTURED
from cuecard.pipeline.run import NO_TALLY, Tally
from cuecard.pipeline.search_results import NOTHING_FOUND, found_names
from cuecard.records import dataclass, replace

_WRAPS = ("result", "output", *STRUCTURED, "content", "json", "text", "response", *BLOCKS)
_DEEPEST = 6

NO_RESULTS: Mapping[str, str] = MappingProxyType({})


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
            and those that bring something under the call id of another one before.
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

    def more(
        self,
        results: Sequence[ResultRecord],
        known: Collection[str],
        *,
        cues: bool,
        before: Mapping[str, str] = NO_RESULTS,
    ) -> Discoveries:
        """The discoveries including those in later results.

        Earlier ones stay in front and are never reordered, so a conversation can be read in portions of any size.

        Args:
            results: the results in order, after those that were read before.
            known: the names in the catalogue; others are dropped and recorded.
            cues: whether first results of tools trigger cues, so that `answers` and `early` are needed.
            before: the tool of each result that was read before, by call id.
        """
        left, earlier = self.tally.run.left, self.tally.earlier(results)
        tally = self.tally.more(results, earlier)
        if left and earlier:
            results = [_without(left, result) for result in results[:earlier]] + [*results[earlier:]]
        return self._more(results, known, tally, before, cues=cues)

    def _more(
        self,
        results: Sequence[ResultRecord],
        known: Collection[str],
        tally: Tally,
        before: Mapping[str, str],
        *,
        cues: bool,
    ) -> Discoveries:
        good = [result for result in results if not result.is_error]
        read = [result for result in good if result.found or result.unread]
        called = _latest(self.called, [r.tool for r in good if not r.found and r.tool in known])
        if not read and (called is self.called or not cues):
            return replace(self, called=called, tally=tally)
        told = dict.fromkeys([*self.diagnostics, *[_unread(result) for result in read if result.unread]])
        tools = {discovery.tool: discovery for discovery in self.tools}
        unknown = {cut.what: cut for cut in self.unknown}
        # Within one search, the best hit counts as the latest.
        named = _latest(self.named, [n for search in read for n in reversed(search.found) if n in known])
        answers, bringing = _Answers(self, known) if cues else None, list[ResultRecord]()
        for result in good if answers else read:
            first = answers and not (result.found or result.unread) and answers.note(result, tools)
            new = [name for name in result.found if name not in tools]
            if lost := [name for name in new if name not in known]:
                unknown |= {name: _unknown(name) for name in lost if name not in unknown}
                new = [name for name in new if name in known]
            tools |= {name: Discovery(name, result.call_id) for name in new}
            bringing += [result] if new or first else []
        if bringing:
            shared = _sharing(results, before, {found.after_call_id for found in self.tools})
            told |= dict.fromkeys(_repeated(result) for result in bringing if result in shared)
        firsts, early = (answers.first, answers.too_soon) if answers else (self.answers, self.early)
        return Discoveries(
            tuple(tools.values()), tuple(unknown.values()), tuple(told), called, named, firsts, early, tally
        )


def _sharing(
    results: Iterable[ResultRecord], before: Mapping[str, str], searches: Collection[str | None]
) -> set[ResultRecord]:
    """The results whose call id another one before them has, too.

    A tool's own earlier result counts for searches alone: elsewhere it has asked for confirmation, say.
    """
    first, shared = dict[str | None, ResultRecord](), set[ResultRecord]()
    for each in results:
        call, earlier = each.call_id, first.setdefault(each.call_id, each)
        known = call in before or call in searches
        if call is None or (earlier is each and not known):
            continue
        if (each.found and (known or each != earlier)) or not earlier.tool == each.tool == before.get(call, each.tool):
            shared.add(each)
    return shared


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

    def note(self, result: ResultRecord, tools: Collection[str]) -> bool:
        """Whether a result without an error is the first one of its tool, with `tools` discovered by then."""
        if result.pending or result.tool in self._first or result.tool not in self._known:
            return False
        what = Discovery(result.tool, result.call_id)
        if result.tool not in tools:
            self._early[what] = None
        elif what not in self._early:
            self._first[result.tool] = FirstResult(result.tool, result.call_id, result.batch, len(tools))
        return result.tool in self._first

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


def _unread(record: ResultRecord) -> Diagnostic:
    return Diagnostic("unknown_search_result", f"{_named(record)}: {record.unread}")


def _repeated(record: ResultRecord) -> Diagnostic:
    told = "an earlier result has the same id, so this one's blocks may go behind it; give each call an id of its own"
    return Diagnostic("repeated_call_id", f"{_named(record)}: {told}")


def _named(record: ResultRecord) -> str:
    call = f"call {visible(record.call_id)[:100]}" if record.call_id else "a call without an id"
    return f"{visible(record.tool)[:100]}, {call}"
