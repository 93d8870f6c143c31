"""The modules that a command imports: each question takes a process, so each is asked once per run."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from command_line import COMMAND
from once import ROOT, once


def loaded_by(made: pytest.TempPathFactory, command: str) -> frozenset[str]:
    """The names of all modules that are loaded when `cuecard COMMAND` ends, in the root of the repository."""
    script = (
        "import sys, runpy\n"
        f"sys.argv = [{str(COMMAND)!r}, *{command.split()!r}]\n"
        "try:\n    runpy.run_path(sys.argv[0], run_name='__main__')\nexcept SystemExit as error:\n"
        "    print('\\n', *sys.modules, file=sys.stderr)\n    raise\n"
    )

    def ask(folder: Path) -> None:
        done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
        (folder / "modules").write_text(done.stderr.splitlines()[-1], encoding="utf-8")

    folder = once(made, "loaded-by" + re.sub(r"\W+", "-", command), ask)
    return frozenset((folder / "modules").read_text(encoding="utf-8").split())
