"""The loops on the pages about providers run as they stand there; the clients find a service on loopback."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from docs.host_page import BLOCK, SCRIPT, environment
from loopback_models import loopback_models

ROOT = Path(__file__).parents[2]
LOOPS = ("anthropic.md", "bedrock.md", "gemini.md", "openai.md")


@pytest.mark.parametrize("page", LOOPS)
def test_a_loop_runs_as_it_appears_on_its_page(
    page: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (ROOT / "docs" / "hosts" / page).read_text(encoding="utf-8")
    typed: dict[str, Any] = {}
    monkeypatch.chdir(ROOT)
    with loopback_models(SCRIPT) as service:
        for name, value in environment(service.url).items():
            monkeypatch.setenv(name, value)
        for code in BLOCK.findall(text):
            exec(compile(code, page, "exec"), typed)  # noqa: S102 - running the example is the test
        typed["client"].close()
        loops = text.count("def say(")

    assert capsys.readouterr().out == "Done.\n" * loops
    assert len(service.bodies) == 3 * loops
    for first, second, third in zip(*[iter(service.asked)] * 3, strict=True):
        assert "<cms_createPage>" not in str(first)
        assert "<cms_createPage>" in str(second)
        assert "About us" in str(third)


@pytest.mark.parametrize("page", LOOPS)
def test_a_loop_has_at_most_25_lines(page: str) -> None:
    text = (ROOT / "docs" / "hosts" / page).read_text(encoding="utf-8")
    for code in (code for code in BLOCK.findall(text) if "def say(" in code):
        loop = code[max(code.find("tools = Functions"), 0) :]

        assert len([line for line in loop.splitlines() if line.strip()]) <= 25
