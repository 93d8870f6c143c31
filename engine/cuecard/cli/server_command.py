"""The command of a tool server, from a command-line option."""

from __future__ import annotations

import shlex
from pathlib import Path

from cuecard.errors import InputError, Problem
from cuecard.outside.server_process import ServerCommand


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
