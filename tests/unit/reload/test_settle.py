"""The rules of patience, with real files and a clock that only pauses move."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import partial
from itertools import count
from pathlib import Path

import pytest

from cuecard.reload.files import AgentFiles, Look
from cuecard.reload.settle import changed, settle, shrunk
from cuecard.types import Pace
from unit.reload.demo import Folder

PACE = Pace(quiet=0.1, max_wait=2.0, hold=1.0)


class Script:
    """What somebody does to the files while the watcher waits, by the time at which it is done."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 0.0
        self.todo: list[tuple[float, Callable[[], object]]] = []
        monkeypatch.setattr(time, "monotonic", lambda: self.now)

    def at(self, when: float, do: Callable[[], object]) -> None:
        self.todo.append((when, do))

    def every(self, step: float, until: float, do: Callable[[float], object]) -> None:
        for number in range(int(until / step)):
            self.at(number * step, partial(do, number * step))

    def pause(self, seconds: float) -> bool:
        self.now += seconds
        due = [do for when, do in self.todo if when <= self.now]
        self.todo = [(when, do) for when, do in self.todo if when > self.now]
        for do in due:
            do()
        return False


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Script:
    return Script(monkeypatch)


@pytest.fixture
def files(folder: Folder) -> AgentFiles:
    return AgentFiles(folder.root)


def look_after(files: AgentFiles, served: Look, script: Script) -> tuple[Look, float]:
    look = settle(files, served, PACE, script.pause)

    assert look

    return look, script.now


def test_quiet_files_are_read_after_the_quiet_period(files: AgentFiles, script: Script) -> None:
    served = files.read()

    assert look_after(files, served, script)[1] == pytest.approx(0.1)


def test_the_quiet_period_starts_over_with_every_save(folder: Folder, files: AgentFiles, script: Script) -> None:
    served = files.read()
    for moment in (0.05, 0.10, 0.15, 0.20):
        script.at(moment, partial(folder.write, "agent.xml", folder.template(f"{moment}" * 9)))
    look, when = look_after(files, served, script)

    assert "0.2" * 9 in look.texts["agent.xml"]
    assert when == pytest.approx(0.35)


def test_endless_saves_are_interrupted_between_two_of_them(folder: Folder, files: AgentFiles, script: Script) -> None:
    served = files.read()
    script.every(0.05, 9, lambda moment: folder.write("agent.xml", folder.template(f"at {moment:.2f} " * 9)))
    look, when = look_after(files, served, script)
    text = look.texts["agent.xml"]

    assert when == pytest.approx(2.0)
    assert text in {folder.template(f"at {moment / 100:.2f} " * 9) for moment in range(0, 300, 5)}


def test_a_folder_that_is_never_quiet_is_taken_when_its_texts_hold_still(
    folder: Folder, files: AgentFiles, script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Something else comes into the folder whenever it is read, and a text is saved all the time."""
    served, read, logs = files.read(), files.read, count()

    def read_slowly() -> Look:
        look = read()
        folder.write(f"{next(logs)}.log", "")
        return look

    monkeypatch.setattr(files, "read", read_slowly)
    script.every(0.03, 9, lambda moment: folder.write("agent.xml", folder.template(f"at {moment:.2f} " * 9)))
    look, when = look_after(files, served, script)

    assert files.holds("agent.xml", look.texts["agent.xml"])
    assert when == pytest.approx(2.09)


@pytest.mark.parametrize("short", ["", "Be"])
def test_a_text_that_shrinks_must_stay_so_for_longer(
    folder: Folder, files: AgentFiles, script: Script, short: str
) -> None:
    served = files.read()
    folder.write("partials/tone.hbs", short)
    look, when = look_after(files, served, script)

    assert look.texts["partials/tone.hbs"] == short
    assert when == pytest.approx(1.2)


def test_a_file_that_is_gone_must_stay_so_for_longer(folder: Folder, files: AgentFiles, script: Script) -> None:
    served = files.read()
    (folder.root / "agent.xml").unlink()
    look, when = look_after(files, served, script)

    assert [problem.code for problem in look.problems] == ["missing-file"]
    assert when == pytest.approx(1.3)


def test_a_text_that_grows_back_is_not_held(folder: Folder, files: AgentFiles, script: Script) -> None:
    served = files.read()
    folder.write("partials/tone.hbs", "")
    script.at(0.4, lambda: folder.write("partials/tone.hbs", "Be kind, and brief."))
    look, when = look_after(files, served, script)

    assert look.texts["partials/tone.hbs"] == "Be kind, and brief."
    assert when == pytest.approx(0.6)


def test_an_unreadable_agent_file_is_reported_at_once(folder: Folder, files: AgentFiles, script: Script) -> None:
    served = files.read()
    folder.write("agent.yaml", "agent: demo\ntemplate: [" + " " * 80)
    look, when = look_after(files, served, script)

    assert look.unreadable[0].code == "yaml-syntax"
    assert when == pytest.approx(0.1)


@pytest.mark.parametrize("last", [1, 2, 3, 40, 41])
def test_a_request_to_stop_ends_the_retries(
    folder: Folder, files: AgentFiles, script: Script, last: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At whatever pause it comes, while something happens in the folder whenever it is read."""
    served, read, pauses, logs = files.read(), files.read, count(1), count()

    def read_slowly() -> Look:
        look = read()
        folder.write(f"{next(logs)}.log", "")
        return look

    monkeypatch.setattr(files, "read", read_slowly)

    assert settle(files, served, PACE, lambda seconds: script.pause(seconds) or next(pauses) >= last) is None


@pytest.mark.parametrize(
    ("before", "now", "different"),
    [
        ({"a": "1", "b": "1"}, {"a": "1", "b": "1"}, ()),
        ({"a": "1", "b": "1", "c": "1"}, {"d": "1", "b": "2", "c": "1"}, ("a", "b", "d")),
    ],
)
def test_what_changed_is_what_differs_came_or_went(
    before: Mapping[str, str], now: Mapping[str, str], different: tuple[str, ...]
) -> None:
    assert changed(before, now) == different


def test_half_the_length_is_the_limit_of_shrinking(folder: Folder, files: AgentFiles) -> None:
    folder.write("partials/tone.hbs", "x" * 100)
    served = files.read()
    folder.write("partials/tone.hbs", "x" * 50)

    assert not shrunk(served, files.read())

    folder.write("partials/tone.hbs", "x" * 49)

    assert shrunk(served, files.read())


def test_a_look_names_paths_that_are_equal_on_every_machine(tmp_path: Path, files: AgentFiles, folder: Folder) -> None:
    elsewhere = Folder(tmp_path / "else" / "where")
    elsewhere.write_all()

    assert files.read().sha256 == AgentFiles(elsewhere.root / "agent.yaml").read().sha256
