"""Building the index of a large catalogue, side by side in one run with SQLite's FTS5 over the same texts."""

from __future__ import annotations

import random
import sqlite3
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from cuecard.catalogue import SearchIndex
from cuecard.model import ToolCard

pytestmark = pytest.mark.bench

ROOT = Path(__file__).parents[2]
TOOLS, COLD = 10_000, 12.0
"""How many tools, and how many times FTS5's build an index may take that is made of nothing but the cards."""


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


def fts5(cards: Sequence[ToolCard]) -> sqlite3.Connection:
    """The same fields in a virtual table, stemmed with Porter's rules."""
    database = sqlite3.connect(":memory:")
    database.execute("create virtual table t using fts5(name, phrases, description, category, tokenize='porter')")
    rows = ((card.name, "\n".join(card.phrases), card.description, card.category) for card in cards)
    database.executemany("insert into t values (?, ?, ?, ?)", rows)
    database.commit()
    return database


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def test_an_index_is_built_in_a_small_multiple_of_what_fts5_takes() -> None:
    cards = catalogue()
    SearchIndex.build(cards[:1])  # what is imported once is no part of it
    rounds = [(seconds(lambda: SearchIndex.build(cards)), seconds(lambda: fts5(cards).close())) for _ in range(5)]
    ours, theirs = (statistics.median(each) for each in zip(*rounds, strict=True))
    print(f"\n{TOOLS} tools: index {ours:.2f} s, FTS5 {theirs:.2f} s, ratio {ours / theirs:.1f}")

    assert ours / theirs <= COLD
