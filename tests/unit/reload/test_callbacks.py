from __future__ import annotations

import asyncio
import gc
import importlib
import json
import sys
import threading
import weakref
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import pytest

from cuecard import Engine, Problem, ToolCard, watch
from unit.reload.demo import AGENT, PATIENCE, QUICK, Folder, Reports, instructions, prompt

Start = Callable[..., Reports]


@pytest.mark.parametrize("kind", [LookupError, SystemExit])
def test_a_callback_that_fails_ends_nothing(
    kind: type[BaseException], folder: Folder, start: Start, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: object) -> None:
        raise kind("not the watcher's fault")

    reports = start()
    reports.watcher.on_change(fail)
    for turn in ("second", "third"):
        folder.write("agent.xml", folder.template(turn))
        reports.until_prompt(turn)
    reports.watcher.stop()

    assert caplog.text.count(f"{kind.__name__}: not the watcher's fault") == 2


def test_a_callback_is_called_with_what_is_served_now(folder: Folder, start: Start) -> None:
    reports = start()
    told: list[tuple[str, str, str]] = []
    reports.watcher.on_change(lambda e, s: told.append((e.agent.sha256, s.serving, threading.current_thread().name)))
    folder.write("agent.xml", folder.template("second"))
    reports.until_prompt("second")
    reports.watcher.stop()
    sha256 = reports.watcher.current.agent.sha256

    assert told == [(sha256, sha256, "cuecard-watch")]


def test_a_callback_can_be_taken_back(folder: Folder, start: Start) -> None:
    reports = start()
    told: list[Engine] = []
    forget = reports.watcher.on_change(lambda engine, _: told.append(engine))
    forget()
    forget()
    folder.write("agent.xml", folder.template("second"))
    reports.until_prompt("second")
    reports.watcher.stop()

    assert told == []


def test_a_callback_may_stop_the_watcher(folder: Folder, start: Start) -> None:
    reports = start()
    stopped = threading.Event()

    def stop(*_: object) -> None:
        reports.watcher.stop()
        stopped.set()

    reports.watcher.on_change(stop)
    folder.write("agent.xml", folder.template("second"))

    assert stopped.wait(PATIENCE)
    assert reports.watcher.status.watching == "stopped"


@pytest.mark.parametrize("kind", [ZeroDivisionError, SystemExit])
def test_a_build_that_fails_unexpectedly_is_a_refusal(
    kind: type[BaseException], folder: Folder, start: Start, caplog: pytest.LogCaptureFixture
) -> None:
    def ready(engine: Engine) -> Engine:
        if "second" in prompt(engine):
            raise kind("in the host's code")
        return engine

    reports = start(ready=ready)
    folder.write("agent.xml", folder.template("second"))
    status = reports.until(lambda s: s.refused)
    folder.write("agent.xml", folder.template("third"))

    assert status.refused
    failed = Problem("reload-failed", f"{kind.__name__}: in the host's code", "see the log of this process")
    assert status.refused.problems == (failed,)
    assert [each.getMessage() for each in caplog.records] == ["a reload failed"]
    assert reports.until_prompt("third").refused is None


def test_what_the_hosts_own_code_refused_is_tried_again_with_the_same_texts(
    folder: Folder, start: Start, caplog: pytest.LogCaptureFixture
) -> None:
    tried: list[Engine] = []

    def ready(engine: Engine) -> Engine:
        tried.append(engine)
        if len(tried) in {2, 3}:
            raise ConnectionError("the server of tools does not answer")
        return engine

    reports = start(ready=ready)
    folder.write("agent.xml", folder.template("second"))
    reports.until_prompt("second")

    assert [bool(status.refused) for status in reports.seen] == [True, False]
    assert [each.getMessage() for each in caplog.records] == ["a reload failed"]


def test_code_that_comes_later_than_the_file_that_names_it_is_found(
    folder: Folder, start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    reports = start(allow_code=True)
    folder.write("agent.yaml", AGENT + "helpers: comes_later:HELPERS\n")
    folder.write("agent.xml", folder.template("{{shout 'second'}}"))
    refused = reports.until(lambda status: status.refused).refused
    (tmp_path / "comes_later.py").write_text("HELPERS = {'shout': str.upper}\n")
    importlib.invalidate_caches()  # a file system may tell times of folders in whole seconds
    reports.until_prompt("SECOND")

    assert refused
    assert [problem.code for problem in refused.problems] == ["missing-helpers"]


def test_every_new_engine_is_made_ready_before_it_serves(folder: Folder, start: Start) -> None:
    reports = start(ready=lambda engine: engine.with_tools([ToolCard("get_page", "Reads a page.")]))
    folder.write("agent.xml", folder.template("second"))
    reports.until_prompt("second")

    assert reports.watcher.current.tools["get_page"].description == "Reads a page."


def test_an_async_loop_gets_each_new_state_until_the_watcher_stops(folder: Folder, start: Start) -> None:
    watcher = start().watcher

    async def follow() -> list[str]:
        seen = []
        states = aiter(watcher)
        for turn in ("second", "third"):
            folder.write("agent.xml", folder.template(turn))
            async with asyncio.timeout(PATIENCE):
                engine, status = await anext(states)
            seen.append(f"{turn in prompt(engine)} {status.number}")
        asyncio.get_running_loop().call_later(0.05, threading.Thread(target=watcher.stop).start)
        async with asyncio.timeout(PATIENCE):
            seen += [str(status) async for _, status in states]
        return seen

    assert asyncio.run(follow()) == ["True 1", "True 2"]


def test_a_slow_async_loop_sees_only_the_newest_state(folder: Folder, start: Start) -> None:
    reports = start()

    async def follow() -> str:
        states = aiter(reports.watcher)
        for turn in ("second", "third", "fourth"):
            folder.write("agent.xml", folder.template(turn))
            await asyncio.to_thread(reports.until_prompt, turn)
        engine, status = await anext(states)
        return f"{'fourth' in prompt(engine)} {status.number}"

    assert asyncio.run(follow()) == "True 3"


def test_after_the_end_nothing_changes_any_more(folder: Folder, start: Start) -> None:
    reports = start()
    with reports.watcher as watcher:
        engine = watcher.current
    folder.write("agent.xml", folder.template("second"))

    assert watcher.current is engine
    assert watcher.status.watching == "stopped"
    assert [thread for thread in threading.enumerate() if thread.name == "cuecard-watch"] == []


def test_a_watcher_that_was_stopped_can_be_freed(folder: Folder, state: Path) -> None:
    gc.disable()  # so that what is made stays among the youngest, and only they need a visit
    try:
        watcher = watch(folder.root, states=state, pace=QUICK)
        watcher.stop()
        freed = weakref.ref(watcher)
        del watcher
        gc.collect(0)
    finally:
        gc.enable()

    assert freed() is None


def test_a_status_is_plain_json(folder: Folder, start: Start, tmp_path: Path) -> None:
    reports = start()
    folder.write("tools/search.yaml", instructions("tool_search", "{{{"))
    folder.write("agent.xml", "<demo>")
    status = reports.until(lambda s: s.refused)
    told = json.loads(json.dumps(status.to_json()))

    assert status.refused
    assert told.pop("refused") == {
        "sha256": status.refused.sha256,
        "since": status.refused.since.isoformat(),
        "problems": [json.loads(json.dumps(asdict(each))) for each in status.refused.problems],
    }
    assert told == {
        "number": 1,
        "serving": reports.watcher.current.agent.sha256,
        "since": status.since.isoformat(),
        "changed": [],
        "restored": False,
        "watching": "events",
        "unsaved": "",
        "stale_since": "",
        "library": None,
    }
