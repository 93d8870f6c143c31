"""The sources of the user's messages: the command line, a terminal, or the lines of a pipe."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Callable, Sequence
from typing import Any


def asker(messages: Sequence[str]) -> Callable[[], str | None]:
    """A function that returns one message after another, and None at the end.

    Args:
        messages: the user's messages; without any, they are read from the terminal, or line by line from a pipe.
    """
    if messages:
        said = iter(messages)
        return lambda: next(said, None)
    ask = _typed if sys.stdin.isatty() else _piped
    return lambda: _until_interrupted(ask)


def _until_interrupted(ask: Callable[[], str | None]) -> str | None:
    """What this function returns. Ctrl-C ends the input, not the event loop that the servers need; and one that came
    just before, which waits for the loop, does so as well.
    """
    task = _running_task()
    if task and task.cancelling():
        return None
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return ask()
    except (EOFError, KeyboardInterrupt):
        sys.stderr.write("\n")
        return None
    finally:
        signal.signal(signal.SIGINT, handler)


def _running_task() -> asyncio.Task[Any] | None:
    try:
        return asyncio.current_task()
    except RuntimeError:  # no loop
        return None


def _piped() -> str | None:
    line = sys.stdin.readline()
    return line.rstrip("\r\n") if line else None


def _typed() -> str:
    if sys.stdout.isatty():
        return input("> ")
    sys.stderr.write("> ")  # no prompts if the output goes into a file
    sys.stderr.flush()
    return input()
