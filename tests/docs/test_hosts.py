"""The programs in examples/hosts: each is run as people run it, with no arguments."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROGRAMS = sorted((ROOT / "examples" / "hosts").glob("*.py"))


@pytest.mark.parametrize("program", PROGRAMS, ids=[program.stem for program in PROGRAMS])
def test_a_program_ends_by_itself_and_says_something(program: Path) -> None:
    ran = subprocess.run(
        [sys.executable, str(program)], capture_output=True, text=True, timeout=120, check=False, cwd=ROOT
    )

    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.strip()


def test_each_program_has_a_page() -> None:
    pages = {page.stem.replace("-", "_") for page in (ROOT / "docs" / "hosts").glob("*.md")}

    assert [program.name for program in PROGRAMS if not program.stem.startswith(tuple(pages))] == []
