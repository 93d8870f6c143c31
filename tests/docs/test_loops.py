"""The pages of integrations run as they stand there; the clients find a service on loopback, which plays the model."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from docs.host_page import BLOCK, PROVIDERS

ROOT = Path(__file__).parents[2]
OWN = (ROOT / "docs" / "hosts" / "own-loop.md").read_text(encoding="utf-8")
FRAMEWORKS = ("adk", "langchain", "langchain-mcp", "langgraph", "litellm", "openai-agents", "pydantic-ai")
PAGES = sorted([*PROVIDERS, *FRAMEWORKS])


@pytest.mark.parametrize("page", PAGES)
def test_a_page_runs_as_it_stands_and_the_model_is_told_what_it_says(page: str) -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "tests" / "docs" / "host_page.py"), page],
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    assert "Done.\n" in done.stdout


@pytest.mark.parametrize("code", [code for code in BLOCK.findall(OWN) if "def say(" in code])
def test_a_loop_has_at_most_25_lines(code: str) -> None:
    loop = code[code.find("def say(") :]

    assert len([line for line in loop.splitlines() if line.strip()]) <= 25
