"""Every page that is read leads on, names pages by their titles, and leaves no sentence unfinished."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from docs.website.navigation import navigation

ROOT = Path(__file__).parents[2]
SEARCHES = tomllib.loads((Path(__file__).parent / "searches.toml").read_text(encoding="utf-8"))
READ = [page for group in navigation(ROOT) if group.title != "Reference" for page in group.pages()]
BLOCK = re.compile(r"^```.*?^```$|<!--.*?-->", re.MULTILINE | re.DOTALL)
MARKS = (".", ":", "?", "!", "`", ")", ">")


def prose(page: str) -> list[str]:
    """The paragraphs outside of code, tables, lists, headings and pictures."""
    text = BLOCK.sub("", (ROOT / page).read_text(encoding="utf-8"))
    return [each.strip() for each in text.split("\n\n") if re.match(r"\s*[A-Z`*\[a-z]", each)]


@pytest.mark.parametrize("page", [page for page in READ if not page.endswith("/README.md")])
def test_a_page_ends_with_what_to_read_next(page: str) -> None:
    last = prose(page)[-1]

    assert last.startswith("Next: "), last
    assert re.search(r"\]\([^)]+\.md[)#]", last)


@pytest.mark.parametrize("page", READ)
def test_a_link_is_named_by_what_it_leads_to(page: str) -> None:
    text = BLOCK.sub("", (ROOT / page).read_text(encoding="utf-8"))

    assert [shown for shown in re.findall(r"\[([^\]]+)\]\([^)]+\)", text) if shown.strip("`").endswith(".md")] == []


@pytest.mark.parametrize("page", READ)
def test_no_paragraph_breaks_off(page: str) -> None:
    assert [each for each in prose(page) if not each.rstrip("*").endswith(MARKS)] == []


@pytest.mark.parametrize(("words", "page"), SEARCHES.items())
def test_a_search_has_its_words_where_a_reader_looks_first(words: str, page: str) -> None:
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    headings = re.findall(r"^#+ (.*)$", BLOCK.sub("", text), re.MULTILINE)
    seen = "\n".join([*headings, prose(f"docs/{page}")[0]]).lower()

    assert [word for word in words.split() if word not in seen] == []


def test_paragraphs_are_found() -> None:
    assert len(prose("docs/how-it-works.md")) > 10
