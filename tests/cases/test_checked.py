"""Agents with many mistakes that do not keep them from opening, and everything that `cuecard check` says of each.

`told.txt` is golden: `make golden` writes it anew, and the difference is for people to read.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from command_line import problems
from unit.checks.agents import place

FOLDER = Path(__file__).parent / "checked"


@pytest.mark.parametrize("case", sorted(path.name for path in FOLDER.iterdir()))
def test_every_mistake_is_told_at_its_place_with_its_remedy(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(FOLDER / case)
    expected = Path("told.txt")
    told = "".join(
        f"{place(each)}\n  {each.severity}[{each.code}]: {each.message}\n  = {each.hint}\n" for each in problems(".")
    )
    if os.environ.get("CUECARD_GOLDEN"):
        expected.write_text(told, encoding="utf-8")

    assert told == expected.read_text(encoding="utf-8")
