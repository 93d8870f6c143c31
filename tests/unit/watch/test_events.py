from __future__ import annotations

import shutil
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import watchfiles

from cuecard.reload.events import Hint, hints
from unit.watch.demo import PATIENCE, Folder, Reports

Start = Callable[..., Reports]
NEVER = 60.0


@pytest.fixture
def stop() -> Iterator[threading.Event]:
    wish = threading.Event()
    yield wish
    wish.set()


def test_a_save_is_an_event_and_silence_a_sweep(tmp_path: Path, stop: threading.Event) -> None:
    heard = hints(lambda: [tmp_path], stop, 0.1)
    seen: list[Hint] = [next(heard), next(heard)]
    (tmp_path / "file").write_text("text", encoding="utf-8")
    seen.append(next(heard))

    assert seen == ["listening", "sweep", "event"]


def test_a_folder_rebuilt_is_listened_to_again(tmp_path: Path, stop: threading.Event) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    heard = hints(lambda: [folder], stop, NEVER)

    assert next(heard) == "listening"

    shutil.rmtree(folder)
    folder.mkdir()

    assert "listening" in (next(heard) for _ in range(2))

    (folder / "file").write_text("text", encoding="utf-8")

    assert next(heard) == "event"


def test_a_folder_that_joins_is_listened_to(tmp_path: Path, stop: threading.Event) -> None:
    folders = [tmp_path / "one", tmp_path / "two"]
    for folder in folders:
        folder.mkdir()
    known = folders[:1]
    heard = hints(lambda: known, stop, 0.1)

    assert next(heard) == "listening"

    known = folders

    assert "listening" in (next(heard) for _ in range(2))

    (folders[1] / "file").write_text("text", encoding="utf-8")

    assert next(heard) == "event"


def test_without_folders_there_is_still_the_sweep(tmp_path: Path, stop: threading.Event) -> None:
    heard = hints(lambda: [tmp_path / "nowhere"], stop, 0.01)

    assert [next(heard), next(heard)] == ["polling", "polling"]


def test_a_request_to_stop_ends_the_wait(tmp_path: Path, stop: threading.Event) -> None:
    heard = hints(lambda: [tmp_path], stop, NEVER)
    next(heard)
    threading.Timer(0.05, stop.set).start()

    assert list(heard) == []


def test_without_reports_the_sweep_finds_changes_and_the_status_says_so(
    folder: Folder, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "watchfiles", None)
    reports = start()
    folder.write("agent.xml", folder.template("second"))

    assert reports.until_prompt("second").watching == "polling"


@pytest.mark.parametrize("failure", [RuntimeError("the system has ended them"), ValueError("nobody expects this")])
def test_reports_that_break_off_are_asked_for_again(
    folder: Folder, start: Start, failure: Exception, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    real, broken = watchfiles.watch, threading.Event()

    def breaking(*places: Path, **options: Any) -> Iterator[Any]:
        yield set()
        if not broken.is_set():
            broken.set()
            raise failure
        yield from real(*places, **options)

    monkeypatch.setattr(watchfiles, "watch", breaking)
    reports = start()

    assert broken.wait(PATIENCE)

    folder.write("agent.xml", folder.template("second"))

    assert reports.until_prompt("second").refused is None
    assert ("the watcher failed and starts again" in caplog.text) == isinstance(failure, ValueError)


def test_with_reports_the_status_says_events(folder: Folder, start: Start) -> None:
    reports = start()
    for turn in ("second", "third"):
        folder.write("agent.xml", folder.template(turn))
        reports.until_prompt(turn)

    assert reports.seen[-1].watching == "events"
