"""The programs in examples/hosts: each is run as people run it, with no arguments."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROGRAMS = sorted((ROOT / "examples" / "hosts").glob("*.py"))
FOUND = {"langchain_agent", "langgraph_graph", "litellm_loop"}
"""Programs that print which tools are active behind a search."""


@pytest.fixture(scope="module")
def told() -> dict[str, dict[str, str]]:
    """By path, what each program has printed, and why it did not end well."""
    command = [sys.executable, "-W", "error", str(Path(__file__).with_name("programs.py")), *map(str, PROGRAMS)]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, cwd=ROOT)

    assert ran.returncode == 0, ran.stderr
    programs: dict[str, dict[str, str]] = json.loads(ran.stdout)
    return programs


@pytest.mark.parametrize("program", PROGRAMS, ids=[program.stem for program in PROGRAMS])
def test_a_program_ends_by_itself_and_says_something(program: Path, told: dict[str, dict[str, str]]) -> None:
    ran = told[str(program)]

    assert ran["wrong"] == ""
    assert ran["shown"].strip()
    assert program.stem not in FOUND or "active: tool_search, cms_createPage" in ran["shown"]


def test_each_program_has_a_page() -> None:
    pages = {page.stem.replace("-", "_") for page in (ROOT / "docs" / "hosts").glob("*.md")}

    assert [program.name for program in PROGRAMS if not program.stem.startswith(tuple(pages))] == []
