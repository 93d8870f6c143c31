"""How well a ranker answers, what it misses, and which phrases would mend that."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import asdict, replace
from statistics import fmean, median
from time import perf_counter

from cuecard.catalogue.fields import bare
from cuecard.catalogue.ranker import Ranker
from cuecard.catalogue.search import SearchIndex
from cuecard.config.tools_spec import SearchSpec
from cuecard.config.transcript_file import read_json
from cuecard.errors import Problem, Span, SpecError
from cuecard.model import Json, ToolCard
from cuecard.records import dataclass

_LINE = '`{"query": "attach an image", "tools": ["set_image"]}`'


@dataclass(frozen=True, slots=True)
class JudgedQuery:
    """A query, the tools that answer it, and its line."""

    query: str
    tools: frozenset[str]
    line: int


def read_queries(text: str, name: str) -> list[JudgedQuery]:
    """The queries of a text of JSON lines; empty lines are skipped.

    Raises:
        SpecError: with every line that is not such a query, or when there is none.
    """
    found: list[JudgedQuery] = []
    problems: list[Problem] = []
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                found.append(_query(line, name, number))
            except SpecError as error:
                problems += error.problems
    if not found and not problems:
        problems.append(Problem("missing-key", "there are no queries", f"write one per line: {_LINE}", name))
    if problems:
        raise SpecError(problems)
    return found


def _query(line: str, name: str, number: int) -> JudgedQuery:
    value = read_json(line, name, number)
    mistakes = list(_mistakes(value))
    if not isinstance(value, dict) or mistakes:
        raise SpecError(
            Problem(code, said, f"a line is {_LINE}", name, Span(number, 1), line) for code, said in mistakes
        )
    return JudgedQuery(value["query"], frozenset(value["tools"]), number)


def _mistakes(value: object) -> Iterator[tuple[str, str]]:
    if not isinstance(value, dict):
        yield "wrong-value", "this is not an object"
        return
    if not isinstance(value.get("query"), str):
        yield "wrong-value" if "query" in value else "missing-key", "`query` is not a text"
    tools = value.get("tools")
    if not isinstance(tools, list) or not tools or not all(isinstance(tool, str) for tool in tools):
        yield "wrong-value" if "tools" in value else "missing-key", "`tools` is not a list of names"


DEPTHS = (1, 3, 5, 8, 10)


@dataclass(frozen=True, slots=True)
class RankerFigures:
    """The measurements of one ranker.

    Attributes:
        ranker: its name.
        recall: by depth, the mean share of the right tools among the first hits up to that depth, without the cut.
        returned: the mean number of tools that a search returns.
        recall_returned: the mean share of the right tools that are among those.
        empty: the share of the queries with an empty answer.
        build_ms: the time to build the index, in milliseconds.
        query_ms: the median time of a search, in milliseconds.
        answers: what a search returns, by query.
    """

    ranker: str
    recall: dict[int, float]
    returned: float
    recall_returned: float
    empty: float
    build_ms: float
    query_ms: float
    answers: tuple[tuple[str, ...], ...] = ()

    def to_json(self) -> dict[str, Json]:
        """The figures as plain data, rounded."""
        plain = asdict(replace(self, answers=()))
        del plain["answers"]
        plain["recall"] = {str(depth): round(share, 4) for depth, share in self.recall.items()}
        return {key: round(value, 4) if isinstance(value, float) else value for key, value in plain.items()}


def measure(
    name: str,
    build: Callable[[Sequence[ToolCard]], Ranker],
    cards: Sequence[ToolCard],
    queries: Iterable[JudgedQuery],
    spec: SearchSpec,
) -> RankerFigures:
    """Run every query through a ranker: with the spec's settings, and to the greatest depth without the cut."""
    build(cards[:1])  # one-time imports do not count
    start = perf_counter()
    ranker = build(cards)
    built = perf_counter() - start
    index = SearchIndex.build(cards, ranker=ranker)
    deep = spec.model_copy(update={"cut": 0.0, "limit": max(DEPTHS)})
    shares: dict[int, list[float]] = {depth: [] for depth in DEPTHS}
    answers: list[tuple[str, ...]] = []
    found, times = [], []
    for query in queries:
        start = perf_counter()
        hits = index.search(query.query, spec=spec).tools
        times.append(perf_counter() - start)
        answers.append(hits)
        found.append(_share(query.tools, hits))
        ranked = index.search(query.query, spec=deep).tools
        for depth in DEPTHS:
            shares[depth].append(_share(query.tools, ranked[:depth]))
    return RankerFigures(
        ranker=name,
        recall={depth: fmean(each) for depth, each in shares.items()},
        returned=fmean(map(len, answers)),
        recall_returned=fmean(found),
        empty=sum(not hits for hits in answers) / len(answers),
        build_ms=built * 1000,
        query_ms=median(times) * 1000,
        answers=tuple(answers),
    )


