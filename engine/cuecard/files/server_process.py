"""The process of a tool server, started under a guard that ends it and everything it has started, in any case."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from cuecard.errors import InputError, Problem, ToolServerError, visible
from cuecard.files import guard

if TYPE_CHECKING:
    from anyio.abc import Process

GRACE: Final = 2.0
"""Seconds that a server has to exit after its input is closed, and again after it is told to terminate."""

TAIL_LINES: Final = 8
"""The number of lines from a program's standard error that an error shows."""

_MARGIN = 3.0
"""Seconds that the guard may take beyond that."""

_SHOWN = 500
"""Characters of the program that an error shows."""

_KEPT = "HOME LANG LOGNAME PATH SHELL TERM USER"
_KEPT_ON_WINDOWS = "APPDATA COMSPEC LOCALAPPDATA PATH PATHEXT SYSTEMDRIVE SYSTEMROOT TEMP USERNAME USERPROFILE"


@dataclass(frozen=True, slots=True)
class ServerCommand:
    """How to start a server.

    Attributes:
        command: the program and its arguments.
        env: environment variables in addition to a few harmless ones (PATH, HOME and the like).
        folder: its working directory.
        timeout: the timeout in seconds for starting it, and for each operation: a list of tools, a call.
        name: its name in errors, such as the file that configures it.
        settings: where its command and timeout are configured, for errors.
        where: how errors describe its location, instead of its command.
    """

    command: Sequence[str]
    env: Mapping[str, str]
    folder: Path
    timeout: float = 60.0
    name: str = "tool server"
    settings: tuple[str, str] = ("server.command", "server.timeout")
    where: str = ""


def server_command(text: str, timeout: float, option: str = "--mcp") -> ServerCommand:
    """The command of a server, from one command-line argument.

    Raises:
        InputError: when it is empty, or a quote in it is never closed.
    """
    try:
        words = shlex.split(text)
    except ValueError as error:
        message = f"`{option} {text}` cannot be read: {str(error).lower()}"
        raise InputError(Problem("wrong-option", message, "write it as in a shell", option)) from None
    if not words:
        raise InputError(Problem("wrong-option", f"`{option}` names no command", "write it as in a shell", option))
    return ServerCommand(words, {}, Path.cwd(), timeout, option, (option, "--timeout"))


class ProcessGuard:
    """One program under `guard.py`: this process holds the end of a pipe, and the program ends when nobody does.

    Windows has neither sessions nor such pipes: there, the program runs without a guard.
    """

    def __init__(self, command: Sequence[str], env: Mapping[str, str]) -> None:
        """Prepare to run a command with this environment."""
        self._wish = {"command": [*command], "env": dict(env), "grace": GRACE}
        self._theirs, self._life = os.pipe()
        self._told, self._tells = os.pipe()
        self._open = {self._theirs, self._life, self._told, self._tells}

    @property
    def command(self) -> list[str]:
        """What to start: the guard."""
        return [sys.executable, "-I", "-S", str(Path(guard.__file__).absolute()), str(self._theirs), str(self._tells)]

    @property
    def passed(self) -> tuple[int, int]:
        """The descriptors that it inherits."""
        return self._theirs, self._tells

    def begin(self) -> None:
        """Hand the command over to the started guard, and wait until the program runs.

        Raises:
            OSError, ValueError: when it cannot be started.
        """
        self._close(*self.passed)
        with suppress(BrokenPipeError), open(self._life, "wb", closefd=False) as life:
            life.write(json.dumps(self._wish).encode() + b"\n")
        if failed := os.read(self._told, 16):
            number = int(failed)
            raise OSError(number, os.strerror(number)) if number else ValueError("embedded null byte")

    def end(self) -> None:
        """Let go: the guard ends the program, at once or after its grace."""
        self._close(*self._open)

    def _close(self, *descriptors: int) -> None:
        for descriptor in descriptors:
            self._open.discard(descriptor)
            os.close(descriptor)


