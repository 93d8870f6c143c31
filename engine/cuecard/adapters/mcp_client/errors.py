"""One clear error for each failure of a tool server, including its last output."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from pydantic import ValidationError

from cuecard.adapters.mcp_lines import LastWords
from cuecard.errors import Problem, ToolServerError, visible
from cuecard.files.server_process import TAIL_LINES, ServerCommand

if TYPE_CHECKING:
    from mcp.shared.exceptions import MCPError

CONNECTION_CLOSED: Final = -32000
REQUEST_TIMEOUT: Final = -32001
"""The two JSON-RPC codes with which the MCP client reports that the server is gone or silent."""

UNREADABLE: Final = -32099
"""The code with which the gate reports unusable output of a server; the message describes it."""

_LINE = 500
_FOR_MCP = "standard output is reserved for MCP; report it to the server's authors"


def server_error(error: MCPError, start: ServerCommand, said: LastWords, strays: int = 0) -> ToolServerError:
    """A server that is gone, silent, refuses, or writes unusable output."""
    hint = "start it by hand for details"
    if error.code == REQUEST_TIMEOUT:
        code, message = "server-timeout", f"the tool server did not answer within {start.timeout:g} s"
        hint = f"find out what it waits for, or raise `{start.settings[1]}`"
        if strays:
            hint = f"{strays:,} lines on its standard output were not MCP messages; {hint}"
    elif error.code == CONNECTION_CLOSED:
        code, message = "server-died", "the tool server exited, or closed its output"
    elif error.code == UNREADABLE:
        code, message = "server-output", f"the tool server wrote {error.message[:_LINE]}"
        hint = _FOR_MCP
    else:
        code, message = "server-error", f"the tool server refused: {error.message[:_LINE]}"
    return _told(start, said, code, message, hint)


def not_mcp(error: ValidationError, start: ServerCommand, said: LastWords) -> ToolServerError:
    """An answer that is JSON but not valid MCP."""
    message = f"the tool server's answer is not valid MCP: {first_mistake(error)}"
    return _told(start, said, "server-output", message, _FOR_MCP)


def first_mistake(error: ValidationError) -> str:
    """The first problem of an invalid MCP message, without repeating its content."""
    first, *more = error.errors(include_input=False, include_url=False, include_context=False)
    place = ".".join(map(str, first["loc"])) or "the answer"
    others = f" (and {len(more)} more)" if more else ""
    return f"`{visible(place)[:_LINE]}`: {first['msg']}{others}"


def leaves(error: BaseException) -> Iterator[BaseException]:
    """The errors of an exception group, including nested groups."""
    if isinstance(error, BaseExceptionGroup):
        for each in error.exceptions:
            yield from leaves(each)
    else:
        yield error


def _told(start: ServerCommand, said: LastWords, code: str, message: str, hint: str) -> ToolServerError:
    lines = [start.where or f"it runs: {' '.join(start.command)}", *_tail(said), hint]
    return ToolServerError(Problem(code, message, "\n".join(lines), start.name))


def _tail(said: LastWords) -> list[str]:
    return [f"it said: {visible(line)[:_LINE]}" for line in said.lines()[-TAIL_LINES:]]
