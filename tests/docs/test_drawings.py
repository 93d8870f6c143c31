"""docs/pictures: each is drawn from what the engine does today, stands on a page, and agrees with its figures."""

from __future__ import annotations

import html
import json
import re
import subprocess
import xml.etree.ElementTree as ET
from itertools import pairwise
from pathlib import Path

import pytest

from docs.pictures import cache, deliveries, tiers
from docs.pictures.__main__ import FOLDER, PICTURES
from docs.pictures.drawing import WIDTH
from docs.pictures.session import DELIVERIES, bodies, requests
from once import once
from studio.served import BROWSER

SVG = "{http://www.w3.org/2000/svg}"
PAGES = sorted(FOLDER.parent.glob("*.md"))
MEASURE = """
<script>
const wide = [...document.querySelectorAll('text')].filter(t => {
  const box = t.getBBox(); return box.x < 0 || box.x + box.width > %d;
}).map(t => t.textContent);
parent.document.body.setAttribute('data-%s', JSON.stringify(wide));
</script>
"""


def text(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_shows_what_the_engine_does_today(name: str) -> None:
    assert PICTURES[name]() == text(f"{name}.svg"), "run `make picture`, and look at it"


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_stands_on_one_page_with_an_alternative_text(name: str) -> None:
    shown = [
        alternative
        for page in PAGES
        for alternative, source in re.findall(r"!\[(.*?)\]\((.*?)\)", page.read_text(encoding="utf-8"))
        if source == f"pictures/{name}.svg"
    ]

    assert len(shown) == 1
    assert len(shown[0]) > 60


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_says_what_it_shows_and_follows_the_theme(name: str) -> None:
    root = ET.fromstring(text(f"{name}.svg"))  # noqa: S314 - our own file
    told = [root.findtext(f"{SVG}{kind}") or "" for kind in ("title", "desc")]

    assert all(told)
    assert "prefers-color-scheme: dark" in text(f"{name}.svg")


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A page with all pictures, on which each has noted its texts that are too wide."""
    return (once(tmp_path_factory, "pictures", measure) / "measured.html").read_text(encoding="utf-8")


def measure(folder: Path) -> None:
    """Open all pictures at once, each in a frame of its own: the browser takes longer to start than to draw."""
    frames = [html.escape(text(f"{name}.svg") + MEASURE % (WIDTH, name)) for name in PICTURES]
    page = folder / "page.html"
    page.write_text("<body>" + "".join(f'<iframe srcdoc="{frame}"></iframe>' for frame in frames), encoding="utf-8")
    command = [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom", page.as_uri()]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=60, check=True)
    (folder / "measured.html").write_text(done.stdout, encoding="utf-8")


@pytest.mark.skipif(not BROWSER, reason="no chromium on this machine")
@pytest.mark.parametrize("name", PICTURES)
def test_no_text_leaves_its_sheet(name: str, measured: str) -> None:
    (found,) = re.findall(rf'data-{name}="(.*?)"', measured)

    assert json.loads(html.unescape(found)) == []


def test_tiers_change_when_the_page_says() -> None:
    changes = tiers.changed(list(requests("rewrite")))
    at = {tier: {new for of, new in changes.values() if of == tier} for tier in ("static", "call", "step")}

    assert at["static"] == {(True, False, False, False, False)}
    assert at["call"] == {(True, False, False, True, False)}  # the second message of the user is the fourth request
    assert at["step"] == {(True, True, False, False, True)}


def test_append_and_frozen_only_add_and_rewrite_does_not() -> None:
    for delivery in DELIVERIES:
        played = [deliveries.bars(before, after) for before, after in bodies(delivery)]
        adds_only = all(now[0] == sum(before) for before, now in pairwise(played))
        assert adds_only == (delivery != "rewrite")


def test_the_page_on_the_cache_has_the_figures_of_its_picture() -> None:
    costs = re.findall(r"costs ([\d,]+) plain tokens", cache.picture().partition("</desc>")[2])
    told = re.findall(
        r"costs ([\d,]+) plain tokens under `append` and ([\d,]+)",
        (FOLDER.parent / "caching.md").read_text(encoding="utf-8"),
    )

    assert [tuple(costs)] == told
