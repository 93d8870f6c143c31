"""The command `cuecard` as people type it, in this process."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Mapping
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any
from unittest.mock import patch

from cuecard import Problem, Step
from cuecard.types import Span

(_COMMAND,) = entry_points(group="console_scripts", name="cuecard")
main = _COMMAND.load()
"""What the installed script calls."""

COMMAND = str(Path(sys.executable).with_name("cuecard"))
"""The installed script, for tests that want a process."""


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


def problems(agent: Path | str) -> list[Problem]:
    """What `cuecard check` finds, none of it left out."""
    told = json.loads(run("check", agent, "--json").stdout)
    assert not told["more"]
    return [_problem(each) for each in told["problems"]]


def _problem(told: Mapping[str, Any]) -> Problem:
    span = Span(**told["span"]) if told["span"] else None
    place = told["name"], span, told["source"], told["severity"], tuple(told["chain"])
    return Problem(told["code"], told["message"], told["hint"], *place)


class RefusedError(Exception):
    """A command has refused what it was given."""
