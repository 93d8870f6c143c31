"""The process of a tool server: started in its own process group, and always stopped."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from cuecard.errors import Problem, ToolServerError, visible

if TYPE_CHECKING:
    from anyio.abc import Process

GRACE: Final = 2.0
"""Seconds that a server has to exit after its input is closed, and again after it is told to terminate."""

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
        timeout: the timeout in seconds for starting it and for each tool call.
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


@asynccontextmanager
async def running(start: ServerCommand) -> AsyncIterator[Process]:
    """The server's process, with pipes; when the block ends, it and all its child processes are stopped.

    Raises:
        ToolServerError: when the command does not start.
    """
    import anyio  # noqa: PLC0415 - `cuecard --help` needs no asynchronous library

    program, *arguments = start.command
    if sys.platform == "win32":
        program = shutil.which(program) or program  # CreateProcess finds no `npx.cmd`
    try:
        process = await anyio.open_process(
            [program, *arguments],
            env=_harmless_variables() | dict(start.env),
            cwd=start.folder,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        raise _cannot_start(error, start) from None
    try:
        yield process
    finally:
        with anyio.CancelScope(shield=True):
            await stop(process)
            # With a timeout, because a child that holds the pipes may outlive the server.
            with anyio.move_on_after(GRACE):
                await process.aclose()


def _cannot_start(error: OSError | ValueError, start: ServerCommand) -> ToolServerError:
    """A command that does not exist, may not be run, or is invalid, such as one that contains NUL."""
    cause = getattr(error, "strerror", None) or str(error)
    message = f"the tool server cannot be started: `{visible(start.command[0])[:_SHOWN]}`: {cause.lower()}"
    hint = f"install the command, or change `{start.settings[0]}`"
    return ToolServerError(Problem("server-start", message, hint, start.name))


async def stop(process: Process) -> None:
    """Close the server's input, wait, terminate it and its children, then kill them."""
    import anyio  # noqa: PLC0415 - as above

    if process.stdin is not None:
        with suppress(OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
            await process.stdin.aclose()
    if not await _ended(process):
        await _tell(process, hard=False)
        if not await _ended(process):
            await _tell(process, hard=True)
            await _ended(process)


async def _ended(process: Process) -> bool:
    """Whether the process exits in time. Polled, because waiting for it would also wait for its pipes."""
    import anyio  # noqa: PLC0415 - as above

    deadline = anyio.current_time() + GRACE
    while process.returncode is None and anyio.current_time() < deadline:  # noqa: ASYNC110 - nothing tells of it
        await anyio.sleep(0.01)
    return process.returncode is not None


async def _tell(process: Process, *, hard: bool) -> None:
    """Send a signal to the whole group; on Windows, which has no process groups, kill the process tree."""
    if sys.platform == "win32":
        import anyio  # noqa: PLC0415 - as above

        if process.returncode is None:
            await anyio.run_process(["taskkill", "/F", "/T", "/PID", str(process.pid)], check=False)
        return
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL if hard else signal.SIGTERM)


def _harmless_variables() -> dict[str, str]:
    names = (_KEPT_ON_WINDOWS if sys.platform == "win32" else _KEPT).split()
    # A value that begins like this is a shell function.
    return {name: os.environ[name] for name in names if name in os.environ and not os.environ[name].startswith("()")}