_LONG = 8
"""The number of words from which a phrase leaves out those that say nothing about a capability."""


@dataclass(frozen=True, slots=True)
class Miss:
    """A query whose tools are not all returned.

    Attributes:
        query: the query, and its line.
        tools: the right tools that are missing.
        found: the tools that are returned instead.
        phrase: what to add to the phrases of these tools.
        mended: whether all of them are returned once every miss has its phrase.
    """

    query: JudgedQuery
    tools: tuple[str, ...]
    found: tuple[str, ...]
    phrase: str
    mended: bool = False

    def to_json(self) -> dict[str, Json]:
        """The miss as plain data."""
        plain = {**asdict(self), "query": self.query.query, "line": self.query.line}
        return {key: list(value) if isinstance(value, tuple) else value for key, value in plain.items()}


@dataclass(frozen=True, slots=True)
class Misses:
    """The misses of a ranker, and the recall of what is returned with and without the phrases that would mend them.

    `lost` are the lines of queries that are found now, and would not be with these phrases.
    """

    ranker: str
    misses: tuple[Miss, ...]
    recall: float
    recall_mended: float
    lost: tuple[int, ...] = ()

    def to_json(self) -> dict[str, Json]:
        """The same as plain data, rounded."""
        recall = {"recall": round(self.recall, 4), "recall_mended": round(self.recall_mended, 4)}
        queries = [miss.to_json() for miss in self.misses]
        return {"ranker": self.ranker, **recall, "lost": list(self.lost), "queries": queries}


def find_misses(
    figures: RankerFigures,
    build: Callable[[Sequence[ToolCard]], Ranker],
    cards: Sequence[ToolCard],
    queries: Sequence[JudgedQuery],
    spec: SearchSpec,
) -> Misses:
    """The misses of a ranker that was measured, each with a phrase that was tried: all of them are added at once."""
    missed = [
        Miss(query, tools, found, _phrase(query.query))
        for query, found in zip(queries, figures.answers, strict=True)
        if (tools := tuple(sorted(name for name in query.tools if not any(is_tool(name, hit) for hit in found))))
    ]
    phrases = {card.name: [m.phrase for m in missed if any(is_tool(t, card.name) for t in m.tools)] for card in cards}
    told = [replace(card, phrases=(*card.phrases, *dict.fromkeys(phrases[card.name]))) for card in cards]
    index = SearchIndex.build(told, ranker=build(told))
    again = {query.line: _share(query.tools, index.search(query.query, spec=spec).tools) for query in queries}
    misses = tuple(replace(miss, mended=again[miss.query.line] == 1) for miss in missed)
    lost = tuple(line for line, share in again.items() if share < 1 and all(line != m.query.line for m in missed))
    return Misses(figures.ranker, misses, figures.recall_returned, fmean(again.values()), lost)


def _phrase(query: str) -> str:
    """A query as authors write phrases: one line, no full stop, and not long."""
    words = " ".join(query.split()).strip(" .?!")
    return bare(words) if len(words.split()) > _LONG else words


def answers(name: str, cards: Collection[ToolCard]) -> bool:
    """Whether a name in a query means this tool: its own name, or the one it has when several servers use the same
    name.
    """
    return any(is_tool(name, card.name) for card in cards)


def _share(right: Collection[str], hits: Sequence[str]) -> float:
    return sum(any(is_tool(name, hit) for hit in hits) for name in right) / len(right)


def is_tool(name: str, hit: str) -> bool:
    """Whether a name in a query means this tool."""
    return hit == name or hit.endswith(f"__{name}")
