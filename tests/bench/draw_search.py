"""Draws docs/search.svg and writes the table of docs/benchmarks.md anew: `make curve`, a few seconds.

`CUECARD_DATA` names a folder with the public catalogues and queries (`bench/test_search_quality.py` tells which).
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean

sys.path.insert(0, str(Path(__file__).parents[1]))

from bench.sessions import cms
from cuecard import ToolCard
from cuecard.catalogue.search import SearchIndex, worth_returning
from cuecard.config.catalogue_file import read_catalogue
from cuecard.config.tools_spec import SearchSpec
from cuecard.types import Hit
from cuecard.workbench.bench.measure import read_queries
from unit.catalogue.tools.cms_queries import QUERIES

DOCS = Path(__file__).parents[2] / "docs"
CUTS = (0.0, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
# As wide as a phone shows with letters that can be read: what the lines are stands above them.
WIDTH, HEIGHT, TOP, BOTTOM, LEFT, RIGHT = 440, 420, 122, 56, 44, 16
LEAST = 0.4
"""The recall at the foot of the picture."""

CSS = """
text { font: 13px system-ui, sans-serif; fill: #5c6470; } .n { font-weight: 600; }
path { fill: none; stroke-width: 2.2; stroke-linejoin: round; stroke-linecap: round; stroke: #5c6470; }
.paper { fill: #fbfaf8; } path.grid { stroke: #e3e1dc; stroke-width: 1; }
.s0 { stroke: #0b7a5e; } .s1 { stroke: #2563c9; } .s2 { stroke: #c2410c; } .s3 { stroke: #7c3aed; }
.s4 { stroke: #a16207; }
circle { fill: #fbfaf8; stroke-width: 2.2; } circle.on { r: 6; stroke-width: 3.4; }
@media (prefers-color-scheme: dark) {
 text { fill: #9aa3b0; } .paper, circle { fill: #14171c; } path.grid { stroke: #2e343e; }
 .s0 { stroke: #3ecf9f; } .s1 { stroke: #7aa7ff; } .s2 { stroke: #ff8a5c; } .s3 { stroke: #b794f6; }
 .s4 { stroke: #e0b050; }
}
"""


@dataclass(frozen=True, slots=True)
class Curve:
    """A set of queries: how many tools a search returns, and the share of queries whose tool is among them, by cut."""

    name: str
    points: dict[float, tuple[float, float]]


Answered = tuple[Sequence[Hit], frozenset[str]]


def curve(name: str, answers: Iterable[Answered]) -> Curve:
    """What every cut makes of these uncut hits."""
    answers = list(answers)
    points = {}
    for cut in CUTS:
        kept = [({hit.tool for hit in worth_returning(hits, SearchSpec(cut=cut))}, right) for hits, right in answers]
        points[cut] = fmean(len(tools) for tools, _ in kept), fmean(bool(tools & right) for tools, right in kept)
    return Curve(name, points)


def curves() -> Iterator[Curve]:
    """The public sets, then those of the CMS: queries of an assistant, phrases, and each phrase left out in turn."""
    data = Path(os.environ["CUECARD_DATA"])
    yield curve("MetaTool", public(data / "metatool.tools.json", data / "metatool.queries.dev.jsonl"))
    yield curve("LiveMCP", public(data / "livemcp.tools.json", data / "livemcp.steps.dev.jsonl"))
    core = cms().agent.spec.tools.core
    cards = [card for name, card in cms().tools.items() if name not in core]
    index = SearchIndex.build(cards)
    phrases = [(phrase, card) for card in cards for phrase in card.phrases]
    yield curve("CMS, new phrases", (left_out(cards, card, phrase) for phrase, card in phrases))
    yield curve("CMS, queries", ((uncut(index, query), frozenset({tool})) for query, tool in QUERIES.items()))
    yield curve("CMS, phrases", ((uncut(index, phrase), frozenset({card.name})) for phrase, card in phrases))


def public(catalogue: Path, queries: Path) -> Iterator[Answered]:
    """The queries of a file against its catalogue; a name that several servers have means any of them."""
    cards = read_catalogue(catalogue.read_text(encoding="utf-8"), catalogue.name)
    index = SearchIndex.build(cards)
    for query in read_queries(queries.read_text(encoding="utf-8"), queries.name):
        right = (c.name for c in cards if c.name in query.tools or c.name.rpartition("__")[2] in query.tools)
        yield uncut(index, query.query), frozenset(right)


def left_out(cards: Sequence[ToolCard], meant: ToolCard, phrase: str) -> Answered:
    """A phrase that the index does not have: its tool is found by the rest of what is known of it."""
    known = replace(meant, phrases=tuple(other for other in meant.phrases if other != phrase))
    index = SearchIndex.build([known if card is meant else card for card in cards])
    return uncut(index, phrase), frozenset({meant.name})


def uncut(index: SearchIndex, query: str) -> tuple[Hit, ...]:
    """The hits of the default limit, before any is cut."""
    return index.search(query, spec=SearchSpec(cut=0)).hits


def picture(found: Sequence[Curve]) -> str:
    """Recall over the number of tools returned, a line a set, a circle a cut."""
    title = "Tools returned against recall, by cut"
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{title}">']
    lines += [f"<style>{CSS}</style>", f'<rect class="paper" width="{WIDTH}" height="{HEIGHT}" rx="10"/>', *axes()]
    for n, each in enumerate(found):
        line = " L".join(f"{x(count):.1f} {y(recall):.1f}" for count, recall in each.points.values())
        lines.append(f'<path class="s{n}" d="M{line}"/>')
        for cut, (count, recall) in each.points.items():
            on = " on" if cut == SearchSpec().cut else ""
            lines.append(f'<circle class="s{n}{on}" cx="{x(count):.1f}" cy="{y(recall):.1f}" r="3"/>')
        lines.append(f'<path class="s{n}" d="M{legend(n)[0]} {legend(n)[1] - 4}h24"/>')
        lines.append(f'<text x="{legend(n)[0] + 32}" y="{legend(n)[1]}">{each.name}</text>')
    left, foot = legend(len(found))
    note = f'<text x="{left}" y="{foot}">large circle: cut {SearchSpec().cut:g}</text>'
    return "\n".join([*lines, note, "</svg>"]) + "\n"


def legend(number: int) -> tuple[int, int]:
    """Where the name of a line stands: two beside each other."""
    return 16 + number % 2 * 200, 28 + number // 2 * 24


def axes() -> Iterator[str]:
    for tenth in range(int(LEAST * 10), 11):
        yield f'<path class="grid" d="M{LEFT} {y(tenth / 10):.1f}H{WIDTH - RIGHT}"/>'
        yield f'<text x="{LEFT - 8}" y="{y(tenth / 10) + 4:.1f}" text-anchor="end">{tenth / 10:.1f}</text>'
    for count in range(1, 9):
        yield f'<text x="{x(count):.1f}" y="{HEIGHT - BOTTOM + 20}" text-anchor="middle">{count}</text>'
    middle = (LEFT + WIDTH - RIGHT) / 2
    yield f'<text x="{middle:.0f}" y="{HEIGHT - BOTTOM + 42}" text-anchor="middle">tools returned, in the mean</text>'
    yield f'<text class="n" x="16" y="{TOP - 16}">the right tool is among them</text>'


def x(count: float) -> float:
    return LEFT + (count - 0.5) / 8 * (WIDTH - RIGHT - LEFT)


def y(recall: float) -> float:
    return HEIGHT - BOTTOM - (recall - LEAST) / (1 - LEAST) * (HEIGHT - TOP - BOTTOM)


def table(found: Sequence[Curve]) -> str:
    """The same figures for people who read tables: tools returned / recall."""
    head = f"| cut | {' | '.join(each.name for each in found)} |\n|---:|{'---:|' * len(found)}\n"
    rows = []
    for cut in CUTS:
        cells = (f"{each.points[cut][0]:.2f} / {each.points[cut][1]:.3f}" for each in found)
        rows.append(f"| {cut:g} | {' | '.join(cells)} |\n")
    return head + "".join(rows)


def main() -> None:
    """Search everything, then write both files."""
    if not os.environ.get("CUECARD_DATA"):
        sys.exit("set CUECARD_DATA to a folder with metatool.tools.json, metatool.queries.dev.jsonl, livemcp...")
    found = list(curves())
    (DOCS / "search.svg").write_text(picture(found), encoding="utf-8")
    page = DOCS / "benchmarks.md"
    marked = re.compile(r"(?<=<!-- curve -->\n).*?(?=<!-- end -->)", re.DOTALL)
    page.write_text(marked.sub(lambda _: table(found), page.read_text(encoding="utf-8")), encoding="utf-8")
    print(table(found))


if __name__ == "__main__":
    main()
