"""What a command takes to start, beside Python and the packages that it builds on, in processor time."""

from __future__ import annotations

import os
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


OVER_COUNTING = 0.85
"""How long a check of 300 tools may take for people, where nothing is kept, beside one for programs, which counts."""


def seconds(arguments: list[str]) -> float:
    before, settings = resource.getrusage(resource.RUSAGE_CHILDREN), {**os.environ, "CUECARD_CACHE": "off"}
    subprocess.run([sys.executable, "-c", *arguments], cwd=ROOT, stdout=subprocess.DEVNULL, check=True, env=settings)
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


ENTRY = """\
  tool_{n}_of_many:
    description: Does thing number {n}.
    before: Look at what tool_{other}_of_many says of number {n}, and ask the user which one is meant.
    after: Tell the user in one sentence what was changed in number {n}, with its title.
    next: [tool_{other}_of_many]
    gotcha:
      - The id {n} is a text, not a number, and it belongs to its own kind of content.
      - A second call with the same arguments changes nothing, and says so to whoever looks for a difference.
"""


def test_a_check_of_many_tools_unpacks_no_table(tmp_path: Path) -> None:
    (tmp_path / "tools").mkdir()
    for first in range(0, 300, 10):
        entries = "".join(ENTRY.format(n=n, other=(n + 1) % 300) for n in range(first, first + 10))
        (tmp_path / "tools" / f"{first}.yaml").write_text(f"category: c{first}\ntools:\n{entries}", encoding="utf-8")
    sections = "sections: [{id: how, text: '{{{activeProtocols}}}'}]\n"
    (tmp_path / "agent.yaml").write_text(f"agent: many\ntools: {{instructions: tools}}\n{sections}", encoding="utf-8")
    check = [RUN, "check", str(tmp_path)]
    commands = {"imports": COMMANDS["imports"], "check, 300 tools": check, "the same, counted": [*check, "--json"]}
    best = dict.fromkeys(commands, float("inf"))
    for _ in range(ROUNDS // 2):
        best = {name: min(best[name], seconds(arguments)) for name, arguments in commands.items()}
    print()
    for name, taken in best.items():
        print(f"  {name:26} {taken * 1e3:6.0f} ms  {taken / best['imports']:5.2f}x")

    assert best["check, 300 tools"] <= OVER_COUNTING * best["the same, counted"]
