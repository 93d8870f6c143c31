"""Properties with new examples for a given time: `make explore MINUTES=10`.

The suite draws the same examples in every run, so that it fails only for a change. Here each round has a seed of its
own, and says how to replay what it found.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from random import SystemRandom
from xml.etree import ElementTree as ET

ROOT = Path(__file__).parents[2]
PROPERTIES = ROOT / "tests" / "property"
_RANDOM = SystemRandom()
_ENDED = {0, 1, 5}
"""Exit codes of pytest: all passed, some failed, and none was selected."""


@dataclass(frozen=True)
class Found:
    """A property that does not hold: its test, the seed that shows it, and what pytest said."""

    test: str
    seed: int
    said: str

    def __str__(self) -> str:
        replay = (
            f'HYPOTHESIS_PROFILE=explore {sys.executable} -m pytest -n 0 "{self.test}" --hypothesis-seed={self.seed}'
        )
        return f"FOUND {self.test}\n{self.said}\nreplay: {replay}"


@dataclass(frozen=True)
class Round:
    """One file with one seed; `tests` ran, `unread` says why it told nothing."""

    file: str
    seed: int
    tests: int = 0
    found: tuple[Found, ...] = ()
    unread: str = ""


def run(file: str, deadline: float) -> Round:
    """The properties of one file with a new seed, until the deadline."""
    seed = _RANDOM.randrange(2**32)
    left = deadline - time.monotonic()
    with tempfile.TemporaryDirectory(prefix="cuecard-explore-") as folder:
        report = Path(folder) / "report.xml"
        command = [sys.executable, "-m", "pytest", "-n", "0", "--tb=short", "--no-header", "-p", "no:cacheprovider"]
        command += ["-m", "hypothesis", f"--hypothesis-seed={seed}", f"--junitxml={report}", file]
        environment = {**os.environ, "HYPOTHESIS_PROFILE": "explore"}
        try:
            done = subprocess.run(
                command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=max(left, 0.1)
            )
        except subprocess.TimeoutExpired:
            return Round(file, seed, unread="stopped by the clock")
        if done.returncode not in _ENDED:
            return Round(file, seed, unread=f"pytest failed\n{done.stdout}{done.stderr}")
        return _read(file, seed, ET.parse(report))  # noqa: S314 - pytest has just written it


def _read(file: str, seed: int, report: ET.ElementTree[ET.Element]) -> Round:
    cases = [*report.iter("testcase")]
    failed = [(case, told) for case in cases for told in (*case.iter("failure"), *case.iter("error"))]
    found = (Found(_node(file, case), seed, told.text or told.get("message") or "") for case, told in failed)
    return Round(file, seed, len(cases), tuple(found))


def _node(file: str, case: ET.Element) -> str:
    """The id of a test by which pytest finds it: the class is the part of its name behind the module's."""
    _, _, within = case.get("classname", "").rpartition(Path(file).stem)
    return "::".join([file, *within.strip(".").split(".")] if within else [file]) + f"::{case.get('name')}"


def rounds(files: Sequence[str], deadline: float, most: int, jobs: int) -> Iterator[Round]:
    """Round after round over these files in random order, until the deadline, or so many of them; 0 for no limit."""
    waiting: list[str] = []
    begun, running = 0, set[Future[Round]]()
    with ThreadPoolExecutor(jobs) as pool:
        while True:
            while len(running) < jobs and time.monotonic() < deadline and (waiting or not most or begun < most):
                if not waiting:
                    begun += 1
                    waiting = _RANDOM.sample(files, len(files))
                running.add(pool.submit(run, waiting.pop(), deadline))
            if not running:
                return
            done, running = wait(running, return_when=FIRST_COMPLETED)
            yield from (each.result() for each in done)


def main(arguments: Sequence[str] | None = None) -> int:
    """Explore, tell what is found at once, and sum up; the exit code tells whether anything was."""
    parser = argparse.ArgumentParser(prog="make explore", description="Look for examples that break a property.")
    parser.add_argument("files", nargs="*", help="test files; without any, all of tests/property")
    parser.add_argument("--minutes", type=float, default=10, help="how long (default 10)")
    parser.add_argument(
        "--rounds", type=int, default=0, help="how often each file at most; 0 for as often as there is time"
    )
    parser.add_argument("--jobs", type=int, default=2, help="how many files at once (default 2)")
    options = parser.parse_args(arguments)
    files = options.files or [str(path.relative_to(ROOT)) for path in sorted(PROPERTIES.glob("test_*.py"))]
    begun, found, count, unread = time.monotonic(), dict[str, Found](), 0, 0
    for each in rounds(files, begun + 60 * options.minutes, options.rounds, options.jobs):
        count, unread = count + each.tests, unread + each.unread.startswith("pytest")
        spent = time.monotonic() - begun
        told = each.unread or f"{each.tests} properties, {len(each.found)} broken"
        print(f"[{spent / 60:.1f} of {options.minutes:g} min] {each.file}, seed {each.seed}: {told}", flush=True)
        for one in each.found:
            if found.setdefault(one.test, one) is one:
                print(one, flush=True)
    print(f"{count} runs of properties, {len(found)} broken: {', '.join(found) or 'none'}")
    return 1 if found or unread else 0


if __name__ == "__main__":
    sys.exit(main())
