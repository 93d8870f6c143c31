"""L13: every fuzz target, guided by coverage, in a process of its own."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from fuzz.run import SEEDS
from soak.rows import Row

RUN = Path(__file__).parents[1] / "fuzz" / "run.py"


def fuzz(seconds: float) -> Row:
    """All targets, each for some seconds."""
    inputs, broken, skipped = 0, [], []
    for target in sorted(SEEDS):
        command = [sys.executable, str(RUN), "--seconds", str(max(1, round(seconds))), target]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        found = re.search(r"number_of_executed_units: (\d+)", done.stderr)
        inputs += int(found[1]) if found else 0
        broken += [target] if done.returncode else []
        skipped += [target] if "skipped" in done.stdout else []
    told = f"{inputs:,} inputs, {len(broken)} targets with another exception" + f" ({', '.join(broken)})" * bool(broken)
    told = "skipped: atheris is not installed" if skipped else told
    tried = f"{len(SEEDS)} readers, fuzzed {seconds:.0f} s each"
    return Row("L13", tried, "only documented exceptions", told, not broken)
