"""What only a process of its own can show: forks, and ends without goodbye."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from forked import ended, start
from unit.reload.demo import PATIENCE, Folder

ENGINE = str(Path(__file__).parents[3] / "engine")


def run(code: str, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": ENGINE}
    command = [sys.executable, "-c", code, *words]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=PATIENCE * 3, check=False)


FORK = """
import os, sys, time, warnings
from dataclasses import replace
from pathlib import Path
from cuecard.files.tokens import TokenCounter
from cuecard.reload.engines import watch
from cuecard.reload.settle import Pace

def by_length(engine):  # both sides would unpack the table of tokens
    return replace(engine, count=TokenCounter(engine.count.source, len))

warnings.simplefilter("ignore", DeprecationWarning)  # newer versions tell that a process with threads is forked
template, state = Path(sys.argv[1]) / "agent.xml", sys.argv[2]
watcher = watch(template.parent, states=state, pace=Pace(quiet=0.05, sweep=0.3), ready=by_length)
watcher.current.prepare_call()
child = os.fork()
before = watcher.current.agent.sha256
if child == 0:
    template.write_text(template.read_text().replace("first", "after the fork"))
deadline = time.monotonic() + 15
while watcher.current.agent.sha256 == before and time.monotonic() < deadline:
    time.sleep(0.02)
text = watcher.current.prepare_step(watcher.current.prepare_call()).system
if child == 0:
    watcher.stop()
    os._exit(0 if "after the fork" in text else 3)
print("after the fork" in text, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_both_sides_of_a_fork_follow_the_files(folder: Folder, state: Path) -> None:
    done = ended(folder.root, state, program=FORK)

    assert (done.stdout, done.stderr, done.returncode) == ("True 0\n", "", 0)


FORK_AMID = """
import os, sys, threading, time, warnings
from dataclasses import replace
from pathlib import Path
from cuecard.files.tokens import TokenCounter
from cuecard.reload.engines import watch
from cuecard.reload.settle import Pace

begun, go_on, made = threading.Event(), threading.Event(), []

def slowly(engine):
    made.append(engine)
    if len(made) == 2:
        begun.set()
        go_on.wait(15)
    return replace(engine, count=TokenCounter(engine.count.source, len))

warnings.simplefilter("ignore", DeprecationWarning)
template, state = Path(sys.argv[1]) / "agent.xml", sys.argv[2]
watcher = watch(template.parent, states=state, pace=Pace(quiet=0.05, sweep=0.3), ready=slowly)
before = watcher.current.agent.sha256
template.write_text(template.read_text().replace("first", "second"))
begun.wait(15)
child = os.fork()
if child == 0:
    deadline = time.monotonic() + 15
    while watcher.current.agent.sha256 == before and time.monotonic() < deadline:
        time.sleep(0.02)
    os._exit(0 if watcher.current.agent.sha256 != before else 3)
code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
go_on.set()
print(code)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_the_child_of_a_fork_amid_a_reload_takes_the_edit_too(folder: Folder, state: Path) -> None:
    done = ended(folder.root, state, program=FORK_AMID)

    assert (done.stdout, done.stderr, done.returncode) == ("0\n", "", 0)


LEAVE = """
import sys, time
from cuecard.reload.engines import watch
watcher = watch(sys.argv[1], states=sys.argv[2])
deadline = time.monotonic() + 15
while watcher.status.watching != "events" and time.monotonic() < deadline:
    time.sleep(0.02)
print(watcher.status.watching)
"""


def test_a_process_may_end_without_stopping_its_watcher(folder: Folder, state: Path) -> None:
    done = run(LEAVE, str(folder.root), str(state))

    assert (done.stdout, done.stderr, done.returncode) == ("events\n", "", 0)


COMMAND = """
import signal, sys
from pathlib import Path
signal.signal(signal.SIGINT, signal.default_int_handler)
from cuecard.workbench.watch import watch
from cuecard.workbench.watch import Example
sys.exit(watch(Path(sys.argv[1]), example=Example(), delivery=None, as_json=False, states=Path(sys.argv[2])))
"""
"""A shell that starts the tests in the background lets them ignore Ctrl+C, and they hand that on."""


def test_ctrl_c_ends_the_command_with_success(folder: Folder, state: Path) -> None:
    running = start(folder.root, state, program=COMMAND, pipes="stdout stderr", text=True)
    assert running.stdout
    first = running.stdout.readline()
    running.send_signal(2)
    rest, errors = running.communicate(timeout=PATIENCE)

    assert "serving demo: " in first
    assert (rest, errors, running.returncode) == ("", "", 0)
