"""Mutation testing over a stated list: `make mutate`, or `make mutate ARGS="NAME ..."` for some.

mutmut and cosmic-ray make mutants by operators: thousands over these modules, which take hours, differ with each
version of the code, and add up to a score that tells nobody what is safe. Neither can be told to make one given mistake
and to hold given tests to it. So the mistakes are a list here (`mutants.toml`), chosen where one would hurt; what is
left is a copy, a replacement and a run of pytest.

Each is made in a copy of the repository, never in the working tree.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from queue import Queue

from mutants.mutants import ROOT, Mutant, mistakes, read_mutants

TIME_LIMIT = 600
"""Seconds that the tests of one mutant may take; one that makes them hang is caught."""

_COPIED = ("engine", "prompts", "tool_instructions", "schemas", "examples", "docs", "tests", "pyproject.toml")
_LEFT = shutil.ignore_patterns("__pycache__", "node_modules", ".hypothesis")
_PASSED, _FAILED = 0, 1


@dataclass(frozen=True)
class Outcome:
    """What became of a mutant: `caught` names what noticed it, and is empty where nothing did."""

    mutant: Mutant
    caught: str
    seconds: float

    @property
    def as_stated(self) -> bool:
        """Whether the list says so."""
        return bool(self.caught) != bool(self.mutant.survives)

    def __str__(self) -> str:
        said = f"killed by {self.caught}" if self.caught else "SURVIVED"
        stated = (
            "" if self.as_stated else f"; the list says that it survives: {self.mutant.survives}" if self.caught else ""
        )
        known = f", as stated: {self.mutant.survives}" if self.as_stated and not self.caught else ""
        return f"{self.mutant.name}: {said}{stated}{known} ({self.seconds:.0f} s)"


@dataclass(frozen=True)
class Copy:
    """A copy of the repository in which mistakes are made."""

    root: Path

    def run(self, tests: Sequence[str]) -> subprocess.CompletedProcess[str]:
        """Run tests over the copy, up to the first that fails."""
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-n",
            "0",
            "-x",
            "--tb=line",
            "-rf",
            "-p",
            "no:cacheprovider",
            *tests,
        ]
        # Before the working tree, which is installed: plugins of pytest import the package before its settings.
        environment = {**os.environ, "PYTHONPATH": str(self.root / "engine"), "COLUMNS": "300"}
        return subprocess.run(
            command, cwd=self.root, env=environment, capture_output=True, text=True, check=False, timeout=TIME_LIMIT
        )

    def outcome(self, mutant: Mutant, number: int) -> Outcome:
        """Make the mistake, run its tests, and take it back.

        Raises:
            RuntimeError: when the tests cannot be run at all.
        """
        module, began = self.root / mutant.path, time.monotonic()
        text = module.read_text(encoding="utf-8")
        module.write_text(mutant.applied(text), encoding="utf-8")
        # Byte code is known by second and size: no two states of a module have one time.
        os.utime(module, (number, number))
        try:
            caught = _caught(mutant, self.run(mutant.tests))
        except subprocess.TimeoutExpired:
            caught = f"the time limit of {TIME_LIMIT} s"
        finally:
            module.write_text(text, encoding="utf-8")
            os.utime(module, (0, 0))
        return Outcome(mutant, caught, time.monotonic() - began)


def _caught(mutant: Mutant, done: subprocess.CompletedProcess[str]) -> str:
    if done.returncode == _PASSED:
        return ""
    if done.returncode != _FAILED:
        raise RuntimeError(f"mutant `{mutant.name}`: its tests do not run\n{done.stdout}{done.stderr}")
    lines = [line for line in done.stdout.splitlines() if line.startswith(("FAILED ", "ERROR "))]
    return lines[0].split(" ", 1)[1].split(" - ")[0] if lines else "a test"


@contextmanager
def copies(number: int) -> Iterator[Queue[Copy]]:
    """So many copies of the repository, removed at the end."""
    waiting: Queue[Copy] = Queue()
    with tempfile.TemporaryDirectory(prefix="cuecard-mutants-") as folder:
        for place in range(number):
            root = Path(folder) / str(place)
            for name in _COPIED:
                source = ROOT / name
                if source.is_dir():
                    shutil.copytree(source, root / name, ignore=_LEFT, symlinks=True)
                else:
                    shutil.copy2(source, root / name)
            waiting.put(Copy(root))
        yield waiting


def outcomes(mutants: Sequence[Mutant], jobs: int) -> Iterator[Outcome]:
    """What becomes of each, in the order in which they are done.

    Raises:
        RuntimeError: when tests fail without any mistake: then their failing says nothing.
    """
    with copies(jobs) as free, ThreadPoolExecutor(jobs) as pool:
        first = free.get()
        where = [sys.executable, "-c", "import cuecard; print(cuecard.__file__)"]
        used = subprocess.run(
            where,
            env={**os.environ, "PYTHONPATH": str(first.root / "engine")},
            capture_output=True,
            text=True,
            check=True,
        )
        if not used.stdout.startswith(str(first.root)):
            raise RuntimeError(f"the tests would run over {used.stdout.strip()}, not over the copy")
        plain = first.run(sorted({test for mutant in mutants for test in mutant.tests}))
        if plain.returncode != _PASSED:
            raise RuntimeError(f"the tests fail without any mutant\n{plain.stdout}{plain.stderr}")
        free.put(first)

        def one(number: int, mutant: Mutant) -> Outcome:
            copy = free.get()
            try:
                return copy.outcome(mutant, number)
            finally:
                free.put(copy)

        waiting = [pool.submit(one, number, mutant) for number, mutant in enumerate(mutants, start=1)]
        yield from (done.result() for done in as_completed(waiting))


def main() -> int:
    """Run the mutants that are named, or all; the exit code tells whether each did as the list says."""
    parser = argparse.ArgumentParser(prog="make mutate", description="Make mistakes on purpose, and see who notices.")
    parser.add_argument("names", nargs="*", help="mutants of tests/mutants/mutants.toml; all without any")
    parser.add_argument("--jobs", type=int, default=2, help="how many at once (default 2)")
    options = parser.parse_args()
    every = read_mutants()
    wrong = [
        *mistakes(every),
        *(f"there is no mutant `{n}`" for n in options.names if n not in {m.name for m in every}),
    ]
    if wrong:
        print(*wrong, sep="\n", file=sys.stderr)
        return 2
    chosen = [mutant for mutant in every if not options.names or mutant.name in options.names]
    print(f"{len(chosen)} mutants; first their tests without any", flush=True)
    done: list[Outcome] = []
    try:
        for outcome in outcomes(chosen, options.jobs):
            done.append(outcome)
            print(f"[{len(done)}/{len(chosen)}] {outcome}", flush=True)
    except RuntimeError as error:
        print(error, file=sys.stderr)
        return 2
    alive = [each.mutant.name for each in done if not each.caught]
    print(f"{len(done) - len(alive)} killed, {len(alive)} survived: {', '.join(alive) or 'none'}")
    odd = [each.mutant.name for each in done if not each.as_stated]
    if odd:
        print(f"not as the list says: {', '.join(odd)}; write a test, or a reason into tests/mutants/mutants.toml")
    return 1 if odd else 0


if __name__ == "__main__":
    sys.exit(main())
