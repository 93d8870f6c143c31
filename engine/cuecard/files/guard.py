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

_LINUX = os.uname().sysname == "Linux" if hasattr(os, "uname") else False
_DEATH_SIGNAL, _SUBREAPER = 1, 36
"""What `prctl` is asked for on Linux: a signal when the parent dies; to be the parent of orphans among descendants."""

_PAUSE = 0.01
_LONG = 60.0
"""Seconds after which it looks whether anything is left, if nothing has told it to."""
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
    for descriptor in (0, 1, 2):
        os.dup2(nothing, descriptor)  # the pipes of the program are its own: they end with it
    program = _Program(leader)
    _outlast(life, program)
    _end(program, wanted["grace"])
    sys.exit(program.code())


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


class _Program:
    """The program, as the child that it is. It is not reaped before the end, so that nobody else gets its number."""

    def __init__(self, leader: int) -> None:
        self.leader = leader
        self._status: int | None = None

    def runs(self) -> bool:
        """Whether it has not exited yet."""
        if self._status is None and hasattr(os, "waitid"):
            return os.waitid(os.P_PID, self.leader, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None
        self._reap()  # macOS cannot look without reaping before Python 3.13
        return self._status is None

    def code(self) -> int:
        """Its exit code, as a shell gives it; 137 for one that nobody could kill."""
        self._reap()
        code = -signal.SIGKILL if self._status is None else os.waitstatus_to_exitcode(self._status)
        return code if code >= 0 else 128 - code

    def left(self) -> bool:
        """Whether anything still runs. Without /proc, only the program's own group can be asked."""
        if _LINUX:
            return any(_descendants())
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.leader, 0)
            return True
        return self.runs()

    def tell(self, number: int) -> None:
        """Send a signal to its group, and on Linux to every descendant that has left that."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.leader, number)
        if _LINUX:
            for pid in _descendants():
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, number)

    def kill(self) -> bool:
        """Kill everything that is left, and tell whether it is gone."""
        self.tell(signal.SIGKILL)
        return not self.left()

    def reap_orphans(self) -> None:
        """Reap those that have ended, as long as the program runs."""
        if _LINUX:
            with suppress(ChildProcessError):
                while ended := os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT):
                    if ended.si_pid == self.leader:
                        return
                    os.waitpid(ended.si_pid, os.WNOHANG)

    def _reap(self) -> None:
        if self._status is None:
            pid, status = os.waitpid(self.leader, os.WNOHANG)
            self._status = status if pid else None


def _outlast(life: int, program: _Program) -> None:
    """Wait until the pipe ends, or nothing is left to end."""
    ringing, bell = os.pipe()
    os.set_blocking(bell, False)
    signal.set_wakeup_fd(bell, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    while program.runs() or program.left():
        ready, _, _ = select.select([life, ringing], [], [], _LONG)
        if life in ready and not os.read(life, 65536):
            return
        if ringing in ready:
            os.read(ringing, 4096)
            program.reap_orphans()


def _end(program: _Program, grace: float) -> None:
    """Wait for the program, whose input has ended; then tell everything that is left to terminate; then kill it."""
    _within(grace, lambda: not program.runs())
    program.tell(signal.SIGTERM)
    if not _within(grace, lambda: not program.left()):
        _within(_LAST, program.kill)


def _within(seconds: float, done: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + seconds
    while not (ended := done()) and time.monotonic() < deadline:
        time.sleep(_PAUSE)
    return ended


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
    if not _LINUX:
        return
    with suppress(ImportError, AttributeError, OSError):
        import ctypes  # noqa: PLC0415 - not there in every build

        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
