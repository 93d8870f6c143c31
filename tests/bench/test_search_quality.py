"""How often the search finds the right tool, on public catalogues that the project does not carry.

`CUECARD_DATA` names a folder with `{set}.tools.json` (a list of `{name, description, server?, inputSchema?}`) and
`{set}.queries.jsonl` or the like (lines of `{"query": ..., "tools": [...]}`). Sets that are not there are skipped.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

import pytest

from cuecard.catalogue import SearchIndex
from cuecard.model import ToolCard

pytestmark = pytest.mark.bench

DEPTHS = (1, 5, 8, 10)
SETS = [
    pytest.param("metatool.tools.json", "metatool.queries.dev.jsonl", {5: 0.60, 8: 0.65}, id="MetaTool"),
    pytest.param("livemcp.tools.json", "livemcp.steps.dev.jsonl", {5: 0.70}, id="LiveMCP steps"),
]


@dataclass(frozen=True, slots=True)
class Quality:
    """Recall at each depth, the share of queries without an answer, and times in seconds."""

    recall: dict[int, float]
    unanswered: float
    build: float
    query: float


def measure(catalogue: Path, queries: Path) -> Quality:
    """Every query through the index, as an agent would send it: default weights, default threshold."""
    cards = read_cards(catalogue)
    asked = [json.loads(line) for line in queries.read_text(encoding="utf-8").splitlines()]
    start = perf_counter()
    index = SearchIndex.build(cards)
    built = perf_counter()
    found = [index.search(item["query"], max(DEPTHS)).tools for item in asked]
    done = perf_counter()
    hits = {k: sum(bool(set(item["tools"]) & set(f[:k])) for item, f in zip(asked, found, strict=True)) for k in DEPTHS}
    return Quality(
        recall={k: n / len(asked) for k, n in hits.items()},
        unanswered=sum(not tools for tools in found) / len(asked),
        build=built - start,
        query=(done - built) / len(asked),
    )


def read_cards(catalogue: Path) -> list[ToolCard]:
    """The tools of a catalogue file; of tools that share a name, the first."""
    cards: dict[str, ToolCard] = {}
    for tool in json.loads(catalogue.read_text(encoding="utf-8")):
        card = ToolCard(tool["name"], tool["description"], tool.get("inputSchema", {}), category=tool.get("server", ""))
        cards.setdefault(card.name, card)
    return list(cards.values())


@pytest.mark.parametrize(("catalogue", "queries", "bars"), SETS)
def test_the_right_tool_is_found_often_enough(catalogue: str, queries: str, bars: dict[int, float]) -> None:
    folder = Path(os.environ.get("CUECARD_DATA", ""))
    if not os.environ.get("CUECARD_DATA") or not (folder / catalogue).is_file():
        pytest.skip(f"set CUECARD_DATA to a folder with {catalogue} and {queries}")

    quality = measure(folder / catalogue, folder / queries)
    shown = "  ".join(f"R@{k} {share:.3f}" for k, share in quality.recall.items())
    print(f"\n{queries}: {shown}  unanswered {quality.unanswered:.3f}")
    print(f"  index {quality.build * 1000:.0f} ms, query {quality.query * 1000:.2f} ms")

    assert {k: share for k, share in quality.recall.items() if share < bars.get(k, 0)} == {}
