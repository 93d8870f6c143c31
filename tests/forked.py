"""`cuecard` as a process, forked from one that has everything imported: it begins in 0.05 s and not in 1.5 s.

What a command imports, and how its process begins, tests ask of the installed script (`command_line.COMMAND`).
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any
from unittest.mock import patch

from command_line import COMMAND, main, run
from measuring import MEASURING

IMPORTED = (
    "cuecard.adapters.mcp_server",
    "cuecard.engine",
    "cuecard.reload.watcher",
    "cuecard.server.app",
    "cuecard.server.serve",
    "cuecard.studio.app",
    "cuecard.studio.serve",
    "cuecard.workbench.run.command",
)
FORKS = hasattr(os, "fork")


class Forked:
    """As much of `subprocess.Popen` as tests use: its streams are pipes or nothing, and errors may go to a file."""

    def __init__(
        self,
        program: str,
        words: list[str],
        environment: Mapping[str, str],
        *,
        pipes: str,
        text: bool,
        errors: IO[Any] | None = None,
        warm: str = "",
    ) -> None:
        ours: list[IO[Any] | None] = [None, None, None]
        theirs = [os.open(os.devnull, os.O_RDWR) for _ in ours]
        if errors:
            os.dup2(errors.fileno(), theirs[2])
        for place, name in enumerate(("stdin", "stdout", "stderr")):
            if name in pipes:
                ends = os.pipe()
                os.dup2(ends[place > 0], theirs[place])
                os.close(ends[place > 0])
                ours[place] = os.fdopen(ends[place == 0], ("w", "r")[place > 0] + "b" * (not text))
        self.args = words
        self.stdin, self.stdout, self.stderr = ours
        self.returncode: int | None = None
        own, report = socket.socketpair()
        self._report = own.makefile("rb")
        own.close()
        asked = json.dumps([program, words, {**environment}, str(Path.cwd())]).encode() + b"\n"
        socket.send_fds(_template(warm), [asked], [*theirs, report.fileno()])
        for each in theirs:
            os.close(each)
        report.close()
        self.pid = int(self._report.readline())
        self._waiting = threading.Thread(target=self._wait, daemon=True)
        self._waiting.start()

    def _wait(self) -> None:
        with self._report:
            self.returncode = int(self._report.readline())

    def poll(self) -> int | None:
        """The exit code, once there is one; negative where a signal ended it."""
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Its exit code, when it has ended."""
        self._waiting.join(timeout)
        if self.returncode is None:
            raise subprocess.TimeoutExpired(self.args, timeout or 0)
        return self.returncode

    def send_signal(self, number: int) -> None:
        """Send it a signal, if it runs."""
        if self.returncode is None:
            with suppress(ProcessLookupError):  # it has ended, and this has not been told yet
                os.kill(self.pid, number)

    def terminate(self) -> None:
        """Tell it to end."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """End it."""
        self.send_signal(signal.SIGKILL)

    def communicate(self, timeout: float | None = None) -> tuple[Any, Any]:
        """What it writes until it ends, without more input."""
        read: list[Any] = [None, None]

        def reads(place: int, stream: IO[Any]) -> None:
            read[place] = stream.read()
            stream.close()

        if self.stdin and not self.stdin.closed:
            self.stdin.close()
        streams = [(place, each) for place, each in enumerate((self.stdout, self.stderr)) if each and not each.closed]
        readers = [threading.Thread(target=reads, args=each, daemon=True) for each in streams]
        for each in readers:
            each.start()
        self.wait(timeout)
        for each in readers:
            each.join(timeout)
        return read[0], read[1]


Process = Forked | subprocess.Popen[Any]


def start(
    *words: object,
    program: str = "",
    pipes: str = "",
    text: bool = False,
    errors: IO[Any] | None = None,
    warm: str = "",
    **environment: str,
) -> Process:
    """`cuecard`, or a program in Python, with these words; which of `stdin`, `stdout` and `stderr` are pipes.

    The process that it is forked from has run `warm`, which imports more than `cuecard` does.
    """
    asked, told = [str(word) for word in words], {**os.environ, **environment}
    measured = not program and any(name in told for name in MEASURING)
    if FORKS and not measured:
        return Forked(program, asked, told, pipes=pipes, text=text, errors=errors, warm=warm)
    streams: Any = {n: subprocess.PIPE if n in pipes else subprocess.DEVNULL for n in ("stdin", "stdout", "stderr")}
    streams |= {"stderr": errors} if errors else {}
    command = [sys.executable, "-c", program] if program else [COMMAND]
    return subprocess.Popen([*command, *asked], env=told, text=text, **streams)


def ended(*words: object, program: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
    """What `cuecard`, or a program in Python, said with these words, and no input."""
    process = start(*words, program=program, pipes="stdout stderr", text=True, errors=None, **environment)
    try:
        out, err = process.communicate(timeout=120)
    except subprocess.TimeoutExpired:
        process.kill()
        raise
    return subprocess.CompletedProcess([COMMAND, *map(str, words)], process.wait(), out, err)


@cache
def _template(warm: str) -> socket.socket:
    ours, theirs = socket.socketpair()
    folder = str(Path(__file__).parent)
    program = (
        f"import sys; sys.path.insert(0, {folder!r}); import forked; {warm or 'pass'}; forked.serve({theirs.fileno()})"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program], pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL, cwd=folder
    )
    theirs.close()
    atexit.register(process.wait, 60)
    atexit.register(ours.close)
    return ours


def serve(asked: int) -> None:
    """Fork a process for each that is asked for, until nobody can ask any more."""
    _prepare()
    with socket.socket(fileno=asked) as questions:
        while True:
            line, given, _, _ = socket.recv_fds(questions, 1 << 16, 4)
            if not line:
                return
            while not line.endswith(b"\n"):
                line += questions.recv(1 << 16)
            if not os.fork():
                questions.close()
                _keep(json.loads(line), given)
            for each in given:
                os.close(each)
            with suppress(ChildProcessError):
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass


def _prepare() -> None:
    """Import what commands use, and run some, so that what is made at the first use is made."""
    for name in IMPORTED:
        import_module(name)
    with TemporaryDirectory() as folder, patch.dict(os.environ, CUECARD_CACHE=folder, CUECARD_STATES=folder):
        agent = Path(folder, "agent.yaml")
        agent.write_text("agent: any\nsections: [{id: role, text: Help.}]\nbudget: {total: 9}\n", encoding="utf-8")
        for command in ("render", "tokens", "mcp"):
            if (done := run(command, agent)).exit_code:
                raise RuntimeError(done.stderr)
    if threading.active_count() > 1:
        raise RuntimeError("who forks has one thread")
    atexit._clear()
    gc.collect()
    gc.freeze()


def _keep(asked: list[Any], given: list[int]) -> None:
    """Be the parent of the process: tell its number, and how it has ended."""
    os.setsid()
    report = given.pop()
    pid = os.fork()
    if not pid:
        os.close(report)
        _become(asked, given)
    for each in given:
        os.close(each)
    os.write(report, b"%d\n" % pid)
    _, status = os.waitpid(pid, 0)
    os.write(report, b"%d\n" % os.waitstatus_to_exitcode(status))
    os._exit(0)


def _become(asked: list[Any], given: list[int]) -> None:
    program, words, environment, folder = asked
    for place, each in enumerate(given):
        os.dup2(each, place)
        os.close(each)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = [COMMAND, *words]
    code: object = 1
    try:
        exec(program, {"__name__": "__main__"}) if program else main()  # noqa: S102 - of tests alone
        code = 0
    except SystemExit as end:
        code = end.code
        if isinstance(code, str):
            print(code, file=sys.stderr)
    except BaseException:  # noqa: BLE001 - as the interpreter does
        sys.excepthook(*sys.exc_info())
    for told in reversed(
        vars(threading)["_threading_atexits"]
    ):  # pools end their threads, as the interpreter tells them
        told()
    for thread in {*threading.enumerate()} - {threading.current_thread()}:
        if not thread.daemon:
            thread.join()
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(code if isinstance(code, int) else int(code is not None))
