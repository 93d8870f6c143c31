"""Recipes run: each page is walked from top to bottom in a folder of its own, which has the examples it names."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from docs.walk import BLOCK, Walk

DOCS = Path(__file__).parents[2] / "docs"
WALKED = ("caching.md", "migrate.md", "tool-instructions.md", "words.md")
RECIPES = sorted(f"how-to/{page.name}" for page in (DOCS / "how-to").glob("*.md") if page.name != "README.md")


@pytest.mark.parametrize("page", [*RECIPES, *WALKED])
def test_a_page_prints_what_it_shows(page: str, tmp_path: Path) -> None:
    text = (DOCS / page).read_text(encoding="utf-8")
    for example in re.findall(r"\]\(\.\./\.\./examples/(\w+)\)", text):
        shutil.copytree(DOCS.parent / "examples" / example, tmp_path / example)
    walk = Walk(tmp_path)

    walk.follow(text)

    assert walk.steps == len(re.findall(r"^```\w+$", text, re.MULTILINE))
    assert any(block["language"] == "console" for block in BLOCK.finditer(text))


@pytest.mark.parametrize("page", RECIPES)
def test_a_recipe_has_its_goal_and_what_can_go_wrong(page: str) -> None:
    text = (DOCS / page).read_text(encoding="utf-8")

    assert "\n**Goal:** " in text
    assert "\n## What can go wrong\n" in text
