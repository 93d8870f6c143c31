"""The start of a command beside that of Python and of the packages that it builds on, in processor time."""

from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.bench

ROOT = Path(__file__).parents[2]
ROUNDS = 20
OVER_IMPORTS, OVER_BARE = 1.8, 13.0
"""How many times as long `render` may take as the imports, and `--help` as an interpreter that does nothing."""

RUN = "from cuecard.cli.main import main; main()"
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


def test_a_command_starts_almost_as_fast_as_what_it_builds_on() -> None:
    best = dict.fromkeys(COMMANDS, float("inf"))
    for _ in range(ROUNDS):  # each in every round, so that all of them share the machine's good and bad moments
        best = {name: min(best[name], seconds(arguments)) for name, arguments in COMMANDS.items()}
    print("\nprocessor time, best of", ROUNDS)
    for name, taken in best.items():
        print(f"  {name:16} {taken * 1e3:6.0f} ms")

    assert best["cuecard render"] <= OVER_IMPORTS * best["imports"]
    assert best["cuecard --help"] <= OVER_BARE * best["an interpreter"]
