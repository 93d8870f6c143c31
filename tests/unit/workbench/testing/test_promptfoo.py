"""Prompts in promptfoo: the functions by themselves, and under the npm package that `make promptfoo` installs."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from cuecard import InputError
from cuecard.workbench.testing.promptfoo import call_api, prompt

ROOT = Path(__file__).parents[4]
EXAMPLE = ROOT / "examples" / "evals"
PROGRAM = ROOT / ".tools" / "promptfoo" / "node_modules" / "promptfoo" / "dist" / "src" / "entrypoint.js"
CONFIG = {"agent": "agent.yaml", "basePath": str(EXAMPLE)}
JANA = {"turn": "turns/jana.yaml"}
WRONG = """\
  - description: what the prompt does not say
    vars: {turn: turns/jana.yaml}
    assert:
      - {type: contains, value: You write to Jana.}
"""


def test_a_prompt_function_gives_messages() -> None:
    messages = prompt({"vars": JANA, "config": CONFIG})

    assert [message["role"] for message in messages] == ["system"]
    assert "You talk with Jana." in messages[0]["content"]


def test_messages_of_a_turn_appear_after_the_prompt(tmp_path: Path) -> None:
    turn = tmp_path / "turn.yaml"
    turn.write_text("inputs: {customer: Jana}\nmessage: Is there bread?\n", encoding="utf-8")
    messages = prompt({"vars": {"turn": str(turn)}, "config": CONFIG})

    assert [(message["role"], message["content"][:8]) for message in messages][-1] == ("user", "Is there")


def test_a_provider_answers_with_the_prompt_its_tokens_and_its_cost() -> None:
    answer = call_api("", {"config": {**CONFIG, "model": "gpt-4o", "price": 2.5}}, {"vars": JANA})

    assert "You talk with Jana." in answer["output"]
    assert answer["tokenUsage"] == {"total": 16, "prompt": 16, "completion": 0}
    assert answer["cost"] == pytest.approx(16 * 2.5 / 1_000_000)
    assert answer["metadata"]["sections"] == {"identity": 8, "customer": 5, "rules": 3}


def test_inputs_of_a_test_go_over_those_of_the_turn() -> None:
    both = call_api("", {"config": CONFIG}, {"vars": {**JANA, "inputs": {"customer": "Max"}}})
    alone = call_api("", {"config": CONFIG}, {"vars": {"inputs": {"customer": "Max"}}})

    assert "You talk with Max." in both["output"]
    assert both["output"] == alone["output"]
    assert "cost" not in both


@pytest.mark.parametrize(
    ("config", "given", "message"),
    [
        ({}, {}, "the agent or the turn is missing or not a string"),
        (CONFIG, {"turn": 3}, "the agent or the turn is missing or not a string"),
        (CONFIG, {"inputs": "Max"}, "the agent or the turn is missing or not a string"),
        (CONFIG, {"turn": "turns/jan.yaml"}, "jan.yaml"),
        (CONFIG, {"inputs": {"custmer": "Max"}}, "did you mean `customer`?"),
        ({**CONFIG, "model": "gpt-4o", "price": "2"}, JANA, "`price` is not a number"),
        ({**CONFIG, "model": "gtp-4o", "price": 2}, JANA, "unknown model"),
    ],
)
def test_a_failure_of_a_tool_function_is_an_error_in_the_answer(
    config: dict[str, Any], given: dict[str, Any], message: str
) -> None:
    answer = call_api("", {"config": config}, {"vars": given})

    assert list(answer) == ["error"]
    assert message in answer["error"]


def test_a_failure_of_a_prompt_function_is_raised() -> None:
    with pytest.raises(InputError, match="write `config:"):
        prompt({"vars": {}})


def evaluate(folder: Path, home: Path) -> tuple[int, list[dict[str, Any]]]:
    """The exit code of promptfoo and its results by test; it may not keep, send or look for anything."""
    quiet = dict.fromkeys(("PROMPTFOO_DISABLE_TELEMETRY", "PROMPTFOO_DISABLE_UPDATE"), "1")
    environment = {**os.environ, **quiet, "PROMPTFOO_CONFIG_DIR": str(home), "PROMPTFOO_PYTHON": sys.executable}
    options = ["eval", "--no-cache", "--no-write", "--no-table", "-o", str(home / "out.json")]
    command = ["node", str(PROGRAM), *options]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, timeout=300, check=False)
    results: list[dict[str, Any]] = json.loads((home / "out.json").read_bytes())["results"]["results"]
    # promptfoo evaluates four at once and writes each result when it is there.
    return done.returncode, sorted(results, key=lambda result: (result["testIdx"], result["promptIdx"]))


@pytest.mark.skipif(
    not (shutil.which("node") and PROGRAM.exists()), reason="promptfoo is not installed: `make promptfoo`"
)
def test_promptfoo_evaluates_the_example_and_sees_what_is_wrong(tmp_path: Path) -> None:
    shutil.copytree(EXAMPLE, tmp_path / "evals")
    with (tmp_path / "evals" / "promptfooconfig.yaml").open("a", encoding="utf-8") as config:
        config.write(WRONG)
    code, results = evaluate(tmp_path / "evals", tmp_path)

    assert (code, [result["success"] for result in results]) == (100, [True] * 4 + [False] * 2)
    assert max(result["cost"] for result in results) == pytest.approx(16 * 2.5 / 1_000_000)
