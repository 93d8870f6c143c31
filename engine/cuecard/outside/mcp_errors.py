"""One clear error for whatever goes wrong with a tool server, with its last words."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import IO, TYPE_CHECKING, Final

from cuecard.errors import Problem, ToolServerError, visible

if TYPE_CHECKING:
    from mcp.shared.exceptions import MCPError
    from pydantic import ValidationError

    from cuecard.outside.mcp import ServerCommand

CONNECTION_CLOSED: Final = -32000
REQUEST_TIMEOUT: Final = -32001
"""The two JSON-RPC codes by which the MCP client says that the server is gone, or silent."""

TAIL_LINES: Final = 8
"""How many of the last lines on the server's standard error an error shows."""
_TAIL = 64 * 1024
_LINE = 500


def cannot_start(error: OSError, start: ServerCommand) -> ToolServerError:
    """A command that is not there, or may not be run."""
    message = f"the tool server does not start: `{start.command[0]}`: {(error.strerror or str(error)).lower()}"
    hint = f"install the command, or change `{start.settings[0]}`"
    return ToolServerError(Problem("server-start", message, hint, start.name))


def server_error(error: MCPError, start: ServerCommand, stderr: IO[str]) -> ToolServerError:
    """A server that is gone, silent, or says no."""
    hint = "start it by hand to see more"
    if error.code == REQUEST_TIMEOUT:
        code, message = "server-timeout", f"the tool server did not answer within {start.timeout:g} s"
        hint = f"see what it waits for, or raise `{start.settings[1]}`"
    elif error.code == CONNECTION_CLOSED:
        code, message = "server-died", "the tool server ended, or closed its output"
    else:
        code, message = "server-error", f"the tool server refused: {error.message[:_LINE]}"
    return _told(start, stderr, code, message, hint)


def not_text(start: ServerCommand, stderr: IO[str]) -> ToolServerError:
    """A server that writes bytes that are no UTF-8."""
    code, message = "server-output", "the tool server wrote bytes that are not UTF-8"
    return _told(start, stderr, code, message, "its standard output is for MCP alone: JSON in UTF-8")


def not_mcp(error: ValidationError, start: ServerCommand, stderr: IO[str]) -> ToolServerError:
    """An answer that is JSON, and not of the shape that MCP has; what it holds is not repeated."""
    first, *more = error.errors(include_input=False, include_url=False, include_context=False)
    place = ".".join(map(str, first["loc"])) or "the answer"
    others = f" (and {len(more)} more)" if more else ""
    told = f"`{visible(place)[:_LINE]}`: {first['msg']}{others}"
    code, message = "server-output", f"what the tool server answers is not MCP: {told}"
    return _told(start, stderr, code, message, "tell its makers")


def leaves(error: BaseException) -> Iterator[BaseException]:
    """The errors of a group, and of the groups in it."""
    if isinstance(error, BaseExceptionGroup):
        for each in error.exceptions:
            yield from leaves(each)
    else:
        yield error


def is_of_transport(error: BaseException) -> bool:
    """Whether an error was raised while the client read what the server wrote, and not by who uses the client."""
    trace = error.__traceback__
    while trace is not None:
        if str(trace.tb_frame.f_globals.get("__name__", "")).startswith("mcp.client.stdio"):
            return True
        trace = trace.tb_next
    return False


def _told(start: ServerCommand, stderr: IO[str], code: str, message: str, hint: str) -> ToolServerError:
    lines = [f"it runs: {' '.join(start.command)}", *_tail(stderr), hint]
    return ToolServerError(Problem(code, message, "\n".join(lines), start.name))


def _tail(stderr: IO[str]) -> list[str]:
    end = stderr.seek(0, os.SEEK_END)
    stderr.seek(max(0, end - _TAIL))
    lines = [visible(line)[:_LINE] for line in stderr.read().splitlines() if line.strip()]
    return [f"it said: {line}" for line in lines[-TAIL_LINES:]]
