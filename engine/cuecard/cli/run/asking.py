"""Where the user's messages come from: the command line, a terminal, or the lines of a pipe."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Sequence


def asker(messages: Sequence[str]) -> Callable[[], str | None]:
    """What gives one message after the other, and None when there are no more.

    Args:
        messages: what the user says; without any, a terminal is asked, and of anything else the lines are read.
    """
    if messages:
        said = iter(messages)
        return lambda: next(said, None)
    return _typed if sys.stdin.isatty() else _piped


def _piped() -> str | None:
    line = sys.stdin.readline()
    return line.rstrip("\r\n") if line else None


def _typed() -> str | None:
    """What the user types. Ctrl-C ends the typing, not the loop that the servers need."""
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        if sys.stdout.isatty():
            return input("> ")
        sys.stderr.write("> ")  # what goes into a file is not for prompts
        sys.stderr.flush()
        return input()
    except (EOFError, KeyboardInterrupt):
        sys.stderr.write("\n")
        return None
    finally:
        signal.signal(signal.SIGINT, handler)
