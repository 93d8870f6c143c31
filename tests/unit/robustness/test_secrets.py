"""Row 54 of the acceptance table for robustness: a secret gets into no error, manifest, log or representation."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from command_line import main
from cuecard import CuecardError, Engine, Memory, ToolResult, Turn
from cuecard.reload.engines import Secrets
from forked import ended
from unit.robustness.agents import AGENT, NOW, write_agent

CANARY = "c4n4ry-S3cret-that-nobody-may-see"


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    return Engine.open(write_agent(tmp_path / "agent"), salt=CANARY, key=CANARY)


def test_row_54_manifests_and_representations_hold_no_value(engine: Engine, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    chat = engine.conversation()
    history = (ToolResult("get_page", {"token": CANARY}, "call-1"),)
    call = engine.prepare_call(Turn({"user": CANARY}, now=NOW, metadata={"token": CANARY}), history)
    step = engine.prepare_step(call, history)

    assert CANARY in step.system
    held = repr(Secrets(CANARY, CANARY))
    for text in (json.dumps(step.manifest.to_json()), repr(step.manifest), repr(engine), str(engine), repr(chat), held):
        assert CANARY not in text
    assert CANARY not in caplog.text


WRONG: dict[str, Callable[[Engine], Any]] = {
    "an input of the wrong type": lambda engine: engine.prepare_call(Turn({"user": [CANARY]}, now=NOW)),
    "an input that is none": lambda engine: engine.prepare_call(Turn({"usr": CANARY}, now=NOW)),
    "a memory that is none": lambda engine: engine.prepare_call(Turn(memory=CANARY)),  # type: ignore[arg-type]
    "a history that is none": lambda engine: engine.prepare_call(Turn(now=NOW), CANARY),  # type: ignore[arg-type]
    "an entity that is none": lambda engine: engine.prepare_call(Turn(memory=Memory([CANARY]))),  # type: ignore[arg-type]
    "metadata that are none": lambda engine: engine.prepare_call(Turn(metadata=CANARY)),  # type: ignore[arg-type]
    "messages that are none": lambda engine: engine.prepare_call(Turn(messages=CANARY)),  # type: ignore[arg-type]
    "a conversation that is none": lambda engine: engine.load(f'{{"token": "{CANARY}"}}'),
    "a conversation that was changed": lambda engine: engine.load(
        engine.dump(engine.conversation()).replace("{", f'{{"token": "{CANARY}", ', 1)
    ),
    "tools that are none": lambda engine: engine.with_tools([CANARY]),  # type: ignore[list-item]
    "a salt that is none": lambda _: Engine.open(".", salt=[CANARY]),  # type: ignore[arg-type]
    "a key that is none": lambda _: Engine.open(".", key=[CANARY]),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG)
def test_row_54_errors_of_argument_checks_contain_no_value(wrong: Callable[[Engine], Any], engine: Engine) -> None:
    with pytest.raises(CuecardError) as caught:
        wrong(engine)

    error: BaseException | None = caught.value
    while error:
        assert CANARY not in f"{error}{error!r}"
        error = error.__cause__
    assert CANARY not in json.dumps([problem.to_json() for problem in caught.value.problems])


@pytest.mark.parametrize("name", ["CUECARD_DELIVERY", "CUECARD_SALT"])
def test_row_54_values_of_the_environment_are_not_repeated(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(name, CANARY)
    monkeypatch.setattr("sys.argv", ["cuecard", "render", str(write_agent(tmp_path)), "--json"])
    with pytest.raises(SystemExit):
        main()
    shown = capsys.readouterr()

    assert shown.out or shown.err
    assert CANARY not in shown.out + shown.err


SERVER = f"""\
agent: agent.yaml
server: {{command: ["PYTHON", "-c", "raise SystemExit(3)"], env: {{TOKEN: "{CANARY}"}}, timeout: 20}}
"""


def test_row_54_a_server_that_dies_shows_nothing_of_its_environment(tmp_path: Path) -> None:
    write_agent(tmp_path, {"agent.yaml": AGENT, "assistant.yaml": SERVER.replace("PYTHON", sys.executable)})
    done = ended("run", tmp_path / "assistant.yaml", TOKEN=CANARY)

    assert CANARY not in done.stdout + done.stderr
