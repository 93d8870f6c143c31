"""The programs in examples/hosts: each is run with no arguments."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

from docs.host_page import CHAPTERS

ROOT = Path(__file__).parents[2]
PROGRAMS = sorted((ROOT / "examples" / "hosts").glob("*.py"))
FOUND = {"langchain_agent", "langgraph_graph", "litellm_loop"}
"""Programs that print which tools are active behind a search."""


@pytest.mark.parametrize("program", PROGRAMS, ids=[program.stem for program in PROGRAMS])
def test_a_program_ends_by_itself_and_says_something(
    program: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr("sys.argv", [str(program)])
    runpy.run_path(str(program), run_name="__main__")
    shown = capsys.readouterr().out

    assert shown.strip()
    assert program.stem not in FOUND or "active: tool_search, cms_createPage" in shown


def test_each_program_has_a_page() -> None:
    pages = {page.stem.replace("-", "_") for page in (ROOT / "docs" / "hosts").glob("*.md")} | {
        each.replace("-", "_") for each in CHAPTERS
    }

    assert [program.name for program in PROGRAMS if not program.stem.startswith(tuple(pages))] == []
