"""L8 to L11: clocks that jump, processes that fork, folders that go and come back, starts on broken files."""

from __future__ import annotations

import shutil
import time
from pathlib import Path

import pytest

from cuecard import watch
from cuecard.types import Pace
from unit.reload.demo import Folder, Reports, prompt
from unit.reload.test_processes import FORK, run

PACE = Pace(quiet=0.05, max_wait=0.6, hold=0.25, sweep=0.3)


def jump(root: Path) -> float:
    """Seconds until a save is served while the clock stands six hours back, then six hours ahead; the longer one."""
    folder, took, real = Folder(root / "agent"), [0.0], time.time
    folder.write_all()
    with watch(folder.root, states=root / "state", pace=PACE) as watcher, pytest.MonkeyPatch.context() as patch:
        reports = Reports(watcher)
        for hours in (-6, 6):
            patch.setattr(time, "time", lambda hours=hours: real() + hours * 3600)
            folder.write("agent.xml", folder.template(f"at {hours} hours"))
            begun = time.monotonic()
            reports.until_prompt(f"at {hours} hours")
            took.append(time.monotonic() - begun)
    return max(took)


def fork(root: Path) -> bool:
    """Whether both sides of a fork follow the files."""
    folder = Folder(root / "agent")
    folder.write_all()
    return run(FORK, str(folder.root), str(root / "state")).stdout == "True 0\n"


def vanish(root: Path, times: int) -> float:
    """Seconds until a change is seen in a folder that was removed and made anew; the longest of some."""
    folder, took = Folder(root / "agent"), 0.0
    folder.write_all()
    with watch(folder.root, states=root / "state", pace=PACE) as watcher:
        reports = Reports(watcher)
        for number in range(times):
            shutil.rmtree(folder.root)
            folder.write_all()
            folder.write("agent.xml", folder.template(f"made anew {number}"))
            begun = time.monotonic()
            reports.until_prompt(f"made anew {number}")
            took = max(took, time.monotonic() - begun)
    return took


def restart(root: Path) -> bool:
    """Whether a start on broken files serves the last good state, and says what was refused."""
    folder = Folder(root / "agent")
    folder.write_all()
    with watch(folder.root, states=root / "state", pace=PACE) as watcher:
        good = prompt(watcher.current)
    folder.write("agent.xml", "<demo>")
    with watch(folder.root, states=root / "state", pace=PACE) as watcher:
        return prompt(watcher.current) == good and bool(watcher.status.refused)
