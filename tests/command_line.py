"""The command `cuecard` as people type it, in this process."""

from __future__ import annotations

import io
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from importlib.metadata import entry_points
from unittest.mock import patch

(_COMMAND,) = entry_points(group="console_scripts", name="cuecard")
main = _COMMAND.load()
"""What the installed script calls."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The exit code of a command, and what it printed."""

    exit_code: int
    stdout: str
    stderr: str


def run(*words: object) -> Outcome:
    """Run `cuecard` with these words."""
    out, err = io.StringIO(), io.StringIO()
    code: object = 0
    with patch.object(sys, "argv", ["cuecard", *map(str, words)]), redirect_stdout(out), redirect_stderr(err):
        try:
            main()
        except SystemExit as ended:
            code = ended.code
    return Outcome(int(code) if isinstance(code, int) else 1, out.getvalue(), err.getvalue())
