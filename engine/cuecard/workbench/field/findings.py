"""What recorded requests reveal about tools and searches, and advice."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from cuecard.catalogue.words import WordReader
from cuecard.model import ToolCard
from cuecard.recording.records import RequestRecord, ToolCallRecord, read_records

_SHARED_WORDS = 2
"""The number of shared words from which a GOTCHA is likely to describe an error."""


@dataclass(slots=True)
class _Tool:
    found_in: set[str] = field(default_factory=set)
    called_in: set[str] = field(default_factory=set)
    calls: int = 0
    errors: int = 0
    unread: int = 0
    foretold: int = 0
    tokens: int = 0


@dataclass(frozen=True, slots=True)
class ToolUse:
    """The use of one tool.

    Attributes:
        name: the tool.
        found: the number of conversations that discovered it.
        called: the number of those that called it.
        calls: the total number of calls.
        errors: the number of failed calls.
        unread: the number of calls made without its instructions in the prompt.
        foretold: the number of failures that its GOTCHA describes; None if the agent is unknown.
        tokens: the tokens of its instructions over all requests.
    """

    name: str
    found: int
    called: int
    calls: int
    errors: int
    unread: int
    foretold: int | None
    tokens: int


@dataclass(frozen=True, slots=True)
class SearchUse:
    """A query that found nothing, or nothing that was called before the next search.

    Attributes:
        query: the query.
        times: the number of such searches.
        found: the tools it found.
        meant: the tool that a later search of the same turns found, and that was then called; empty if none was.
    """

    query: str
    times: int
    found: tuple[str, ...]
    meant: str = ""


@dataclass(frozen=True, slots=True)
class FieldReport:
    """The findings.

    Attributes:
        conversations: their number.
        requests: their number.
        tools: those that were discovered or called, the ones with the most expensive unused instructions first.
        searches: those that did not help, the most frequent first.
        with_calls: whether any record contains the model's calls; otherwise, only costs are known.
    """

    conversations: int
    requests: int
    tools: tuple[ToolUse, ...]
    searches: tuple[SearchUse, ...]
    with_calls: bool


def field_report(
    requests: Sequence[RequestRecord], search_tool: str, cards: Mapping[str, ToolCard] | None = None
) -> FieldReport:
    """The findings in these requests.

    Args:
        requests: in order within each conversation.
        search_tool: the name of the search tool.
        cards: the agent's tools, for what their GOTCHA says.
    """
    talks: dict[str, list[RequestRecord]] = defaultdict(list)
    for request in requests:
        talks[request.conversation].append(request)
    tools: dict[str, _Tool] = defaultdict(_Tool)
    for name, talk in talks.items():
        _count(tools, name, talk, cards or {})

    def foretold(tool: _Tool) -> int | None:
        return None if cards is None else tool.foretold

    uses = [
        ToolUse(n, len(t.found_in), len(t.called_in), t.calls, t.errors, t.unread, foretold(t), t.tokens)
        for n, t in tools.items()
    ]
    uses.sort(key=lambda use: (-use.tokens / (use.calls + 1), use.name))
    searches = _searches(talks.values(), search_tool)
    return FieldReport(len(talks), len(requests), tuple(uses), searches, any(r.calls for r in requests))


def _count(tools: dict[str, _Tool], name: str, talk: Sequence[RequestRecord], cards: Mapping[str, ToolCard]) -> None:
    instructed = {record.id for request in talk for record in request.manifest.protocols}
    instructed |= {tool for tool, card in cards.items() if card.instructions}
    for request in talk:
        there = {record.id: record.tokens for record in request.manifest.protocols}
        for discovery in request.manifest.discovered:
            tools[discovery.tool].found_in.add(name)
        for tool, tokens in there.items():
            tools[tool].tokens += tokens
        for call in request.calls:
            if call.tool:
                use = tools[call.tool]
                use.calls += 1
                use.called_in.add(name)
                use.errors += call.is_error
                use.unread += call.tool in instructed and call.tool not in there
                use.foretold += call.is_error and _speaks_of(cards.get(call.tool), call.told)


def _speaks_of(card: ToolCard | None, told: str) -> bool:
    """Whether the tool's GOTCHA contains words of the error."""
    if card is None or card.instructions is None:
        return False
    reader = WordReader()
    return len(reader.parts(card.instructions.gotcha) & reader.parts(told)) >= _SHARED_WORDS


def _searches(talks: Iterable[Sequence[RequestRecord]], search_tool: str) -> tuple[SearchUse, ...]:
    counted: Counter[tuple[str, tuple[str, ...], str]] = Counter()
    for talk in talks:
        counted.update(_idle([call for request in talk for call in request.calls], search_tool))
    rows = sorted(counted.items(), key=lambda item: (-item[1], item[0]))
    return tuple(SearchUse(query, times, found, meant) for (query, found, meant), times in rows)


def _idle(calls: Sequence[ToolCallRecord], search_tool: str) -> Iterator[tuple[str, tuple[str, ...], str]]:
    """The searches without a call of their results before the next one, and what was meant."""
    places = [at for at, call in enumerate(calls) if call.tool == search_tool]
    for number, at in enumerate(places):
        until = places[number + 1] if number + 1 < len(places) else len(calls)
        used = {call.tool for call in calls[at + 1 :]}
        # Searches are often made in parallel, and their tools called one after the other.
        if used.isdisjoint(calls[at].found):
            later = calls[until] if until < len(calls) else None
            after = [call.tool for call in calls[until + 1 :]]
            meant = next((tool for tool in after if later and tool in later.found), "")
            yield calls[at].query, calls[at].found, meant


__all__ = ["FieldReport", "RequestRecord", "SearchUse", "ToolCallRecord", "ToolUse", "field_report", "read_records"]


def tool_advice(use: ToolUse, *, with_calls: bool) -> Iterator[str]:
    """What stands out about a tool; empty if all is well."""
    if with_calls and use.found and not use.calls:
        yield "found but never called: narrow its phrases, or see which tool was called instead"
    if use.unread:
        yield f"{_times(use.unread, 'call')} without its instructions"
    if use.errors and use.foretold is None:
        yield f"{_times(use.errors, 'error')}: with `--agent`, the report says whether its GOTCHA warns about them"
    if use.foretold:
        yield f"its GOTCHA warns about {_times(use.foretold, 'error')} that still happened: move the warning to BEFORE"
    if use.foretold is not None and use.errors > use.foretold:
        yield f"its GOTCHA does not mention the cause of {_times(use.errors - use.foretold, 'error')}"


def search_advice(use: SearchUse) -> str:
    """What to do about a search that did not help."""
    if use.meant:
        return f"add the phrase to {use.meant}"
    return (
        "later searches found no tool either: does one exist?"
        if not use.found
        else "none of the tools found was called"
    )


def _times(number: int, what: str) -> str:
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"
