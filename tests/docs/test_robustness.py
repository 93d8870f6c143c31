"""tests/README.md names a test for each promise of docs/guarantees.md; each row of its table has one, or a reason."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "tests" / "README.md").read_text(encoding="utf-8")
PROMISED = (ROOT / "docs" / "guarantees.md").read_text(encoding="utf-8").partition("## What is refused")[0]
NAMED = sorted(set(re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", PAGE)))
ROWS = 64


@pytest.mark.parametrize(("file", "test"), NAMED)
def test_what_the_page_names_exists(file: str, test: str) -> None:
    text = (ROOT / file).read_text(encoding="utf-8")

    assert not test or re.search(rf"^def {test}\(", text, re.MULTILINE)


def test_every_promise_is_rows_tested() -> None:
    rows = [line for line in PAGE.splitlines() if line.startswith("| **")]

    assert len(rows) == 11
    assert [row.split("**")[1] for row in rows] == re.findall(r"^- \*\*(.+?)\*\*", PROMISED, re.MULTILINE)
    assert all("::test_" in row for row in rows)


def rows_tested() -> set[int]:
    texts = (path.read_text(encoding="utf-8") for path in (ROOT / "tests" / "unit").rglob("test_*.py"))
    return {int(row) for text in texts for row in re.findall(r"^def test_row_(\d+)_", text, re.MULTILINE)}


def test_every_row_has_a_test_or_says_what_it_waits_for() -> None:
    listed = PAGE.partition("One row does not apply")[2]
    waiting = {int(row) for row in re.findall(r"^\| (\d+) \|", listed, re.MULTILINE)}

    assert rows_tested() | waiting == set(range(1, ROWS + 1))
    assert not rows_tested() & waiting
