"""Conversations that go on in another process, which shares nothing but the folder of states."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from cuecard import Call, Engine, Pins, ToolResult, Turn, watch
from cuecard.types import ReloadPolicy, States
from property.editions import TOOLS, Edition
from property.elsewhere import NOW, Elsewhere, elsewhere, go_on

SMALL = {"tokens": {"encoding": "cl100k_base"}}
"""Half of a token table to unpack in each process."""
REASONS = {
    "next-conversation": "the state that this conversation started with",
    "next-call": "the newest state when this call started",
}


class Following:
    """A process that has served one state, and then another: it has both in memory, and nothing on disk."""

    def __init__(self, first: Engine, second: Engine) -> None:
        self.current, self.states, self.home = first, States("/nowhere"), Path()
        self.pins = Pins(self)
        self.pins.serve()
        self.current = second

    def remake(self, sources: object, /) -> Engine:
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


@pytest.fixture(scope="module", name="processes")
def _processes() -> Iterator[tuple[Elsewhere, Elsewhere]]:
    with elsewhere() as first, elsewhere() as second:
        yield first, second


@pytest.mark.parametrize("policy", ["next-conversation", "next-call"])
def test_a_conversation_continues_in_another_process_and_after_a_restart_byte_for_byte(
    tmp_path: Path, policy: ReloadPolicy, processes: tuple[Elsewhere, Elsewhere]
) -> None:
    chance = seeded(policy)
    states, here, there = tmp_path / "states", tmp_path / "here", tmp_path / "there"
    here.mkdir()
    there.mkdir()
    edition = Edition(policy=policy, more=SMALL)
    begun: list[dict[str, Any]] = []
    engines: list[Engine] = []
    for _ in range(6):
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
    second, restarted = (process.go_on(there, states, stored) for process in processes)

    assert json.dumps([each["before"] for each in second]) == json.dumps([each["before"] for each in expected])
    assert json.dumps(second) == json.dumps(expected)
    assert {each["reason"] for each in second} == {REASONS[policy]}
    assert second == restarted, "by a process that knows nothing of what the other has served"


def test_next_conversation_asks_nothing_of_the_files_of_the_other_process(
    tmp_path: Path, processes: tuple[Elsewhere, Elsewhere]
) -> None:
    chance = seeded("three folders")
    states, folders = tmp_path / "states", [tmp_path / name for name in ("first", "second", "third")]
    edition = Edition(policy="next-conversation", more=SMALL)
    begun = []
    for folder in folders:
        folder.mkdir()
        edition = edited(chance, edition)
        edition.write(folder)
        with watch(folder, states=states) as watcher:
            begun.append(begin(Pins(watcher), chance, edition.search))
    one, other = processes
    answers = [process.go_on(folder, states, begun) for process, folder in zip((one, other, one), folders, strict=True)]

    assert answers[0] == answers[1] == answers[2]
