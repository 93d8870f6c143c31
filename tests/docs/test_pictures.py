"""The pictures of the docs show what their pages and the code say; `test_readme.py` holds `overview.svg`."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from bench import draw_cost, draw_search
from bench.costs import WAYS, curve
from bench.sessions import cms
from command_line import run
from cuecard.catalogue.search import SearchIndex
from unit.catalogue.tools.cms_queries import QUERIES

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
ROUNDED = 0.8
"""How far, in units of a picture, a point may be from the rounded figure in the table of its page."""


def rows(page: str, mark: str) -> list[list[str]]:
    """The table of a page between its marks, without its head."""
    text = (DOCS / page).read_text(encoding="utf-8").partition(f"<!-- {mark} -->\n")[2].partition("<!-- end -->")[0]
    return [[cell.strip() for cell in line.strip("| ").split("|")] for line in text.splitlines()[2:]]


def lines(picture: str, styles: str) -> list[list[tuple[float, float]]]:
    """The points of each line of a picture, whose style is one of these, in order."""
    text = (DOCS / picture).read_text(encoding="utf-8")
    paths = re.findall(rf'<path class="(?:{styles})" d="M([\d. L]+)"', text)
    return [[(float(x), float(y)) for x, y in re.findall(r"([\d.]+) ([\d.]+)", path)] for path in paths]


def test_the_picture_of_costs_shows_the_table_of_its_page() -> None:
    table = rows("benchmarks.md", "curves")
    panels = list(dict.fromkeys(row[0] for row in table))
    expected = [
        [draw_cost.up(1.0 if way == "append" else float(row[2 + WAYS.index(way)].rstrip("×")), n) for row in part]
        for n, part in enumerate([row for row in table if row[0] == requests] for requests in panels)
        for way in draw_cost.STYLES
    ]
    styles = "|".join(sorted(draw_cost.STYLES.values(), key=len, reverse=True))
    drawn = [[y for _, y in line] for line in lines("cost.svg", styles)]

    assert len(drawn) == len(expected) == 3 * len(WAYS)
    for shown, said in zip(drawn, expected, strict=True):
        assert shown == pytest.approx(said, abs=ROUNDED), "run `make cost`"


def test_the_table_of_costs_has_what_sessions_cost_today() -> None:
    """Its first row; the others are played by `make cost`."""
    first = draw_cost.table([next(curve(draw_cost.SEEDS))]).splitlines()[-1]

    assert [cell.strip() for cell in first.strip("| ").split("|")] == rows("benchmarks.md", "curves")[0], (
        "run `make cost`"
    )


def test_the_picture_of_searches_shows_the_table_of_its_page() -> None:
    table = rows("benchmarks.md", "curve")
    sets = len(table[0]) - 1
    expected = [[tuple(map(float, row[n + 1].split(" / "))) for row in table] for n in range(sets)]
    drawn = lines("search.svg", r"s\d")

    assert len(drawn) == sets
    for shown, said in zip(drawn, expected, strict=True):
        assert [x for x, _ in shown] == pytest.approx([draw_search.x(count) for count, _ in said], abs=ROUNDED)
        assert [y for _, y in shown] == pytest.approx([draw_search.y(recall) for _, recall in said], abs=ROUNDED)


def test_the_table_of_searches_has_what_the_search_finds_today() -> None:
    """The sets that are in the repository; the public ones are measured by `make curve`."""
    core = cms().agent.spec.tools.core
    index = SearchIndex.build([card for name, card in cms().tools.items() if name not in core])
    found = draw_search.curve(
        "CMS, queries", [(draw_search.uncut(index, query), frozenset({tool})) for query, tool in QUERIES.items()]
    )
    shown = {float(row[0]): row[4] for row in rows("benchmarks.md", "curve")}

    assert shown == {cut: f"{count:.2f} / {recall:.3f}" for cut, (count, recall) in found.points.items()}, (
        "run `make curve`"
    )


def test_the_picture_of_a_run_is_what_its_command_draws(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (command,) = re.findall(r"^cuecard (run .* --svg docs/run\.svg)$", (DOCS / "examples.md").read_text(), re.MULTILINE)
    monkeypatch.chdir(ROOT)
    done = run(*command.replace("docs/run.svg", str(tmp_path / "run.svg")).split())

    assert done.exit_code == 0, done.stderr
    assert (tmp_path / "run.svg").read_text(encoding="utf-8") == (DOCS / "run.svg").read_text(encoding="utf-8"), (
        "run `make picture`"
    )
