"""A hostile agent folder: what it says is shown as text; it runs nothing, forges nothing and hides nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from studio.in_process import answer, visiting, words

EVIL = "</pre></main><script>alert(1)</script><img src=x onerror=alert(1)>'\"><a href=javascript:alert(1)>x</a>{{7*7}}"
RUNS = "//script[not(@src)] | //img | //iframe | //object | //*[@style] | //a[starts-with(@href, 'javascript')]"


def agent(folder: Path, text: str, **more: str) -> Path:
    """An agent of one section that says a text, and more files beside it."""
    folder.mkdir(parents=True)
    (folder / "agent.yaml").write_text(
        f"agent: evil\nsections:\n  - id: main\n    file: text.md\n{more.pop('yaml', '')}", encoding="utf-8"
    )
    (folder / "text.md").write_text(text, encoding="utf-8")
    for name, told in more.items():
        (folder / name).write_text(told, encoding="utf-8")
    return folder


def pages(folder: Path, *addresses: str) -> list[Any]:
    with visiting(folder.parent, [folder.name]) as visit:
        return [visit.page(address) for address in addresses]


def test_a_text_is_shown_as_it_is(tmp_path: Path) -> None:
    folder = agent(tmp_path / "one", EVIL.replace("{{7*7}}", ""))

    for page in pages(
        folder,
        "/",
        "/prompt",
        "/timeline",
        "/inputs",
        "/switches",
        "/editor?section=main",
        "/price",
        "/prompt?form=chat",
    ):
        assert page.xpath(RUNS) == []
    (page,) = pages(folder, "/prompt")
    assert page.xpath("//details[@id='s-main']//pre")[0].text_content().strip() == EVIL.replace("{{7*7}}", "")


def test_tools_and_searches_are_text_in_switches(tmp_path: Path) -> None:
    evil = json.dumps(EVIL.replace("{{7*7}}", ""))
    entry = f"{{before: {evil}, next: two, phrases: [{evil}]}}"
    tools = f"category: {evil}\ntools:\n  one: {entry}\n  two: {{after: x}}\n"
    yaml = "  - {id: found, text: '{{{activeProtocols}}}'}\ntools: {instructions: tools.yaml}\n"
    folder = agent(tmp_path / "one", "Hello", yaml=yaml, **{"tools.yaml": tools})

    asked = quote(EVIL)
    for page in pages(folder, f"/switches?by=hand&found=one&query={asked}&node={asked}", f"/switches?q={asked}"):
        assert page.xpath(RUNS) == []
        assert len(page.xpath("//*[@role='switch']")) == 3


def test_a_section_cannot_take_the_place_of_a_part_of_the_page(tmp_path: Path) -> None:
    """A section may be called `main` or `find`; the page has only one of each."""
    folder = agent(tmp_path / "one", "Hello")

    (page,) = pages(folder, "/prompt")

    assert len(page.xpath("//*[@id='main']")) == 1
    assert page.xpath("//*[@id='main']")[0].tag == "main"


@pytest.mark.parametrize(
    "name",
    ["<script>alert(1)</script>", "a'\"><img src=x onerror=alert(1)>", "javascript:alert(1)", "a\nb", "\u202eevil"],
)
def test_a_folder_may_have_any_name(tmp_path: Path, name: str) -> None:
    folder = agent(tmp_path / name, "Hello")

    for page in pages(folder, "/", "/prompt", "/inputs"):
        assert page.xpath(RUNS) == []
        assert page.xpath("//select[@name='agent']/option")


def test_a_broken_file_is_quoted_and_not_run(tmp_path: Path) -> None:
    folder = agent(tmp_path / "one", "Hello {{#if x}} " + EVIL)

    (page,) = pages(folder, "/prompt")

    assert page.xpath(RUNS) == []
    assert "there has been no good state yet." in answer(page)
    assert "<script>alert(" in " ".join(words(page, "//article//pre"))


def test_invisible_characters_in_problems_are_seen(tmp_path: Path) -> None:
    folder = agent(tmp_path / "one", "Hello {{#if x}}\u202e\u200b evil")

    (page,) = pages(folder, "/prompt")

    assert "‹U+202E›" in " ".join(words(page, "//article"))


def test_an_address_is_data_too(tmp_path: Path) -> None:
    agent(tmp_path / "one", "Hello")
    with visiting(tmp_path, ["one"]) as visit:
        for name in ("agent", "run", "model", "q", EVIL):
            answered = visit.client.get("/prompt", params={name: EVIL})
            assert "<script>alert" not in answered.text
            assert "<img" not in answered.text


def test_five_thousand_tools_are_shown(tmp_path: Path) -> None:
    folder = tmp_path / "many"
    (folder / "tools").mkdir(parents=True)
    (folder / "agent.yaml").write_text(
        "agent: many\ntemplate: agent.xml\ntools:\n  instructions: tools\n  search: {tool: find}\n", encoding="utf-8"
    )
    (folder / "agent.xml").write_text("<agent>\n<use>\n{{{activeProtocols}}}\n</use>\n</agent>\n", encoding="utf-8")
    for first in range(0, 5_000, 1_000):
        entries = "".join(
            f"  tool_{n}:\n    before: None\n    after: <script>alert({n})</script>\n    next: None\n    gotcha: None\n"
            for n in range(first, first + 1_000)
        )
        (folder / "tools" / f"{first}.yaml").write_text(f"tools:\n{entries}", encoding="utf-8")

    with visiting(tmp_path, ["many"]) as visit:
        assert "It has 5,000 tools" in answer(visit.page("/"))
        found = ",".join(f"tool_{n}" for n in range(1_000))
        page = visit.page(f"/prompt?found={found}")
        assert page.xpath(RUNS) == []
        assert "alert(999)" in page.text_content()
        assert "more than 1,000 tools" in " ".join(words(visit.page(f"/prompt?found={found},one", 422), "//main"))
