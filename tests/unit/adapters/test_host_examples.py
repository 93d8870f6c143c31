"""The examples of these hosts run as a reader runs them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize("name", ["langchain_agent", "langgraph_graph", "litellm_loop"])
def test_an_example_runs_without_arguments(name: str) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", f"examples/hosts/{name}.py"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    assert "active: tool_search, cms_createPage" in done.stdout
