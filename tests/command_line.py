"""The command `cuecard` as people type it, in this process."""

from __future__ import annotations

import io
import json
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path
from unittest.mock import patch

from cuecard import Step

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


def rendered(agent: Path | str, turn: Path) -> Step:
    """The step that `cuecard render` makes of a turn file.

    Raises:
        RefusedError: with what the command says, where it makes none.
    """
    ran = run("render", agent, "--turn", turn, "--json")
    if ran.exit_code:  # of which JSON is told too
        raise RefusedError(f"exit {ran.exit_code}\n\n{run('render', agent, '--turn', turn).stderr}")
    return Step.from_json(json.loads(ran.stdout))


class RefusedError(Exception):
    """A command has refused what it was given."""
