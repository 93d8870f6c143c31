"""The page: opened in a browser, without network; every figure also stands in a table."""

from __future__ import annotations

import base64
import hashlib
import re
import subprocess
from dataclasses import dataclass
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from cuecard.workbench.replay.charts import Axis, ChartBreak, Series, ceiling, line_chart, share_bars, stack_chart
from cuecard.workbench.replay.page import page
from cuecard.workbench.replay.report import BillingModels, ReplayReport, replay
from cuecard.workbench.replay.tables import bar
from studio.served import BROWSER
from unit.workbench.replay.small import advice, conversation, engine, profile, report

NEEDS_BROWSER = pytest.mark.skipif(not BROWSER, reason="no chromium on this machine")


@pytest.fixture(name="report")
def report_of_pages() -> ReplayReport:
    return report()


@pytest.fixture(scope="module")
def text() -> str:
    return page(report(), advice())


class Elements(HTMLParser):
    """Which elements a page has, and that each is closed in its turn."""

    def __init__(self) -> None:
        super().__init__()
        self.opened: list[str] = []
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:  # noqa: ARG002 - the parser passes it
        self.found.append(tag)
        if tag not in {"meta", "path", "circle", "rect"} or self.opened[-1:] == ["defs"]:
            self.opened.append(tag)

    def handle_startendtag(self, tag: str, attrs: object) -> None:  # noqa: ARG002 - the parser passes it
        self.found.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in {"path", "circle", "rect"}:
            return
        assert self.opened.pop() == tag


def test_every_element_is_closed(text: str) -> None:
    parser = Elements()
    parser.feed(text)

    assert parser.opened == []
    assert parser.found.count("svg") == 5
    assert "script" not in parser.found


def test_the_page_loads_nothing(text: str) -> None:
    assert not re.search(r"(?:src=|href|@import|url\((?!#))", text)


def test_every_cost_of_the_charts_appears_in_a_table(text: str, report: ReplayReport) -> None:
    cells = re.findall(r"<td class='number'>([\d,]+)</td>", text)
    costs = {f"{round(row.cost):,}" for variant in report.variants for row in report.bill(variant).rows}

    assert costs <= set(cells)


def test_what_the_log_says_cannot_write_into_the_page() -> None:
    evil = "<script>alert(1)</script>"
    recorded = conversation({"user": evil, "requests": [{"calls": [{"tool": evil, "result": evil}]}, {}]})
    shown = page(replay(engine(), recorded, BillingModels([profile()]), name=evil), None)

    assert "<script" not in shown
    assert "&lt;script&gt;" in shown


def test_a_chart_is_higher_than_its_highest_value_and_divides_by_four() -> None:
    for most in (1, 7, 19, 99, 1234, 10_798, 123_456):
        assert most <= ceiling(most) <= most * 4
        assert f"{ceiling(most) / 4:g}".rstrip("0.").replace(".", "") in {"1", "15", "2", "25", "3", "4", "5"}


def test_charts_of_nothing_and_of_one_request_can_be_drawn() -> None:
    one = Axis(("1.1",), (0,))
    layers = [Series("tools", "tools", (0.0,)), Series("system", "system", (5.0,))]

    assert "M" in line_chart("t", one, [Series("append", "append", (3.0,))])
    assert stack_chart("t", one, layers, [ChartBreak(0, 2.0, "why")], 5.0).count("<rect") == 2
    assert "0 %" not in share_bars("t", [("append", [("cached", "cached", 0.0)])])
    assert line_chart("t", Axis((), ()), []).endswith("</svg>")


@pytest.mark.parametrize(("value", "shown"), [(0, ""), (0.001, "▏"), (5, "█████"), (10, "██████████"), (2.5, "██▌")])
def test_a_bar_is_as_long_as_its_value(value: float, shown: str) -> None:
    assert bar(value, 10, 10) == shown


@dataclass(frozen=True)
class Drawn:
    """What a browser makes of the page: its picture, and its elements with what a script has measured in them."""

    picture: bytes
    document: str


