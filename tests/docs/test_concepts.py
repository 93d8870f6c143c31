"""docs/concepts: each page has one picture, drawn from what the engine does today, and the figures of both agree."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import xml.etree.ElementTree as ET
from itertools import pairwise
from pathlib import Path

import pytest

from docs.pictures import cache, deliveries, tiers
from docs.pictures.__main__ import FOLDER, PICTURES
from docs.pictures.drawing import WIDTH
from docs.pictures.session import DELIVERIES, bodies, requests

SVG = "{http://www.w3.org/2000/svg}"
PAGES = sorted(FOLDER.glob("*.md"))
BROWSER = next(
    (found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), ""
)
MEASURE = """
<script>
const wide = [...document.querySelectorAll('text')].filter(t => {
  const box = t.getBBox(); return box.x < 0 || box.x + box.width > %d;
}).map(t => t.textContent);
document.body.dataset.wide = JSON.stringify(wide);
</script>
"""


def text(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_shows_what_the_engine_does_today(name: str) -> None:
    assert PICTURES[name]() == text(f"{name}.svg"), "run `make picture`, and look at it"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_has_one_picture_with_an_alternative_text(page: Path) -> None:
    shown = re.findall(r"!\[(.*?)\]\((.*?)\)", page.read_text(encoding="utf-8"))

    assert [source for _, source in shown] == [f"{page.stem}.svg"]
    assert len(shown[0][0]) > 60
    assert page.stem in PICTURES


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_says_what_it_shows_and_follows_the_theme(name: str) -> None:
    root = ET.fromstring(text(f"{name}.svg"))  # noqa: S314 - our own file
    told = [root.findtext(f"{SVG}{kind}") or "" for kind in ("title", "desc")]

    assert all(told)
    assert "prefers-color-scheme: dark" in text(f"{name}.svg")


@pytest.mark.skipif(not BROWSER, reason="no chromium on this machine")
@pytest.mark.parametrize("name", PICTURES)
def test_no_text_leaves_its_sheet(name: str, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text(f"<body>{text(f'{name}.svg')}{MEASURE % WIDTH}", encoding="utf-8")
    command = [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom", page.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    (found,) = re.findall(r'data-wide="(.*?)"', done.stdout)

    assert json.loads(found.replace("&quot;", '"')) == []


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
    told = re.findall(r"costs ([\d,]+) plain tokens under `append` and ([\d,]+)", text("cache.md"))

    assert [tuple(costs)] == told
