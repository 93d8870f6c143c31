"""Where a command shall write and cannot: one error that names the option, and nothing is lost."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from unit.robustness.agents import write_agent
from unit.workbench.run.talking import cuecard

TURN = "message: hi\nexpect: {snapshot: true}\n"
LOG = '{"turns": [{"user": "hi", "requests": [{"calls": []}]}]}'
OUTPUTS: dict[str, tuple[str, ...]] = {
    "--junit": ("test", ".", "--junit", "there"),
    "--html": ("replay", ".", "log.json", "--html", "there"),
    "--svg": ("run", ".", "--model", "test", "--message", "hi", "--svg", "there"),
}
FOLDERS: dict[str, tuple[str, ...]] = {
    "--write": ("schema", "--write", "there"),
    "--manifests": ("run", ".", "--model", "test", "--message", "hi", "--manifests", "there"),
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    made = write_agent(tmp_path / "agent", {"turns/a.yaml": TURN, "log.json": LOG})
    monkeypatch.chdir(made)
    return made


@pytest.mark.parametrize("option", OUTPUTS)
def test_a_file_that_is_a_folder_is_an_error_of_the_option(
    option: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "there").mkdir()
    ran = cuecard(monkeypatch, *OUTPUTS[option])

    assert f"{option}: error[wrong-option]: `there`: Is a directory" in ran.err


@pytest.mark.parametrize("option", FOLDERS)
def test_a_folder_that_is_a_file_is_an_error_of_the_option(
    option: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "there").write_text("kept", encoding="utf-8")
    ran = cuecard(monkeypatch, *FOLDERS[option])

    assert f"{option}: error[wrong-option]: `there`: File exists" in ran.err
    assert (folder / "there").read_text(encoding="utf-8") == "kept"


@pytest.mark.skipif(sys.platform == "win32", reason="links and pipes of POSIX")
@pytest.mark.parametrize("kind", ["pipe", "large", "folder", "link out", "link to nothing"])
@pytest.mark.parametrize("update", [(), ("--update",)])
def test_a_snapshot_is_read_and_written_as_every_other_file(
    kind: str, update: tuple[str, ...], folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "turns/snapshots").mkdir()
    snapshot, outside = folder / "turns/snapshots/a.txt", tmp_path / "outside.txt"
    if kind == "pipe":
        os.mkfifo(snapshot)
    elif kind == "large":
        with snapshot.open("wb") as file:
            file.truncate(20 * 2**30)
    elif kind == "folder":
        snapshot.mkdir()
    else:
        snapshot.symlink_to(outside)
        if kind == "link out":
            outside.write_text("mine", encoding="utf-8")
    ran = cuecard(monkeypatch, "test", ".", *update)

    assert ran.code == 1
    assert "1 failed" in ran.out
    assert not outside.exists() or outside.read_text(encoding="utf-8") == "mine"


@pytest.mark.skipif(sys.platform == "win32", reason="pipes of POSIX")
def test_other_files_among_the_snapshots_stay_and_stop_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "turns/snapshots").mkdir()
    os.mkfifo(folder / "turns/snapshots/pipe.txt")
    ran = cuecard(monkeypatch, "test", ".", "--update", "--prune")

    assert ran.code == 0
    assert (folder / "turns/snapshots/pipe.txt").exists()


def test_a_name_that_is_too_long_is_reported_as_such(monkeypatch: pytest.MonkeyPatch) -> None:
    ran = cuecard(monkeypatch, "init", "a" * 60 + "/" + "b" * 300, "--name", "x", "--yes")

    assert "error[wrong-option]: cannot be written to: File name too long" in ran.err


@pytest.mark.parametrize("name", ["\x1b]0;pwn\x07", "a\n## b\u202e", os.fsdecode(b"\xff\xfe")])
def test_a_name_of_a_model_writes_nothing_to_the_terminal_but_itself(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = cuecard(monkeypatch, "replay", ".", "log.json", "--model", name)

    assert ran.code == 0
    assert not {*ran.out} & {"\x1b", "\x07", "\u202e", "\udcff"}
    assert "\n## b" not in ran.out
