"""The pages of integrations run as they stand there; the clients find a service on loopback, which plays the model."""

from __future__ import annotations

from pathlib import Path

import pytest

from docs.host_page import BLOCK, PROVIDERS
from forked import start

ROOT = Path(__file__).parents[2]
OWN = (ROOT / "docs" / "hosts" / "own-loop.md").read_text(encoding="utf-8")
FRAMEWORKS = ("adk", "langchain", "langchain-mcp", "langgraph", "litellm", "openai-agents", "pydantic-ai")
WARM = "from docs.host_page import warm; warm()"
PLAY = f"import sys; sys.path.insert(0, {str(ROOT / 'tests')!r}); from docs.host_page import main; main(*sys.argv[1:])"
PAGES = sorted([*PROVIDERS, *FRAMEWORKS])


@pytest.mark.parametrize("page", PAGES)
def test_a_page_runs_as_it_stands_and_the_model_is_told_what_it_says(page: str) -> None:
    played = start(page, program=PLAY, warm=WARM, pipes="stdout stderr", text=True)
    out, err = played.communicate(timeout=120)

    assert played.returncode == 0, err
    assert "Done.\n" in out


@pytest.mark.parametrize("code", [code for code in BLOCK.findall(OWN) if "def say(" in code])
def test_a_loop_has_at_most_25_lines(code: str) -> None:
    loop = code[code.find("def say(") :]

    assert len([line for line in loop.splitlines() if line.strip()]) <= 25