PROBE = (
    "<script>document.body.dataset.charts=[...document.querySelectorAll('svg')].map(s=>s.getAttribute('aria-label')"
    "+'|'+(s.getBoundingClientRect().width>600&&s.getBBox().height>40)).join(';');"
    "document.body.dataset.wide=document.documentElement.scrollWidth>window.innerWidth</script>"
)


def probed(page: str, probe: str) -> str:
    """The page with a script of the tests' own, which its policy allows by hash as well."""
    script = probe.removeprefix("<script>").removesuffix("</script>")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert page.count("default-src 'none';") == 1
    allowed = page.replace("default-src 'none';", f"default-src 'none'; script-src 'sha256-{digest}';")
    return allowed.replace("</body>", f"{probe}</body>")


@cache
def drawn(theme: str) -> Drawn:
    """Both from one browser, which takes a second to start."""
    with TemporaryDirectory() as folder:
        document, picture = Path(folder) / "report.html", Path(folder) / "report.png"
        document.write_text(probed(page(report(), advice()), PROBE), encoding="utf-8")
        colours = f"--blink-settings=preferredColorScheme={theme}"
        seen = look(colours, "--window-size=1100,1400", "--dump-dom", f"--screenshot={picture}", document)
        return Drawn(picture.read_bytes(), seen)


@NEEDS_BROWSER
@pytest.mark.parametrize("theme", ["0", "1"], ids=["dark", "light"])
def test_a_browser_draws_it(theme: str) -> None:
    """The picture has the size that was asked for and is not one colour."""
    data = drawn(theme).picture

    assert data.startswith(b"\x89PNG")
    assert (int.from_bytes(data[16:20]), int.from_bytes(data[20:24])) == (1100, 1400)
    assert len(data) > 30_000


@NEEDS_BROWSER
def test_a_browser_finds_every_chart_with_its_name() -> None:
    """Measured by the browser itself: each chart is drawn inside of the page, and nothing is wider than the window."""
    seen = drawn("0").document
    charts = re.search(r'data-charts="([^"]*)"', seen)

    assert charts
    assert charts[1].split(";") == [
        "Cost per request by delivery|true",
        "Cached share by delivery|true",
        "Tokens per request under append|true",
        "Tokens per request under rewrite|true",
        "Tokens per request under frozen|true",
    ]
    assert 'data-wide="false"' in seen


def look(*arguments: str | Path) -> str:
    """What a browser without a window prints."""
    flags = ("--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--disable-dev-shm-usage")
    *options, document = arguments
    command = [BROWSER, *flags, *map(str, options), f"file://{document}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    return done.stdout


COLOUR = re.compile(r"--([a-z]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)")
STUDIO = Path(__file__).parents[4] / "engine" / "cuecard" / "studio" / "static" / "studio.css"


def contrast(one: str, other: str) -> float:
    """The contrast of two colours, as WCAG 2 defines it."""

    def light(colour: str) -> float:
        parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    low, high = sorted((light(one), light(other)))
    return (high + 0.05) / (low + 0.05)


def test_the_page_has_the_colours_of_the_studio_and_all_can_be_told_apart(text: str) -> None:
    own = {name: (light, dark) for name, light, dark in COLOUR.findall(text)}
    studio = {name: (light, dark) for name, light, dark in COLOUR.findall(STUDIO.read_text(encoding="utf-8"))}
    used = set(re.findall(r"var\(--([a-z]+)\)", text)) - {"within"}

    assert used <= own.keys()
    assert own == {name: studio[name] for name in own}
    for theme in (0, 1):
        for words in ("ink", "soft", "append", "rewrite", "frozen", "plain"):
            assert contrast(own[words][theme], own["card"][theme]) >= 4.5, words
        for mark in ("static", "call", "step", "edge", "read", "write", "fresh", "bad"):
            assert contrast(own[mark][theme], own["card"][theme]) >= 3, mark
        for ground in ("read", "write", "fresh"):
            assert contrast("#000000", own[ground][theme]) >= 4.5, ground