@dataclass(frozen=True, slots=True)
class ServerProcess:
    """A running server: its pipes, and its guard."""

    process: Process
    guard: ProcessGuard | None = None

    async def stop(self) -> None:
        """Close the server's input, wait, terminate it and everything it has started, then kill that."""
        import anyio  # noqa: PLC0415 - as below

        process = self.process
        if process.stdin is not None:
            with suppress(OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
                await process.stdin.aclose()
        if self.guard is None:
            await _end_on_windows(process)
            return
        self.guard.end()
        if not await _ended(process, 2 * GRACE + _MARGIN):
            with suppress(ProcessLookupError):
                process.kill()


@asynccontextmanager
async def running(start: ServerCommand) -> AsyncIterator[ServerProcess]:
    """The server's process, with pipes; when the block ends, it and everything it has started are stopped.

    Raises:
        ToolServerError: when the command does not start.
    """
    import anyio  # noqa: PLC0415 - `cuecard --help` needs no asynchronous library

    try:
        server = await (_open_on_windows(start) if sys.platform == "win32" else _open(start))
    except (OSError, ValueError) as error:
        raise _cannot_start(error, start) from None
    try:
        yield server
    finally:
        with anyio.CancelScope(shield=True):
            await server.stop()
            # With a timeout, because a process that nobody could kill may hold the pipes.
            with anyio.move_on_after(GRACE):
                await server.process.aclose()


async def _open(start: ServerCommand) -> ServerProcess:
    import anyio  # noqa: PLC0415 - as above
    import anyio.to_thread  # noqa: PLC0415 - the same

    watched = ProcessGuard(start.command, _harmless_variables() | dict(start.env))
    try:
        process = await anyio.open_process(
            watched.command, cwd=start.folder, stderr=subprocess.PIPE, start_new_session=True, pass_fds=watched.passed
        )
    except BaseException:
        watched.end()
        raise
    server = ServerProcess(process, watched)
    try:
        await anyio.to_thread.run_sync(watched.begin)
    except BaseException:
        with anyio.CancelScope(shield=True):
            await server.stop()
            await process.aclose()
        raise
    return server


async def _open_on_windows(start: ServerCommand) -> ServerProcess:
    import anyio  # noqa: PLC0415 - as above

    program, *arguments = start.command
    return ServerProcess(
        await anyio.open_process(
            [shutil.which(program) or program, *arguments],  # CreateProcess finds no `npx.cmd`
            env=_harmless_variables() | dict(start.env),
            cwd=start.folder,
            stderr=subprocess.PIPE,
        )
    )


def _cannot_start(error: OSError | ValueError, start: ServerCommand) -> ToolServerError:
    """A command that does not exist, may not be run, or is invalid, such as one that contains NUL."""
    cause = getattr(error, "strerror", None) or str(error)
    message = f"the tool server cannot be started: `{visible(start.command[0])[:_SHOWN]}`: {cause.lower()}"
    hint = f"install the command, or change `{start.settings[0]}`"
    return ToolServerError(Problem("server-start", message, hint, start.name))


async def _ended(process: Process, seconds: float) -> bool:
    """Whether the process exits in time. Polled, because waiting for it would also wait for its pipes."""
    import anyio  # noqa: PLC0415 - as above

    deadline = anyio.current_time() + seconds
    while process.returncode is None and anyio.current_time() < deadline:  # noqa: ASYNC110 - nothing tells of it
        await anyio.sleep(0.01)
    return process.returncode is not None


async def _end_on_windows(process: Process) -> None:
    import anyio  # noqa: PLC0415 - as above

    if not await _ended(process, GRACE):
        await anyio.run_process(["taskkill", "/F", "/T", "/PID", str(process.pid)], check=False)
        await _ended(process, GRACE)


def _harmless_variables() -> dict[str, str]:
    names = (_KEPT_ON_WINDOWS if sys.platform == "win32" else _KEPT).split()
    # A value that begins like this is a shell function.
    return {name: os.environ[name] for name in names if name in os.environ and not os.environ[name].startswith("()")}
