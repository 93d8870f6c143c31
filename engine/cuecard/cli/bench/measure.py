"""How well a ranker finds the right tools, how many it returns, and how long it takes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import asdict
from statistics import fmean, median
from time import perf_counter

from cuecard.catalogue.ranker import Ranker
from cuecard.catalogue.search import SearchIndex
from cuecard.config.query_file import JudgedQuery
from cuecard.config.search_spec import SearchSpec
from cuecard.model import Json, ToolCard
from cuecard.records import dataclass

DEPTHS = (1, 3, 5, 8, 10)


@dataclass(frozen=True, slots=True)
class Measured:
    """The measurements of one ranker.

    Attributes:
        ranker: its name.
        recall: by depth, the mean share of the right tools among the first hits up to that depth, without the cut.
        returned: the mean number of tools that a search returns.
        recall_returned: the mean share of the right tools that are among those.
        empty: the share of the queries with an empty answer.
        build_ms: the time to build the index, in milliseconds.
        query_ms: the median time of a search, in milliseconds.
    """

    ranker: str
    recall: dict[int, float]
    returned: float
    recall_returned: float
    empty: float
    build_ms: float
    query_ms: float

    def to_json(self) -> dict[str, Json]:
        """The same as plain data, rounded."""
        plain = asdict(self)
        plain["recall"] = {str(depth): round(share, 4) for depth, share in self.recall.items()}
        return {key: round(value, 4) if isinstance(value, float) else value for key, value in plain.items()}


def measure(
    name: str,
    build: Callable[[Sequence[ToolCard]], Ranker],
    cards: Sequence[ToolCard],
    queries: Iterable[JudgedQuery],
    spec: SearchSpec,
) -> Measured:
    """Run every query through a ranker: with the spec's settings, and to the greatest depth without the cut."""
    build(cards[:1])  # one-time imports do not count
    start = perf_counter()
    ranker = build(cards)
    built = perf_counter() - start
    index = SearchIndex.build(cards, ranker=ranker)
    deep = spec.model_copy(update={"cut": 0.0, "limit": max(DEPTHS)})
    shares: dict[int, list[float]] = {depth: [] for depth in DEPTHS}
    returned, found, times = [], [], []
    for query in queries:
        start = perf_counter()
        hits = index.search(query.query, spec=spec).tools
        times.append(perf_counter() - start)
        returned.append(len(hits))
        found.append(_share(query.tools, hits))
        ranked = index.search(query.query, spec=deep).tools
        for depth in DEPTHS:
            shares[depth].append(_share(query.tools, ranked[:depth]))
    return Measured(
        ranker=name,
        recall={depth: fmean(each) for depth, each in shares.items()},
        returned=fmean(returned),
        recall_returned=fmean(found),
        empty=sum(not count for count in returned) / len(returned),
        build_ms=built * 1000,
        query_ms=median(times) * 1000,
    )


def answers(name: str, cards: Collection[ToolCard]) -> bool:
    """Whether a name in a query means this tool: its own name, or the one it has when several servers use the same
    name.
    """
    return any(_is(name, card.name) for card in cards)


def _share(right: Collection[str], hits: Sequence[str]) -> float:
    return sum(any(_is(name, hit) for hit in hits) for name in right) / len(right)


def _is(name: str, hit: str) -> bool:
    return hit == name or hit.endswith(f"__{name}")
