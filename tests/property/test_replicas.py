"""Conversations that go on in another process, which shares nothing but the folder of states."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from cuecard import Call, Engine, Step, ToolResult, Turn, watch
from cuecard.config.documents.texts import AgentSources
from cuecard.model import ReloadPolicy
from cuecard.reload.pins import Pins
from cuecard.reload.states import States
from property.editions import TOOLS, Edition

ROOT = Path(__file__).parents[2]
NOW = datetime(2026, 11, 20, tzinfo=UTC)
ELSEWHERE = """
import json, sys
from pathlib import Path
from cuecard import watch
from property.test_replicas import go_on
from cuecard.reload.pins import Pins

with watch(sys.argv[1], states=sys.argv[2]) as watcher:
    pins = Pins(watcher)
    print(json.dumps([go_on(pins, begun) for begun in json.load(sys.stdin)]))
"""


REASONS = {
    "next-conversation": "the state that this conversation started with",
    "append": "the newest state when this call started",
}


class Following:
    """A process that has served one state, and then another: it has both in memory, and nothing on disk."""

    def __init__(self, first: Engine, second: Engine) -> None:
        self.current, self.states, self.home = first, States("/nowhere"), Path()
        self.pins = Pins(self)
        self.pins.serve()
        self.current = second

    def remake(self, sources: AgentSources, /) -> Engine:
        raise AssertionError(sources)


def seeded(name: str) -> random.Random:
    return random.Random(name)  # noqa: S311 - it chooses examples, the same in every run


def edited(chance: random.Random, edition: Edition) -> Edition:
    """The same agent with one to three edits."""
    edits: list[dict[str, Any]] = [
        {"role": chance.randrange(100)},
        {"extra": chance.randrange(100)},
        {"around": chance.randrange(100)},
        {"note": not edition.note},
        {"core": tuple(chance.sample(TOOLS, 2))},
        {"tools": tuple(chance.choice([0, 1, 2, 3]) for _ in TOOLS)},
        {"search": chance.choice(["tool_search", "find_tools"])},
    ]
    for edit in chance.sample(edits, chance.randint(1, 3)):
        edition = replace(edition, **edit)
    return edition


def begin(pins: Pins, chance: random.Random, search: str) -> dict[str, Any]:
    """A conversation of one to three calls, as the host stores it."""
    history: list[ToolResult] = []
    previous: Call | None = None
    for number in range(chance.randint(1, 3)):
        served = pins.serve(previous=previous)
        turn = Turn({"said": chance.choice("abc")}, now=NOW)
        previous = served.prepare_call(turn, history, previous=previous)
        found = chance.sample(TOOLS, chance.randint(0, 2))
        history.append(ToolResult(search, {"tools": found}, f"{number}"))
    assert previous
    return {"previous": previous.to_json(), "history": [asdict(each) for each in history]}


def go_on(pins: Pins, begun: dict[str, Any]) -> dict[str, Any]:
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


def prompt(step: Step) -> dict[str, Any]:
    return {key: value for key, value in step.to_json().items() if key != "manifest"}


def elsewhere(folder: Path, states: Path, begun: list[dict[str, Any]]) -> list[dict[str, Any]]:
    paths = os.pathsep.join(str(ROOT / name) for name in ("engine", "tests"))
    done = subprocess.run(
        [sys.executable, "-c", ELSEWHERE, str(folder), str(states)],
        input=json.dumps(begun),
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr

    answers: list[dict[str, Any]] = json.loads(done.stdout)
    return answers


@pytest.mark.parametrize("policy", ["next-conversation", "append"])
def test_a_conversation_continues_in_another_process_and_after_a_restart_byte_for_byte(
    tmp_path: Path, policy: ReloadPolicy
) -> None:
    chance = seeded(policy)
    states, here, there = tmp_path / "states", tmp_path / "here", tmp_path / "there"
    here.mkdir()
    there.mkdir()
    edition = Edition(policy=policy)
    begun: list[dict[str, Any]] = []
    engines: list[Engine] = []
    for _ in range(12):
        edition = edited(chance, edition)
        edition.write(here)
        with watch(here, states=states) as watcher:
            engines.append(watcher.current)
            begun.append(begin(Pins(watcher), chance, edition.search))
    stored = json.loads(json.dumps(begun))
    newest = edited(chance, edition)
    newest.write(here)
    newest.write(there)
    with watch(here, states=tmp_path / "of its own") as watcher:
        remembered = [Following(engine, watcher.current) for engine in engines]
    expected = [go_on(each.pins, begun) for each, begun in zip(remembered, stored, strict=True)]
    second = elsewhere(there, states, stored)

    assert json.dumps([each["before"] for each in second]) == json.dumps([each["before"] for each in expected])
    assert json.dumps(second) == json.dumps(expected)
    assert {each["reason"] for each in second} == {REASONS[policy]}
    assert second == elsewhere(there, states, stored), "after a restart"


def test_next_conversation_asks_nothing_of_the_files_of_the_other_process(tmp_path: Path) -> None:
    chance = seeded("three folders")
    states, folders = tmp_path / "states", [tmp_path / name for name in ("first", "second", "third")]
    edition = Edition(policy="next-conversation")
    begun = []
    for folder in folders:
        folder.mkdir()
        edition = edited(chance, edition)
        edition.write(folder)
        with watch(folder, states=states) as watcher:
            begun.append(begin(Pins(watcher), chance, edition.search))
    answers = [elsewhere(folder, states, begun) for folder in folders]

    assert answers[0] == answers[1] == answers[2]
