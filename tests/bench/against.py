"""The hot path beside that of another checkout, such as the merge base: `make against ROOT=../base`.

Both run in turn, in processes of their own and in short rounds. Told is the median of the rounds' ratios of processor
time, which other work on the machine moves least.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from time import process_time

WARN = 1.10
"""Ratios above are told as a warning."""

ROUNDS = 120
HERE = Path(__file__).parents[2]


def works() -> dict[str, Callable[[], object]]:
    """What is measured, with whatever checkout is imported."""
    from cuecard import Engine, ToolResult, Turn  # noqa: PLC0415 - only the measured processes import it

    engine = Engine.open("prompts/cms")
    call = engine.prepare_call(Turn())
    names = [name for name in engine.tools if name not in engine.core_tools][:10]
    results = [ToolResult("tool_search", {"tools": names}, "search")]

    def kept() -> object:
        chat = engine.conversation()
        chat.user(Turn())
        return [chat.step(part).system for part in ((), results)]

    return {
        "prepare_call": lambda: sum(segment.tokens for segment in engine.prepare_call(Turn()).prompt.segments),
        "prepare_step, 10 of 48 tools": lambda: engine.prepare_step(call, results),
        "a message and two steps of a conversation": kept,
        "a manifest": lambda: engine.prepare_step(call, results).manifest.sha256,
        "a conversation there and back": lambda: engine.load(engine.dump(engine.conversation())),
    }


def measure() -> None:
    """Measure a round for each line of input."""
    measured = works()
    for work in measured.values():
        for _ in range(30):
            work()
    for _ in sys.stdin:
        taken = {}
        for name, work in measured.items():
            start = process_time()
            for _ in range(15):
                work()
            taken[name] = process_time() - start
        print(json.dumps(taken), flush=True)


@contextmanager
def measuring(root: Path) -> Iterator[Callable[[], dict[str, float]]]:
    """A process with the code of a checkout; gives what measures one round."""
    environment = {**os.environ, "PYTHONPATH": str(root.resolve() / "engine")}
    command = [sys.executable, str(Path(__file__).resolve()), "--measure"]
    with subprocess.Popen(
        command, cwd=root, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as child:
        asked, told = child.stdin, child.stdout
        assert asked
        assert told

        def one() -> dict[str, float]:
            asked.write("\n")
            asked.flush()
            taken: dict[str, float] = json.loads(told.readline())
            return taken

        yield one
        asked.close()


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table, and a warning for each cost that grew."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("root", type=Path, nargs="?")
    parser.add_argument("--measure", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    asked = parser.parse_args(arguments)
    if asked.measure:
        measure()
        return
    if asked.root is None:
        parser.error("which checkout is it to be compared with?")
    with measuring(asked.root) as before, measuring(HERE) as now:
        rounds = [(before(), now()) for _ in range(asked.rounds)]
    for name in rounds[0][1]:
        ratio = median(new[name] / old[name] for old, new in rounds)
        print(f"{name:44} {median(new[name] for _, new in rounds) / 15 * 1e6:8.0f} us {ratio:6.2f}x")
        if ratio > WARN:
            mark = "::warning title=hot path::" if "GITHUB_ACTIONS" in os.environ else "warning: "
            print(f"{mark}{name} takes {ratio:.2f}x of what it took in {asked.root}")


if __name__ == "__main__":
    main()
