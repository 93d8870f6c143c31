"""The index of a large catalogue, and searches in it, side by side in one run with rank-bm25 and SQLite's FTS5."""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from cuecard.catalogue import SearchIndex
from cuecard.cli.bench.baselines import installed
from cuecard.model import ToolCard

pytestmark = pytest.mark.bench

ROOT = Path(__file__).parents[2]
TOOLS, QUERIES = 10_000, 100
BUILD = 1.5
"""How many times rank-bm25's build ours may take; it knows fields, phrases, parameters and NEXT besides."""


def catalogue() -> list[ToolCard]:
    """Tools of about fifty words each, put together from the words of the docs."""
    words = " ".join(path.read_text(encoding="utf-8") for path in sorted(ROOT.glob("docs/*.md"))).split()
    chosen = random.Random(1)  # noqa: S311 - the same catalogue in every run

    def some(count: int) -> str:
        return " ".join(chosen.choices(words, k=count))

    return [
        ToolCard(f"{chosen.choice(words)}_{n}", some(40), phrases=(some(4), some(4)), category=some(1))
        for n in range(TOOLS)
    ]


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def test_an_index_is_built_in_about_the_time_of_rank_bm25() -> None:
    cards = catalogue()
    builds = installed()
    for build in builds.values():
        build(cards[:1])  # what is imported once is no part of it
    rounds = [{name: seconds(lambda: build(cards)) for name, build in builds.items()} for _ in range(5)]  # noqa: B023 - it is called at once
    times = {name: statistics.median(each[name] for each in rounds) for name in builds}
    print(f"\n{TOOLS} tools, build:", *(f"{name} {time:.2f} s" for name, time in times.items()))

    assert times["bm25"] <= BUILD * times["rank-bm25"]


def test_a_search_is_not_slower_than_either_baseline() -> None:
    cards = catalogue()
    chosen = random.Random(2)  # noqa: S311 - the same queries in every run
    queries = [" ".join(chosen.choices(chosen.choice(cards).description.split(), k=6)) for _ in range(QUERIES)]
    indexes = {name: SearchIndex.build(cards, ranker=build(cards)) for name, build in installed().items()}
    found: dict[str, list[float]] = {name: [] for name in indexes}
    for query in queries:
        for name, index in indexes.items():
            found[name].append(seconds(lambda: index.search(query)))  # noqa: B023 - it is called at once
    times = {name: statistics.median(each) * 1000 for name, each in found.items()}
    print(f"\n{TOOLS} tools, query:", *(f"{name} {time:.2f} ms" for name, time in times.items()))

    assert times["bm25"] <= min(times["rank-bm25"], times["sqlite-fts5"])
