"""The modules that commands import: one process runs many of them, beginning with the one that needs least."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from command_line import COMMAND
from once import ROOT, once

ASKED = (
    (
        "--version",
        "--help",
        "render --help",
        "schema",
        "render prompts/cms/agent.yaml",
        "fmt --check prompts/cms/agent.yaml",
        "check prompts/cms/agent.yaml",
        "render prompts/cms/agent.yaml --manifest",
        "tokens prompts/cms/agent.yaml",
    ),
    ("tools search prompts/cms/agent.yaml page",),
)
"""The commands of each process."""
SCRIPT = """\
import sys, runpy
file, script, *commands = sys.argv[1:]
with open(file, "w", encoding="utf-8") as told:
    for command in commands:
        sys.argv = [script, *command.split()]
        try:
            runpy.run_path(script, run_name="__main__")
        except SystemExit as error:
            if error.code:
                raise
        print(*sys.modules, file=told)
"""


def loaded_by(made: pytest.TempPathFactory, command: str) -> frozenset[str]:
    """The names of all modules that are loaded when `cuecard COMMAND` ends, in the root of the repository.

    Those that a command before it has loaded are among them: what one must not load, none before it may.
    """
    return frozenset(json.loads((once(made, "loaded", _ask) / "modules").read_text(encoding="utf-8"))[command])


def _ask(folder: Path) -> None:
    found: dict[str, list[str]] = {}
    for commands in ASKED:
        asked = [sys.executable, "-c", SCRIPT, str(folder / "told"), COMMAND, *commands]
        subprocess.run(asked, cwd=ROOT, capture_output=True, check=True)
        lines = (folder / "told").read_text(encoding="utf-8").splitlines()
        found |= {command: line.split() for command, line in zip(commands, lines, strict=True)}
    (folder / "modules").write_text(json.dumps(found), encoding="utf-8")
