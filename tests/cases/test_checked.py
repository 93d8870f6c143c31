"""Agents with many mistakes that do not keep them from opening, and everything that `cuecard check` says of each.

`told.txt` is golden: `make golden` writes it anew, and the difference is for people to read.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from command_line import problems
from unit.agent.checks.agents import place

FOLDER = Path(__file__).parent / "checked"


def test_every_mistake_is_told_at_its_place_with_its_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    told = {}
    for case in sorted(FOLDER.iterdir()):
        monkeypatch.chdir(case)
        told[case / "told.txt"] = "".join(
            f"{place(each)}\n  {each.severity}[{each.code}]: {each.message}\n  = {each.hint}\n"
            for each in problems(".")
        )
    for path, text in told.items() if os.environ.get("CUECARD_GOLDEN") else ():
        path.write_text(text, encoding="utf-8")

    assert told == {path: path.read_text(encoding="utf-8") for path in told}
