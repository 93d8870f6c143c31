from __future__ import annotations

import shutil
import sys
import threading
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest
import watchfiles

from cuecard.reload.events import Hint, hints
from cuecard.types import Pace
from unit.reload.demo import PATIENCE, Folder, Reports

Start = Callable[..., Reports]
NEVER = 60.0


@pytest.fixture
def stop() -> Iterator[threading.Event]:
    wish = threading.Event()
    yield wish
    wish.set()


def heard_by(folders: Callable[[], list[Path]], stop: threading.Event, sweep: float) -> Iterator[Hint]:
    while not stop.is_set():
        yield from hints(folders, stop, sweep)


def test_a_save_is_an_event_and_silence_a_sweep(tmp_path: Path, stop: threading.Event) -> None:
    heard = heard_by(lambda: [tmp_path], stop, 0.1)
    seen: list[Hint] = [next(heard), next(heard)]
    (tmp_path / "file").write_text("text", encoding="utf-8")
    seen.append(next(heard))

    assert seen == ["listening", "sweep", "event"]


def test_a_folder_rebuilt_is_listened_to_again(tmp_path: Path, stop: threading.Event) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    heard = heard_by(lambda: [folder], stop, NEVER)

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
    heard = heard_by(lambda: known, stop, 0.1)

    assert next(heard) == "listening"

    known = folders

    assert "listening" in (next(heard) for _ in range(2))

    (folders[1] / "file").write_text("text", encoding="utf-8")

    assert next(heard) == "event"


def test_without_folders_there_is_still_the_sweep(tmp_path: Path, stop: threading.Event) -> None:
    heard = heard_by(lambda: [tmp_path / "nowhere"], stop, 0.01)

    assert [next(heard), next(heard)] == ["polling", "polling"]


def test_a_request_to_stop_ends_the_wait(tmp_path: Path, stop: threading.Event) -> None:
    heard = heard_by(lambda: [tmp_path], stop, NEVER)
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
    real, broken, asked = watchfiles.watch, threading.Event(), dict[str, Any]()

    def breaking(*places: Path, **options: Any) -> Iterator[Any]:
        asked.update(options)
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
    assert [each.getMessage() for each in caplog.records if each.exc_info] == (
        ["the watcher failed and starts again"] if isinstance(failure, ValueError) else []
    )
    told = {"watch_filter": None, "stop_event": asked["stop_event"], "recursive": False, "yield_on_timeout": True}
    by_environment = {"debug": False, "force_polling": False, "ignore_permission_denied": False}
    assert asked == told | by_environment | {"debounce": 50, "step": 50, "rust_timeout": 50}


def test_a_sweep_that_finds_nothing_leaves_the_status_as_it_is(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    sweeps, passed = count(), threading.Event()

    def silent(*_: Path, stop_event: threading.Event, **_options: Any) -> Iterator[Any]:
        while not stop_event.wait(0.01):
            if next(sweeps) == 20:
                passed.set()
            yield set()

    monkeypatch.setattr(watchfiles, "watch", silent)
    reports = start(pace=Pace(quiet=0.01, sweep=0.01))

    assert passed.wait(PATIENCE)
    assert (reports.watcher.status.watching, reports.watcher.status.number) == ("events", 0)


def test_with_reports_the_status_says_events(folder: Folder, start: Start) -> None:
    reports = start()
    for turn in ("second", "third"):
        folder.write("agent.xml", folder.template(turn))
        reports.until_prompt(turn)

    assert reports.seen[-1].watching == "events"
