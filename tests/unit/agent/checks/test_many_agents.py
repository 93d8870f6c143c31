"""`cuecard check` with a folder of agents: which are looked for, and what cannot be looked into."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from cuecard.files import tree as walking
from cuecard.workbench.check.command import check
from unit.robustness.agents import write_agent


def agents(capsys: pytest.CaptureFixture[str], folder: Path) -> tuple[int, str]:
    code = check(folder)
    shown = capsys.readouterr()
    return code, shown.out + shown.err


def test_hidden_folders_and_those_of_packages_are_left_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("one", "deep/er/two", "node_modules/three", ".venv/four"):
        write_agent(tmp_path / name, {"agent.yaml": "agent: broken\n"} if name[0] in ".n" else {})
    code, told = agents(capsys, tmp_path)

    assert (code, told.count("0 errors"), "broken" in told) == (0, 2, False)


def test_a_folder_that_is_too_large_is_an_error_and_what_was_found_is_checked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(walking, "MAX_FOLDERS", 4)
    for name in ("a", "b", "c"):
        write_agent(tmp_path / name, {})
    code, told = agents(capsys, tmp_path)

    assert code == 1
    assert "error[large-folder]" in told
    assert told.count("0 errors") == 2


def test_a_link_that_nobody_may_follow_is_passed_over(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such as those of another user's process in `/proc`."""
    write_agent(tmp_path / "a", {})
    (tmp_path / "link").symlink_to(tmp_path / "a")
    real = os.path.realpath

    def refused(path: str | Path) -> str:
        if str(path).endswith("link"):
            raise PermissionError(13, "Permission denied", path)
        return real(path)

    monkeypatch.setattr(os.path, "realpath", refused)
    code, told = agents(capsys, tmp_path)

    assert (code, told.count("0 errors")) == (0, 1)
