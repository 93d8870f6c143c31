"""Every page that is read leads on, names pages by their titles, and leaves no sentence unfinished."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from docs.website.navigation import navigation

ROOT = Path(__file__).parents[2]
PLANNED = tomllib.loads((Path(__file__).parent / "budgets.toml").read_text(encoding="utf-8"))
SEARCHES = tomllib.loads((Path(__file__).parent / "searches.toml").read_text(encoding="utf-8"))
READ = [page for group in navigation(ROOT) if group.title != "Reference" for page in group.pages()]
GATED = ["README.md", *READ]
BLOCK = re.compile(r"^```.*?^```$|<!--.*?-->", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"^ *```\w+\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
APART = re.compile(r"<!-- (?:made: \w+|apart) -->.*?<!-- end -->", re.DOTALL)
WIDEST = 76
MOST_PAGES = 39
ONE_PAGE = {"docs/hosts/langchain.md", "docs/hosts/langgraph.md"}
"""What counts as one page in two files, since a reader needs one of them; the README of the repository is none."""
MOST_WORDS = 40_000
UNEXPLAINED = 3
# What anybody understands, whatever it means exactly here; and words that are keys.
EVERYDAY = {"section", "source", "phrase", "cut", "user message", "model request", "entity"}
KEYS = ("append", "frozen", "rewrite", "engine")
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
def test_a_page_begins_with_its_title(page: str) -> None:
    assert re.match(r"# \S.*\n\n", (ROOT / page).read_text(encoding="utf-8"))


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


@pytest.mark.parametrize("page", GATED)
@pytest.mark.parametrize("gate", ["words", "wide", "unexplained"])
def test_a_page_keeps_to_its_gates(gate: str, page: str) -> None:
    """Its words are those planned and a tenth, its code is narrow, and it begins with words that it explains."""
    limit = {"words": PLANNED[page] * 11 // 10, "wide": 0, "unexplained": UNEXPLAINED}[gate]
    found = {"words": words, "wide": wide, "unexplained": unexplained}[gate]((ROOT / page).read_text(encoding="utf-8"))

    assert len(found) <= limit, found if gate != "words" else "cut it, or move what is another topic"


def test_every_page_that_is_read_has_a_number_of_words_and_no_other_has() -> None:
    assert {*PLANNED} == {*GATED}


def test_all_that_is_read_can_be_read() -> None:
    """Whoever adds a page or a chapter says what goes; what is marked as apart counts here, too."""
    assert len({*READ} - ONE_PAGE) + 1 <= MOST_PAGES
    assert sum(len((ROOT / page).read_text(encoding="utf-8").split()) for page in GATED) <= MOST_WORDS


def words(text: str) -> list[str]:
    """What is counted: tables that are generated, and what is marked so, stand apart."""
    return APART.sub("", text).split()


def wide(text: str) -> list[str]:
    """The lines of code that a narrow page cuts off."""
    return [line for block in CODE.findall(text) for line in block.splitlines() if len(line) > WIDEST]


def unexplained(text: str) -> list[str]:
    """The project's words that the first 250 words use and do not explain."""
    begins = beginning(text)
    return [] if text.startswith("# Glossary") else [word for word in project_words() if not explained(word, begins)]


def beginning(text: str) -> str:
    """The first 250 words of what is read."""
    text = re.sub(r"<[^>]+>", "", BLOCK.sub("", text))
    words = list(re.finditer(r"\S+", text))
    return text[: words[min(250, len(words)) - 1].end()]


def project_words() -> list[str]:
    """The words of this project: the terms of the glossary, and keys that are used as words."""
    terms = re.findall(
        r"^\| (?!term \|)([a-z][a-z ]+) \|", (ROOT / "docs/glossary.md").read_text("utf-8"), re.MULTILINE
    )
    return [*(term for term in terms if term not in EVERYDAY), *KEYS]


def explained(word: str, text: str) -> bool:
    """Whether a word, where it stands first as prose, is a link or bold, or its sentence says what it is."""
    pattern = rf"(?<![\w`-]){word}(?:e?s)?(?![\w-])"
    first = re.search(pattern, text, re.IGNORECASE)
    if not first:
        return True
    ends = re.compile(r"\. |\n\n|\n\||\n- ")
    begin = max((end.end() for end in ends.finditer(text, 0, first.start())), default=0)
    end = ends.search(text, first.end())
    sentence = text[begin : end.start() if end else len(text)]
    shown = re.findall(r"\[([^\]]*)\]\(|\*\*([^*]*)\*\*", sentence)
    said = rf"{pattern}\S{{0,2}} ?(?:is|are|means|holds|which|\(|:)"
    return any(re.search(pattern, "".join(each), re.IGNORECASE) for each in shown) or bool(
        re.search(said, sentence, re.IGNORECASE)
    )


@pytest.mark.parametrize(
    "text",
    [
        "It writes a [manifest](how-it-works.md).",
        "The manifest is the record of a prompt.",
        "Later: **manifest**, a record.",
        "A file. The manifest (a record) has it.",
        "Only `manifest` as code.",
    ],
)
def test_a_word_is_explained_by_a_link_or_in_its_sentence(text: str) -> None:
    assert unexplained(f"# A\n\n{text}\n") == []


@pytest.mark.parametrize("text", ["It writes a manifest.", "The manifest has it. The manifest is a record."])
def test_a_word_that_is_explained_nowhere_or_later_is_found(text: str) -> None:
    assert unexplained(f"# A\n\n{text}\n") == ["manifest"]


def test_paragraphs_are_found() -> None:
    assert len(prose("docs/how-it-works.md")) > 10
