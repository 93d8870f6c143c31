"""Pages and pictures can be read at 390 px: no page is a long way, no line of an example is cut off, no letter tiny."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from docs.test_pages import BLOCK, wide

DOCS = Path(__file__).parents[2] / "docs"
PAGES = sorted(page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md"))
PICTURES = sorted(picture.relative_to(DOCS).as_posix() for picture in DOCS.rglob("*.svg"))
TALLEST = 15_000
SHEET = 358
"""What a phone of 390 px leaves for a picture."""

LEAST_LETTERS = 8.5
FENCE = re.compile(r"^ *```\w*\n.*?^ *```$", re.MULTILINE | re.DOTALL)


def height(text: str) -> int:
    """About how many pixels a page is long at 390 px: the long pages of the site lie within an eighth of it."""
    pixels = 700.0  # what is above the title and below the last line
    for code in FENCE.findall(text):
        pixels += 36 + 18 * (code.count("\n") - 1)
    text = re.sub(r'\]\([^)]*\)|<a id="[^"]*"></a>', "", BLOCK.sub("", FENCE.sub("", text)))
    return round(pixels + sum(part for block in text.split("\n\n") for part in _parts(block.strip("\n"))))


def _parts(block: str) -> Iterator[float]:
    """The headings, rows, items and lines of a block, each with the space around it."""
    if block.startswith("#"):
        yield 75
    elif block.startswith("|"):
        yield from (_row(row) for row in block.splitlines() if not re.fullmatch(r"[|: -]+", row))
    elif re.match(r" *(?:-|\d+\.) ", block):
        yield 15
        yield from (8 + 24 * -(-len(item) // 42) for item in re.split(r"\n(?= *(?:-|\d+\.) )", block))
    elif block.startswith("!["):
        yield 400
    elif block:
        yield 15 + 24 * -(-len(block) // 46)


def _row(row: str) -> float:
    """As high as its highest cell; the last one of many is wide."""
    *cells, last = re.split(r"(?<!\\)\|", row.strip("|"))
    widths = [(cell, 16) for cell in cells] + [(last, 62 if len(cells) > 2 else 25)]
    return 32 + 20 * max(-(-len(cell.strip()) // width) for cell, width in widths)


@pytest.mark.parametrize("page", PAGES)
def test_no_page_is_too_long_for_a_phone(page: str) -> None:
    assert height((DOCS / page).read_text(encoding="utf-8")) <= TALLEST, "make two pages of it"


@pytest.mark.parametrize("page", [page for page in PAGES if page.startswith(("api/", "checks/"))])
def test_the_examples_of_a_name_or_code_have_narrow_lines(page: str) -> None:
    """Apart from what a program of GitHub reads: an annotation is one line, whatever it says."""
    found = wide((DOCS / page).read_text(encoding="utf-8"))

    assert [line for line in found if not line.startswith("::")] == []


@pytest.mark.parametrize("picture", PICTURES)
def test_the_letters_of_a_picture_can_be_read_on_a_phone(picture: str) -> None:
    text = (DOCS / picture).read_text(encoding="utf-8")
    (width,) = re.findall(r'viewBox="0 0 ([\d.]+) ', text)
    letters = [float(size) for size in re.findall(r"font(?:-size)?: ([\d.]+)px", text)]

    assert letters
    assert min(letters) * SHEET / float(width) >= LEAST_LETTERS


def test_what_is_written_more_than_once_is_twice_as_long() -> None:
    parts = ("word " * 200, "- `a`: word\n" * 40, "| a | b |\n|---|---|\n| c | d |", "```python\na\nb\n```", "### A")

    assert all(height(f"{part}\n\n{part}\n") - 700 == 2 * (height(part) - 700) for part in parts)
    assert height("x\n\n" * 2000) > TALLEST
