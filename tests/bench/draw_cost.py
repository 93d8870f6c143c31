"""Draws docs/cost.svg and writes the table of docs/benchmarks.md anew: `make cost`, about a minute."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from bench.costs import BETWEEN_TURNS, MODEL, STEPS, TOOLS, WAYS, Point, curve
from cuecard.workbench.replay.report import FROZEN_DIRECT

DOCS = Path(__file__).parents[2] / "docs"
SEEDS = 10
# As wide as a phone shows with letters that can be read: the panels stand below each other.
WIDTH, LEFT, RIGHT, TOP, TALL, GAP = 440, 52, 20, 124, 120, 64
LEAST, MOST = 0.5, 64.0
STYLES = {"rewrite": "r", BETWEEN_TURNS: "r d", "frozen": "f", FROZEN_DIRECT: "f d", "append": "a"}
CSS = """
text { font: 13px system-ui, sans-serif; fill: #5c6470; } .t { font-size: 16px; font-weight: 600; fill: #1d2129; }
path { fill: none; stroke-width: 2.2; stroke-linejoin: round; stroke-linecap: round; }
.paper { fill: #fbfaf8; } .grid { stroke: #e3e1dc; stroke-width: 1; } .less { fill: #0b7a5e; opacity: .09; }
.d { stroke-dasharray: 5 5; }
.a { stroke: #0b7a5e; } .r { stroke: #c2410c; } .f { stroke: #2563c9; }
@media (prefers-color-scheme: dark) {
 text { fill: #9aa3b0; } .t { fill: #e8eaee; } .paper { fill: #14171c; } .grid { stroke: #2e343e; }
 .a { stroke: #3ecf9f; } .r { stroke: #ff8a5c; } .f { stroke: #7aa7ff; } .less { fill: #3ecf9f; }
}
"""


def picture(points: Sequence[Point]) -> str:
    """Three panels, one per length of session; costs as multiples of what append costs, on a scale of powers of two."""
    panels = [part for n, steps in enumerate(STEPS) for part in panel(n, [p for p in points if p.steps == steps])]
    title = "What sessions cost, as multiples of append delivery, by number of tools"
    height = TOP + len(STEPS) * (TALL + GAP) - 20
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{title}">'
    paper = f'<rect class="paper" width="{WIDTH}" height="{height}" rx="10"/>'
    return "\n".join([head, f"<style>{CSS}</style>", paper, *legend(), *panels, "</svg>"]) + "\n"


def panel(number: int, points: Sequence[Point]) -> Iterator[str]:
    wide = WIDTH - LEFT - RIGHT
    x = {tools: LEFT + wide * (n + 0.5) / len(TOOLS) for n, tools in enumerate(TOOLS)}
    foot, one = up(LEAST, number), up(1, number)
    yield f'<text class="t" x="{LEFT}" y="{foot - TALL - 12:.0f}">{points[0].steps} requests</text>'
    yield f'<rect class="less" x="{LEFT}" y="{one:.1f}" width="{wide}" height="{foot - one:.1f}"/>'
    value = LEAST
    while value <= MOST:
        yield f'<path class="grid" d="M{LEFT} {up(value, number):.1f}h{wide}"/>'
        yield f'<text x="{LEFT - 8}" y="{up(value, number) + 4:.1f}" text-anchor="end">{value:g}×</text>'
        value *= 2
    for tools in TOOLS:
        said = f"{tools:,}{' tools' if tools == TOOLS[-1] else ''}"
        yield f'<text x="{x[tools]:.1f}" y="{foot + 20:.0f}" text-anchor="middle">{said}</text>'
    for way, style in STYLES.items():
        line = " ".join(
            f"{'L' if n else 'M'}{x[p.tools]:.1f} {up(p.costs[way] / p.costs['append'], number):.1f}"
            for n, p in enumerate(points)
        )
        yield f'<path class="{style}" d="{line}"/>'


def legend() -> Iterator[str]:
    for n, way in enumerate(WAYS):
        x, y = 16 + n % 2 * 190, 24 + n // 2 * 24
        yield f'<path class="{STYLES[way]}" d="M{x} {y}h26"/>'
        yield f'<text x="{x + 34}" y="{y + 4}">{way}</text>'
    yield f'<rect class="less" x="206" y="{24 + len(WAYS) // 2 * 24 - 8}" width="26" height="16"/>'
    yield f'<text x="240" y="{28 + len(WAYS) // 2 * 24}">cheaper than append</text>'


def up(value: float, number: int) -> float:
    """The height of a multiple in a panel."""
    share = math.log2(min(max(value, LEAST), MOST) / LEAST) / math.log2(MOST / LEAST)
    return TOP + number * (TALL + GAP) + TALL * (1 - share)


def table(points: Sequence[Point]) -> str:
    """The same figures for people who read tables."""
    head = f"| requests | tools | {' | '.join(WAYS)} |\n|---:|---:|{'---:|' * len(WAYS)}\n"
    rows = [
        f"| {p.steps} | {p.tools:,} | {p.costs['append']:,.0f} | "
        + " | ".join(f"{p.costs[way] / p.costs['append']:.2f}×" for way in WAYS[1:])
        + " |\n"
        for p in points
    ]
    return head + "".join(rows)


def main() -> None:
    """Play everything, then write both files."""
    points = []
    for point in curve(SEEDS):
        points.append(point)
        print(f"{point.steps} requests, {point.tools} tools", flush=True)
    (DOCS / "cost.svg").write_text(picture(points), encoding="utf-8")
    page = DOCS / "benchmarks.md"
    marked = re.compile(r"(?<=<!-- curves -->\n).*?(?=<!-- end -->)", re.DOTALL)
    text = marked.sub(lambda _: table(points), page.read_text(encoding="utf-8"))
    page.write_text(text, encoding="utf-8")
    print(f"wrote {DOCS / 'cost.svg'} and the table of {page}, with the prices of {MODEL}")


if __name__ == "__main__":
    main()
