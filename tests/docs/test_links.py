"""Every relative link in a page leads to a file, and every fragment to a heading or an anchor in it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from posixpath import dirname, join, normpath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from docs.website.markdown import anchors, links, title

ROOT = Path(__file__).parents[2]
FOUND = [
    *ROOT.glob("*.md"),
    *(ROOT / ".github").glob("*.md"),
    *(ROOT / "docs").rglob("*.md"),
    *(
        readme
        for folder in ("clients", "engine", "examples", "prompts")
        for readme in (ROOT / folder).rglob("README.md")
    ),
]
PAGES = sorted(page.relative_to(ROOT).as_posix() for page in FOUND if "node_modules" not in page.parts)


@cache
def anchors_of(page: str) -> set[str]:
    return anchors((ROOT / page).read_text(encoding="utf-8"))


def dead(page: str) -> Iterator[str]:
    """The links that lead nowhere, each with its place."""
    for link in links((ROOT / page).read_text(encoding="utf-8")):
        if not link.is_relative:
            continue
        path, _, anchor = link.target.partition("#")
        target = normpath(join(dirname(page), path)) if path else page
        if target.startswith("../") or not (ROOT / target).exists():
            yield f"{page}:{link.line}: {link.target} leads to nothing"
        elif anchor and target.endswith(".md") and anchor not in anchors_of(target):
            yield f"{page}:{link.line}: {target} has no heading or anchor #{anchor}"


@pytest.mark.parametrize("page", PAGES)
def test_every_link_leads_somewhere(page: str) -> None:
    found = list(dead(page))

    assert found == [], "\n".join(found)


def test_links_in_code_do_not_count_and_all_others_have_their_line() -> None:
    text = (
        "# A\n\n`[x](no.md)` [b](b.md#c)\n\n```text\n[x](no.md)\n```\n\n"
        '![p](p.svg) <a href="d.md">d</a>\n<!-- [x](no.md) -->\n'
    )

    assert [(link.target, link.line) for link in links(text)] == [("b.md#c", 3), ("p.svg", 9), ("d.md", 9)]
    assert [text[link.start :].startswith(link.target) for link in links(text)] == [True] * 3


def test_anchors_are_those_of_github() -> None:
    text = (
        "# What `cuecard check` finds\n\n## A, B & C\n\n## Twice\n\n## Twice\n\n### With [a link](x.md)\n\n"
        '```sh\n# no heading\n```\n\n| <a id="unknown-key"></a>`unknown-key` |\n'
    )

    assert title(text) == "What cuecard check finds"
    assert anchors(text) == {
        *("what-cuecard-check-finds", "a-b--c", "twice", "twice-1", "with-a-link", "unknown-key"),
    }


@given(st.text(alphabet='`~[]()<># \nab"=', max_size=60))
def test_any_text_can_be_read(text: str) -> None:
    assert all(text[link.start :].startswith(link.target) for link in links(text))
    assert all(1 <= link.line <= text.count("\n") + 1 for link in links(text))
    assert isinstance(anchors(text), set)
