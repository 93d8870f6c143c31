"""The wheel works where no checkout is: prompts, schemas and examples travel in it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from once import unpacked_wheel

RUN = (
    "from importlib.metadata import entry_points as found\n"
    "next(iter(found(group='console_scripts', name='cuecard'))).load()()"
)


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the unpacked wheel."""
    return unpacked_wheel(tmp_path_factory)


def test_the_shipped_agent_checks_from_the_wheel(installed: Path, tmp_path: Path) -> None:
    script = f"import cuecard; print(cuecard.__file__)\n{RUN}"

    shown = _python(installed, tmp_path, script, "check", "prompts/cms/agent.yaml")

    assert str(installed) in shown
    assert "cms: 7 sections, 48 tools: 0 errors" in shown


def test_a_code_is_explained_from_the_wheel(installed: Path, tmp_path: Path) -> None:
    shown = _python(installed, tmp_path, RUN, "explain", "unknown-key")

    assert shown.startswith("unknown-key\n\nError.")


def test_a_scenario_plays_from_the_wheel(installed: Path, tmp_path: Path) -> None:
    arguments = ["run", "examples/cms/assistant.yaml", "--scenario", "slug-taken", "--json"]

    shown = _python(installed, tmp_path, RUN, *arguments)

    assert '"contact-2"' in shown


def _python(site: Path, folder: Path, script: str, *arguments: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(site)}
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    return done.stdout
