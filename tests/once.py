"""What is built once for all test processes of a run."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from filelock import FileLock

ROOT = Path(__file__).parents[1]


def once(made: pytest.TempPathFactory, name: str, build: Callable[[Path], object]) -> Path:
    """A folder that all processes of the run share: the first that asks for it fills it, and the others wait."""
    own = made.getbasetemp()
    folder = (own.parent if own.name.startswith("popen-") else own) / name
    built = folder / ".built"
    with FileLock(f"{folder}.lock"):
        if not built.exists():
            folder.mkdir(exist_ok=True)
            build(folder)
            built.touch()
    return folder


def unpacked_wheel(made: pytest.TempPathFactory) -> Path:
    """A folder with what the wheel holds; in `PYTHONPATH`, it comes before the checkout."""
    return once(made, "wheel", _unpack_wheel) / "site"


def _unpack_wheel(folder: Path) -> None:
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "site")
