"""A process that goes on with conversations which another one has begun: both have only the folder of states."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

from cuecard import Call, Pins, Step, ToolResult, Turn, watch

Json = dict[str, Any]
ROOT = Path(__file__).parents[2]
NOW = datetime(2026, 11, 20, tzinfo=UTC)


def go_on(pins: Pins, begun: Json) -> Json:
    """The next call of a stored conversation, a step of the call before, and why this state served."""
    previous = Call.from_json(begun["previous"])
    history = [ToolResult(**each) for each in begun["history"]]
    last = pins.serve(previous=previous, call=previous)
    served = pins.serve(previous=previous)
    turn = Turn({"said": "next"}, now=NOW)
    call = served.prepare_call(turn, history, previous=previous)
    return {
        "call": call.to_json(),
        "step": prompt(served.engine.prepare_step(call, history)),
        "before": prompt(last.engine.prepare_step(previous, history)),
        "reason": served.reason,
    }


def prompt(step: Step) -> Json:
    return {key: value for key, value in step.to_json().items() if key != "manifest"}


@dataclass(frozen=True)
class Elsewhere:
    """The other process, which starts to watch a folder for each question."""

    questions: IO[str]
    answers: IO[str]

    def go_on(self, folder: Path, states: Path, begun: list[Json]) -> list[Json]:
        self.questions.write(json.dumps([str(folder), str(states), begun]) + "\n")
        self.questions.flush()
        answer = self.answers.readline()
        assert answer, "the process has failed"
        goes_on: list[Json] = json.loads(answer)
        return goes_on


@contextmanager
def elsewhere() -> Iterator[Elsewhere]:
    """A new process, until the end of the block."""
    paths = os.pathsep.join(str(ROOT / name) for name in ("engine", "tests"))
    command, environment = [sys.executable, "-m", "property.elsewhere"], {**os.environ, "PYTHONPATH": paths}
    with subprocess.Popen(
        command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin
        assert process.stdout
        yield Elsewhere(process.stdin, process.stdout)


def main() -> None:
    """Answer questions, one on a line, until there are no more."""
    for line in sys.stdin:
        folder, states, begun = json.loads(line)
        with watch(folder, states=states) as watcher:
            pins = Pins(watcher)
            print(json.dumps([go_on(pins, each) for each in begun]), flush=True)


if __name__ == "__main__":
    main()
