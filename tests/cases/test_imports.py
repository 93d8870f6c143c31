"""Prompt files of other tools: what they become, what is told of them, and what their agents print.

`expected.txt` is golden: `make golden` writes it anew, and the difference is for people to read.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from cuecard import CuecardError
from cuecard.workbench.imports.command import import_files
from unit.workbench.imports.rendering import messages_of

FOLDER = Path(__file__).parent / "imports"
CASES = sorted(path.name for path in FOLDER.iterdir())


@pytest.mark.parametrize("case", CASES)
def test_case(case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(FOLDER / case)
    expected = Path("expected.txt")
    outcome = _outcome(tmp_path, capsys).replace(str(tmp_path), "DIR")
    if os.environ.get("CUECARD_GOLDEN"):
        expected.write_text(outcome, encoding="utf-8")

    assert outcome == expected.read_text(encoding="utf-8")


def _outcome(folder: Path, capsys: pytest.CaptureFixture[str]) -> str:
    files = sorted(path for path in Path().glob("*.prompt*") if not path.name.startswith("_"))
    try:
        import_files(files, folder, check=False, as_json=False)
    except CuecardError as error:
        return f"{type(error).__name__}\n\n{error}\n"
    shown = [capsys.readouterr().out]
    paths = sorted(each for each in folder.rglob("*") if each.is_file())
    shown += [f"=== {path.relative_to(folder).as_posix()}\n{path.read_text(encoding='utf-8')}" for path in paths]
    for agent in sorted(folder.iterdir()):
        shown += [f"=== {agent.name}: {role}\n{text}" for role, text in messages_of(agent)]
    return "\n".join(shown) + "\n"
