"""Command lines and what they print: `commands/*.txt` hold the command, its exit code, and its output.

`make golden` writes the output anew, and the difference is for people to read.
"""

from __future__ import annotations

import os
import shlex
from pathlib import Path

import pytest

from command_line import main

FOLDER = Path(__file__).parent / "commands"
ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("case", sorted(path.stem for path in FOLDER.glob("*.txt")))
def test_command(case: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    path = FOLDER / f"{case}.txt"
    text = path.read_text(encoding="utf-8")
    command = text.partition("\n")[0]
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr("sys.argv", shlex.split(command.removeprefix("$ ")))
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("NO_COLOR", "1")
    with pytest.raises(SystemExit) as ended:
        main()
    shown = capsys.readouterr()
    outcome = f"{command}\nexit {ended.value.code or 0}\n--- stdout\n{shown.out}--- stderr\n{shown.err}"
    if os.environ.get("CUECARD_GOLDEN"):
        path.write_text(outcome, encoding="utf-8")

    assert outcome == text
