"""Takes a snapshot of a tool server's content with the command from the assistant file."""

from __future__ import annotations

import json
import os
import subprocess
import sys

from cuecard.errors import Problem, ToolServerError, visible
from cuecard.model import Json
from cuecard.outside.server_process import TAIL_LINES, Guard, ServerCommand


def read_snapshot(start: ServerCommand) -> dict[str, Json]:
    """The content as one JSON object.

    Raises:
        ToolServerError: when the command does not start, fails, takes too long, or prints something else.
    """
    try:
        code, said, told = _run(start)
    except subprocess.TimeoutExpired:
        raise _error(start, f"it did not finish within {start.timeout:g} s") from None
    except (OSError, ValueError) as error:
        raise _error(start, f"it cannot be started: {(getattr(error, 'strerror', '') or str(error)).lower()}") from None
    if code:
        raise _error(start, f"it exited with code {code}", told.decode(errors="replace"))
    try:
        content = json.loads(said)
    except ValueError:
        raise _error(start, "it did not print JSON") from None
    if not isinstance(content, dict):
        raise _error(start, "it printed JSON, but not an object")
    return content


def _run(start: ServerCommand) -> tuple[int, bytes, bytes]:
    """The exit code of the command, and what it wrote; whatever it has started ends with it.

    Raises:
        OSError, ValueError: when it does not start.
        TimeoutExpired: when it takes too long.
    """
    env: dict[str, str] = {**os.environ, **start.env}
    if sys.platform == "win32":
        done = subprocess.run(
            [*start.command], cwd=start.folder, env=env, capture_output=True, timeout=start.timeout, check=False
        )
        return done.returncode, done.stdout, done.stderr
    watched = Guard(start.command, env)
    try:
        process = subprocess.Popen(
            watched.command,
            cwd=start.folder,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
            pass_fds=watched.passed,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
    except BaseException:
        watched.end()
        raise
    with process:
        try:
            watched.begin()
            said, told = process.communicate(timeout=start.timeout)
        finally:
            watched.end()
    return process.returncode, said, told


def _error(start: ServerCommand, cause: str, stderr: str = "") -> ToolServerError:
    said = [f"it said: {visible(line)}" for line in stderr.splitlines() if line.strip()][-TAIL_LINES:]
    lines = [f"it runs: {' '.join(start.command)}", *said, "mend `server.snapshot`"]
    return ToolServerError(Problem("snapshot", f"no snapshot: {cause}", "\n".join(lines), start.name))
