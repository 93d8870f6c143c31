"""Prints what libraries do with one prompt, as the table of docs/benchmarks.md: `make compare`.

It runs in an environment of its own, which `make compare` fills from requirements/compare.lock.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any

from bench.peers.libraries import LIBRARIES

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "benchmarks.md"
MARKS = "<!-- peers -->\n", "<!-- /peers -->"
HEAD = (
    "| library | version | first prompt | each further one | with a list of ten | a missing value | an unclosed block "
    "| a value with `</rules>` |\n|---|---|---:|---:|---:|---|---|---|\n"
)


def measured(name: str, dev: str) -> Mapping[str, Any]:
    """The median of two separate processes, after one that writes byte code; `dev` is the development Python."""
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "", "PYTHONPATH": f"{ROOT / 'tests'}:{ROOT / 'engine'}"}
    command = [dev if LIBRARIES[name].dev else sys.executable, "-W", "ignore", "-m", "bench.peers.measure", name]
    runs: list[dict[str, Any]] = []
    for _ in range(3):
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, cwd=ROOT)
        runs.append(json.loads(done.stdout.splitlines()[-1]))
        sys.stderr.write(f"{name}: {runs[-1]['first'] * 1000:.0f} ms\n")
    if not runs[-1]["right"]:
        sys.exit(f"{name} does not print the prompt that it should")
    later = runs[1:]
    best = {key: median(run[key] for run in later) for key in ("first", "render")}
    loop = median(run["loop"] for run in later) if later[0]["loop"] else None
    return {**later[-1], **best, "loop": loop}


def row(of: Mapping[str, Any]) -> str:
    """A line of the table."""
    times = shown(of["first"]), shown(of["render"]), shown(of["loop"]) if of["loop"] else "–"
    cells = of["name"], of["version"], *times, of["missing"], of["unclosed"], of["forged"]
    return f"| {' | '.join(cells)} |\n"


def shown(seconds: float) -> str:
    """A time with two digits."""
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{rounded(seconds / size)} {unit}"
    return f"{rounded(seconds / 1e-6)} µs"


def rounded(number: float) -> str:
    """Two digits that count."""
    return f"{number:.1f}" if number < 10 else f"{float(f'{number:.2g}'):,.0f}"


def table(dev: str) -> Iterator[str]:
    """The table, slowest last, and where and when it was measured."""
    yield HEAD
    for each in sorted((measured(name, dev) for name in LIBRARIES), key=lambda of: of["render"]):
        yield row(each)
    today = datetime.now(UTC).date().isoformat()
    machine = f"{os.cpu_count()} cores, {platform.system()} {platform.machine()}, Python {platform.python_version()}"
    yield f"\n`make compare` on {today}: {machine}.\n"


def main() -> None:
    """Print the table, or with `--write` put it into the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="put the table into docs/benchmarks.md")
    parser.add_argument("--dev", required=True, help="the Python of the development environment, which has pybars3")
    wanted = parser.parse_args()
    made = "".join(table(wanted.dev))
    sys.stdout.write(made)
    if wanted.write:
        begin, end = MARKS
        before, _, rest = PAGE.read_text(encoding="utf-8").partition(begin)
        PAGE.write_text(before + begin + made + end + rest.partition(end)[2], encoding="utf-8")


if __name__ == "__main__":
    main()
