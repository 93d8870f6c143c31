"""Runs a program for another process, and ends it with everything it has started when that process lets go or is gone.

A script of its own, which imports nothing of cuecard: `python -I -S guard.py LIFE TOLD`. LIFE is the end of a pipe to
read from, whose other end only the process has that wants the program. It brings one line of JSON, and ends in whatever
way that process ends, kill -9 included. Into TOLD goes why the program cannot be started.
"""

from __future__ import annotations

import json
import os
import select
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

_DEATH_SIGNAL, _SUBREAPER = 1, 36
"""What `prctl` is asked for on Linux: a signal when the parent dies; to be the parent of orphans among descendants."""

_PAUSE = 0.01
_LAST = 2.0
"""Seconds in which what is killed must be gone: only a process that the kernel holds, or that forks faster, is not."""


def main(life: int, told: int) -> None:
    """Start the program, and end it when the pipe ends; exits as it does."""
    for descriptor in (life, told):
        os.set_inheritable(descriptor, False)  # noqa: FBT003 - its only option
    wanted = _wish(life)
    _prctl(_SUBREAPER, 1)
    leader = os.fork()
    if leader == 0:
        os._exit(_become(wanted, told))
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)  # only the pipe decides
    os.close(told)
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nothing, number)  # the pipes of the program are its own: they end with it
    _outlast(life, leader)
    _end(leader, wanted["grace"])
    _, status = os.waitpid(leader, os.WNOHANG)
    code = os.waitstatus_to_exitcode(status)
    sys.exit(code if code >= 0 else 128 - code)


def _wish(life: int) -> Mapping[str, Any]:
    """The line that comes first: `command`, `env` and `grace`, the seconds that it has to end by itself."""
    read = b""
    while not read.endswith(b"\n"):
        piece = os.read(life, 65536)
        if not piece:
            sys.exit(0)
        read += piece
    wish: dict[str, Any] = json.loads(read)
    return wish


def _become(wanted: Mapping[str, Any], told: int) -> int:
    """In the child: the program, in a session of its own; only returns where that is not possible."""
    guard = os.getppid()
    _prctl(_DEATH_SIGNAL, signal.SIGKILL)
    if os.getppid() != guard:
        return 1
    os.setsid()
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)  # Python ignores them, and what it starts would as well
    try:
        os.execvpe(wanted["command"][0], wanted["command"], wanted["env"])  # noqa: S606 - what this program is for
    except OSError as error:
        os.write(told, str(error.errno).encode())
    except ValueError:
        os.write(told, b"0")
    return 127


def _outlast(life: int, leader: int) -> None:
    """Wait until the pipe ends, or nothing is left to end. Orphans are reaped meanwhile, but not the program itself: so
    nobody else gets its number.
    """
    ringing, bell = os.pipe()
    os.set_blocking(bell, False)
    signal.set_wakeup_fd(bell, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    while True:
        ready, _, _ = select.select([life, ringing], [], [])
        if life in ready and not os.read(life, 65536):
            return
        if ringing in ready:
            os.read(ringing, 4096)
            _reap(leader)
            if not _runs(leader) and not _left(leader):
                return


def _reap(leader: int) -> None:
    with suppress(ChildProcessError):
        while ended := os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT):
            if ended.si_pid == leader:
                return
            os.waitpid(ended.si_pid, os.WNOHANG)


def _end(leader: int, grace: float) -> None:
    """Wait for the program, whose input has ended; then tell everything that is left to terminate; then kill it."""
    _within(grace, lambda: not _runs(leader))
    _tell(leader, signal.SIGTERM)
    if not _within(grace, lambda: not _left(leader)):
        _within(_LAST, lambda: _tell(leader, signal.SIGKILL) or not _left(leader))


def _within(seconds: float, done: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + seconds
    while not (ended := done()) and time.monotonic() < deadline:
        time.sleep(_PAUSE)
    return ended


def _runs(leader: int) -> bool:
    with suppress(ChildProcessError):
        return os.waitid(os.P_PID, leader, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None
    return False


def _left(leader: int) -> bool:
    """Whether anything still runs. Without /proc, only the program's own group can be asked."""
    if sys.platform == "linux":
        return any(_descendants())
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, 0)
        return _runs(leader)
    return False


def _tell(leader: int, number: int) -> bool:
    """Send a signal to the program's group, and on Linux to every descendant that has left it; always False."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, number)
    if sys.platform == "linux":
        for pid in _descendants():
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, number)
    return False


def _descendants() -> Iterator[int]:
    """The processes below this one that still run, found by their parents."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        with suppress(OSError, ValueError):
            pid = int(entry.name)
            # The name in parentheses may contain anything, so what follows it counts.
            state, parent = (entry / "stat").read_bytes().rpartition(b")")[2].split()[:2]
            if state != b"Z":
                children.setdefault(int(parent), []).append(pid)
    below = children.get(os.getpid(), [])
    while below:
        pid = below.pop()
        yield pid
        below += children.get(pid, [])


def _prctl(option: int, value: int) -> None:
    """Linux alone has this; elsewhere, and where it is not allowed, the pipe has to do."""
    if sys.platform != "linux":
        return
    with suppress(ImportError, AttributeError, OSError):
        import ctypes  # noqa: PLC0415 - not there in every build

        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
