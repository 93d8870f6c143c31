"""How well the search finds the right tool, on public catalogues that the project does not carry.

`CUECARD_DATA` names a folder with `{set}.tools.json` and `{set}.queries.dev.jsonl` or the like, as
`cuecard bench search` takes them. Sets that are not there are skipped.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from cuecard import ToolCard
from cuecard.catalogue.search import SearchIndex
from cuecard.config.catalogue_file import read_catalogue
from cuecard.config.tools_spec import SearchSpec
from cuecard.workbench.bench.baselines import installed
from cuecard.workbench.bench.measure import JudgedQuery, measure, read_queries

pytestmark = pytest.mark.bench

SETS = [
    pytest.param("metatool.tools.json", "metatool.queries.dev.jsonl", {1: 0.43, 5: 0.64}, id="MetaTool"),
    pytest.param("livemcp.tools.json", "livemcp.steps.dev.jsonl", {1: 0.48, 5: 0.70}, id="LiveMCP steps"),
]


def read(catalogue: str, queries: str) -> tuple[list[ToolCard], list[JudgedQuery]]:
    folder = Path(os.environ.get("CUECARD_DATA", ""))
    if not os.environ.get("CUECARD_DATA") or not (folder / catalogue).is_file():
        pytest.skip(f"set CUECARD_DATA to a folder with {catalogue} and {queries}")
    return (
        read_catalogue((folder / catalogue).read_text(encoding="utf-8"), catalogue),
        read_queries((folder / queries).read_text(encoding="utf-8"), queries),
    )


@pytest.mark.parametrize(("catalogue", "queries", "bars"), SETS)
def test_the_right_tool_is_found_often_enough(catalogue: str, queries: str, bars: dict[int, float]) -> None:
    cards, asked = read(catalogue, queries)
    for name, build in installed().items():
        found = measure(name, build, cards, asked, SearchSpec() if name == "bm25" else SearchSpec(confidence=0, cut=0))
        print(f"\n{name:12}", *(f"R@{k} {share:.3f}" for k, share in found.recall.items()), end="  ")
        print(f"tools {found.returned:.2f} recall {found.recall_returned:.3f} empty {found.empty:.3f}", end="")
        if name == "bm25":
            assert {k: share for k, share in found.recall.items() if share < bars.get(k, 0)} == {}


@pytest.mark.parametrize(("catalogue", "queries", "bars"), SETS)
def test_halves_of_the_queries_agree(catalogue: str, queries: str, bars: dict[int, float]) -> None:
    """What was chosen on all of them holds of each half, but for what chance makes of so many."""
    cards, asked = read(catalogue, queries)
    spec = SearchSpec(cut=0)
    for half in (asked[::2], asked[1::2]):
        found = measure("bm25", installed()["bm25"], cards, half, spec)
        print("\n", len(half), *(f"R@{k} {share:.3f}" for k, share in found.recall.items()), end="")
        for depth, bar in bars.items():
            assert found.recall[depth] >= bar - 2 * (bar * (1 - bar) / len(half)) ** 0.5


@pytest.mark.parametrize(("catalogue", "queries", "bars"), SETS)
def test_no_question_with_its_tool_among_the_first_is_turned_away(
    catalogue: str, queries: str, bars: dict[int, float]
) -> None:
    cards, asked = read(catalogue, queries)
    index = SearchIndex.build(cards)
    deep = SearchSpec(confidence=0, cut=0)
    turned_away = [query for query in asked if not index.search(query.query).tools]
    lost = [query for query in turned_away if query.tools & set(index.search(query.query, spec=deep).tools)]
    print(f"\n{len(turned_away)} of {len(asked)} get no answer, {len(lost)} of them wrongly")

    assert len(lost) <= 0.002 * len(asked)
