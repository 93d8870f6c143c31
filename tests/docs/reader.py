"""What a reader types that is Python, `cuecard` or a script, runs in one process: its start is not what a page shows.

As a program, this is the Python of a reader who has other packages than the tests: see `reading`.
"""

from __future__ import annotations

import io
import json
import os
import runpy
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout, suppress
from importlib.metadata import entry_points
from pathlib import Path
from unittest.mock import patch

PROGRAMS = {"cuecard", "python"}


def typed(folder: Path, command: Sequence[str], environment: Mapping[str, str]) -> str:
    """What a command prints in this process: results and errors in the order in which a terminal shows them."""
    # Found when it is asked for: `reading` starts this file with the cuecard of a wheel.
    main = next(iter(entry_points(group="console_scripts", name="cuecard"))).load()
    shown = io.StringIO()
    with (
        chdir(folder),
        patch.dict(os.environ, environment, clear=True),
        patch.object(sys, "argv", list(command[command[0] == "python" :])),  # Python's own name is not among them
        patch.object(sys, "path", [str(folder), *sys.path]),
        redirect_stdout(shown),
        redirect_stderr(shown),
        suppress(SystemExit),
    ):
        if command[0] == "cuecard":
            main()
        else:
            runpy.run_path(command[1], run_name="__main__")
    for beside in folder.glob("*.py"):  # what one page imports, the next does not know
        sys.modules.pop(beside.stem, None)
    return shown.getvalue()


@contextmanager
def reading(packages: Path) -> Iterator[Callable[[Path, Sequence[str], Mapping[str, str]], str]]:
    """`typed` in a process of its own, which has these packages before those of the tests."""
    process = subprocess.Popen(
        [sys.executable, __file__],
        env={**os.environ, "PYTHONPATH": str(packages)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )

    def typed_there(folder: Path, command: Sequence[str], environment: Mapping[str, str]) -> str:
        assert process.stdin
        assert process.stdout
        print(json.dumps([str(folder), command, dict(environment)]), file=process.stdin, flush=True)
        shown: str = json.loads(process.stdout.readline())
        return shown

    with process:
        yield typed_there


def _answer() -> None:
    told = sys.stdout
    for line in sys.stdin:
        folder, command, environment = json.loads(line)
        print(json.dumps(typed(Path(folder), command, environment)), file=told, flush=True)


if __name__ == "__main__":
    _answer()
