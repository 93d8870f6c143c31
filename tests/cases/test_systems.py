"""The shipped systems: every ready turn file, and named cases that lay something over them.

`systems/<system>/turns/<turn>.txt` is what `prompts/<system>/turns/<turn>.yaml` makes; turns in a folder `turns/room`
are those of the system's `room.yaml` instead of its `agent.yaml`. `systems/<system>/<case>/` is a folder with
`turn.yaml` and perhaps an `agent.yaml` that extends the shipped one. `expected.txt` is golden.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from cases.system_rows import opened, told
from cuecard import CuecardError, Engine, Message, Step
from cuecard.config.turn_file import TurnFile, to_turn
from cuecard.workbench.played import past_results, read_turn

pytestmark = pytest.mark.repeats

ROOT = Path(__file__).parents[2]
FOLDER = Path(__file__).parent / "systems"
TURNS = sorted(
    (folder.parent.name, file.relative_to(folder).with_suffix("").as_posix())
    for folder in ROOT.glob("prompts/*/turns")
    for file in folder.glob("**/*.yaml")
)
CASES = sorted((file.parents[1].name, file.parent.name) for file in FOLDER.glob("*/*/turn.yaml"))


@pytest.mark.parametrize(("system", "turn"), TURNS)
def test_turn(system: str, turn: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT / "prompts" / system)
    agent = turn.rpartition("/")[0] or "agent"
    outcome = _outcome(Path(f"{agent}.yaml"), Path("turns") / f"{turn}.yaml")
    _compare(outcome, FOLDER / system / "turns" / f"{turn}.txt")


@pytest.mark.parametrize(("system", "case"), CASES)
def test_case(system: str, case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(FOLDER / system / case)
    agent = Path("agent.yaml")
    outcome = _outcome(agent if agent.exists() else ROOT / "prompts" / system / "agent.yaml", Path("turn.yaml"))
    _compare(outcome, FOLDER / system / case / "expected.txt")


def _compare(outcome: str, expected: Path) -> None:
    if os.environ.get("CUECARD_GOLDEN"):
        expected.parent.mkdir(parents=True, exist_ok=True)
        expected.write_text(outcome, encoding="utf-8")
    assert outcome == expected.read_text(encoding="utf-8")


def _outcome(agent: Path, turn: Path) -> str:
    try:
        step = _step(opened(agent.resolve()), read_turn(turn))
    except CuecardError as error:
        return told(error)
    return "".join([*map(_message, step.messages or (Message("system", step.system),)), _appended(step), _record(step)])


def _step(engine: Engine, turn: TurnFile) -> Step:
    call = engine.prepare_call(to_turn(turn, turn.inputs))
    return engine.prepare_step(call, past_results(engine, turn, call).results)


def _message(message: Message) -> str:
    kept = "" if message.persist else " (not stored)"
    content = message.content if isinstance(message.content, str) else json.dumps([*message.content], indent=1)
    calls = "".join(f"\n-> {call.name} {json.dumps(call.arguments)} [{call.id}]" for call in message.tool_calls)
    answer = f" [{message.tool_call_id}]" if message.tool_call_id else ""
    return f"=== {message.role}{answer}{kept}\n{content}{calls}\n"


def _appended(step: Step) -> str:
    return "".join(f"=== appended after {block.after_call_id}\n{block.text}" for block in step.appended)


def _record(step: Step) -> str:
    manifest = step.manifest
    lines = ["=== manifest\n", *(f"{s.tier} {s.id} ({s.source})\n" for s in manifest.sections)]
    lines += [f"left out: {cut.what}: {cut.reason}\n" for cut in manifest.cuts]
    lines += [f"diagnostic {d.code}: {d.message}\n" for d in manifest.diagnostics]
    lines += [f"source {row.name} ({row.path}): {row.status}, {row.characters}\n" for row in manifest.sources]
    lines += [f"neutralised: {what}: {number}\n" for what, number in manifest.trust.items() if number]
    return "".join(lines)
