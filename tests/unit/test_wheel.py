"""The wheel works where no checkout is: prompts, schemas and examples travel in it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from docs.reader import reading
from once import unpacked_wheel


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the unpacked wheel."""
    return unpacked_wheel(tmp_path_factory)


@pytest.fixture(scope="module")
def shown(installed: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], str]]:
    """What a command prints in an empty folder; one process runs all of them, since it has much to import."""
    folder = tmp_path_factory.mktemp("empty")
    (folder / "where.py").write_text("import cuecard\nprint(cuecard.__file__)\n", encoding="utf-8")
    with reading(installed) as typed:
        yield lambda line: typed(folder, line.split(), {**os.environ, "PYTHONPATH": str(installed)})


def test_the_wheel_is_what_is_tried(installed: Path, shown: Callable[[str], str]) -> None:
    assert shown("python where.py").startswith(str(installed))


def test_the_shipped_agent_checks_from_the_wheel(shown: Callable[[str], str]) -> None:
    assert "cms: 7 sections, 48 tools: 0 errors" in shown("cuecard check prompts/cms/agent.yaml")


def test_a_code_is_explained_from_the_wheel(shown: Callable[[str], str]) -> None:
    assert shown("cuecard explain unknown-key").startswith("unknown-key\n\nError.")


def test_a_scenario_plays_from_the_wheel(shown: Callable[[str], str]) -> None:
    told = shown("cuecard run examples/cms/assistant.yaml --scenario slug-taken --json")

    assert '"contact-2"' in told
    assert json.loads(told.splitlines()[-1]) == {"event": "finished", "scenarios": 1, "failed": []}
