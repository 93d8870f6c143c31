"""The wheel works where no checkout is: prompts, schemas and examples travel in it."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the unpacked wheel."""
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "site")
    return folder / "site"


def test_the_shipped_agent_checks_from_the_wheel(installed: Path, tmp_path: Path) -> None:
    script = "import cuecard; print(cuecard.__file__); from cuecard.cli.main import main; main()"

    shown = _python(installed, tmp_path, script, "check", "prompts/cms/agent.yaml")

    assert str(installed) in shown
    assert "cms: 7 sections, 48 tools: 0 errors" in shown


def test_a_code_is_explained_from_the_wheel(installed: Path, tmp_path: Path) -> None:
    shown = _python(installed, tmp_path, "from cuecard.cli.main import main; main()", "explain", "unknown-key")

    assert shown.startswith("unknown-key (docs/checks.md#unknown-key)\n\nError.")


def test_a_scenario_plays_from_the_wheel(installed: Path, tmp_path: Path) -> None:
    script = "from cuecard.cli.main import main; main()"
    arguments = ["run", "examples/cms/assistant.yaml", "--scenario", "slug-taken", "--json"]

    shown = _python(installed, tmp_path, script, *arguments)

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
