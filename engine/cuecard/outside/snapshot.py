"""Takes a snapshot of a tool server's content with the command from the assistant file."""

from __future__ import annotations

import json
import os
import subprocess

from cuecard.errors import Problem, ToolServerError, visible
from cuecard.model import Json
from cuecard.outside.mcp_errors import TAIL_LINES
from cuecard.outside.mcp_process import ServerCommand


def read_snapshot(start: ServerCommand) -> dict[str, Json]:
    """The content as one JSON object.

    Raises:
        ToolServerError: when the command does not start, fails, takes too long, or prints something else.
    """
    try:
        done = subprocess.run(
            [*start.command],
            cwd=start.folder,
            env={**os.environ, **start.env},
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=start.timeout,
            check=True,
        )
        content = json.loads(done.stdout)
    except OSError as error:
        raise _error(start, f"it cannot be started: {(error.strerror or str(error)).lower()}") from None
    except subprocess.TimeoutExpired:
        raise _error(start, f"it did not finish within {start.timeout:g} s") from None
    except subprocess.CalledProcessError as error:
        raise _error(start, f"it exited with code {error.returncode}", error.stderr) from None
    except ValueError:
        raise _error(start, "it did not print JSON") from None
    if not isinstance(content, dict):
        raise _error(start, "it printed JSON, but not an object")
    return content


def _error(start: ServerCommand, cause: str, stderr: str = "") -> ToolServerError:
    said = [f"it said: {visible(line)}" for line in stderr.splitlines() if line.strip()][-TAIL_LINES:]
    lines = [f"it runs: {' '.join(start.command)}", *said, "mend `server.snapshot`"]
    return ToolServerError(Problem("snapshot", f"no snapshot: {cause}", "\n".join(lines), start.name))
