"""The index of a large catalogue, and searches in it, side by side in one run with rank-bm25 and SQLite's FTS5.

Rankers with vectors are measured with real catalogues, in `test_rankers.py`: vectors of so many tools take minutes.
"""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import pytest

from cuecard import ToolCard
from cuecard.catalogue.bm25 import Bm25Ranker
from cuecard.catalogue.search import SearchIndex
from cuecard.files.cache import Cache
from cuecard.files.rankers.choice import lexical_ranker
from cuecard.workbench.bench.baselines import Build, rank_bm25, sqlite_fts5

pytestmark = pytest.mark.bench

ROOT = Path(__file__).parents[2]
TOOLS, QUERIES, ROUNDS = 10_000, 100, 5
OVER_RANK_BM25, OVER_FTS5, KEPT_OVER_FTS5 = 1.5, 12.0, 3.0
"""How many times another's build ours may take: made, made, and read from the cache. It knows fields, phrases,
parameters and NEXT besides."""

BUILDS: dict[str, Build] = {
    "bm25": Bm25Ranker.build,
    "sqlite-fts5": sqlite_fts5,
    **({"rank-bm25": rank_bm25} if find_spec("rank_bm25") else {}),
}


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
    start = time.process_time()
    work()
    return time.process_time() - start


def test_building_and_reading_an_index(tmp_path: Path) -> None:
    cards, cache = catalogue(), Cache(tmp_path)
    for build in BUILDS.values():
        build(cards[:1])  # what is imported once is no part of it
    lexical_ranker(cards, cache)
    works: dict[str, Callable[[], object]] = {name: partial(build, cards) for name, build in BUILDS.items()}
    works["from the cache"] = partial(lexical_ranker, cards, cache)
    rounds = [{name: seconds(work) for name, work in works.items()} for _ in range(ROUNDS)]
    times = {name: statistics.median(each[name] for each in rounds) for name in works}
    print(f"\n{TOOLS} tools, index:")
    for name, taken in times.items():
        print(f"  {name:16} {taken * 1e3:8.1f} ms  {taken / times['sqlite-fts5']:6.2f}x")

    assert times["bm25"] <= OVER_FTS5 * times["sqlite-fts5"]
    assert times["from the cache"] <= KEPT_OVER_FTS5 * times["sqlite-fts5"]
    if "rank-bm25" in times:
        assert times["bm25"] <= OVER_RANK_BM25 * times["rank-bm25"]


def test_a_search_is_not_slower_than_either_baseline() -> None:
    cards = catalogue()
    chosen = random.Random(2)  # noqa: S311 - the same queries in every run
    queries = [" ".join(chosen.choices(chosen.choice(cards).description.split(), k=6)) for _ in range(QUERIES)]
    indexes = {name: SearchIndex.build(cards, ranker=build(cards)) for name, build in BUILDS.items()}
    found: dict[str, list[float]] = {name: [] for name in indexes}
    for query in queries:
        for name, index in indexes.items():
            found[name].append(seconds(lambda: index.search(query)))  # noqa: B023 - it is called at once
    times = {name: statistics.median(each) * 1000 for name, each in found.items()}
    print(f"\n{TOOLS} tools, query:", *(f"{name} {time:.2f} ms" for name, time in times.items()))

    assert times["bm25"] <= min(taken for name, taken in times.items() if name != "bm25")
