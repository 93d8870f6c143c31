"""What a command takes to start, beside Python and the packages that it builds on, in processor time."""

from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path

import pytest

from command_line import COMMAND

pytestmark = pytest.mark.bench

ROOT = Path(__file__).parents[2]
ROUNDS = 20
HELP_WITHIN = 0.150
"""Seconds: nobody notices less, so no line of code is worth being faster."""

RUN = f"import runpy, sys; sys.argv[0] = {str(COMMAND)!r}; runpy.run_path(sys.argv[0], run_name='__main__')"
COMMANDS = {
    "an interpreter": ["pass"],
    "imports": ["import pydantic, lxml.etree, tiktoken, typer, ruamel.yaml"],
    "cuecard --help": [RUN, "--help"],
    "cuecard render": [RUN, "render", "prompts/cms/agent.yaml"],
}


def seconds(arguments: list[str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", *arguments], cwd=ROOT, stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def test_help_is_there_before_anybody_waits() -> None:
    best = dict.fromkeys(COMMANDS, float("inf"))
    for _ in range(ROUNDS):  # each in every round, so that all of them share the machine's good and bad moments
        best = {name: min(best[name], seconds(arguments)) for name, arguments in COMMANDS.items()}
    print("\nprocessor time, best of", ROUNDS)
    for name, taken in best.items():
        print(f"  {name:16} {taken * 1e3:6.0f} ms")

    assert best["cuecard --help"] <= HELP_WITHIN
