"""`cuecard run` as people type it, with a model of the test's own."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from pydantic_ai.messages import ModelMessage, ModelResponse
from pydantic_ai.models.function import AgentInfo, FunctionModel

from command_line import main

Decide = Callable[[list[ModelMessage], AgentInfo], ModelResponse]

AGENT = """\
agent: shop
sections:
  - {id: role, text: "You help in the shop of {{owner}}."}
inputs: {owner: {type: string, default: Ann}}
tools: {core: [tool_search]}
"""


@dataclass(frozen=True)
class Ran:
    """What a command left behind."""

    code: int
    out: str
    err: str

    def of(self, kind: str) -> list[dict[str, Any]]:
        """Its JSON lines of one kind."""
        lines = [json.loads(line) for line in self.out.splitlines()]
        return [line for line in lines if line["event"] == kind]


def cuecard(monkeypatch: pytest.MonkeyPatch, *words: str | Path, typed: str = "") -> Ran:
    """Run a command; what a pipe would bring is `typed`."""
    out, err = io.StringIO(), io.StringIO()
    with monkeypatch.context() as here, redirect_stdout(out), redirect_stderr(err):
        here.setattr("sys.argv", ["cuecard", *map(str, words)])
        here.setattr("sys.stdin", io.StringIO(typed))
        with pytest.raises(SystemExit) as ended:
            main()
    return Ran(int(ended.value.code or 0), out.getvalue(), err.getvalue())


def deciding(monkeypatch: pytest.MonkeyPatch, decide: Decide) -> None:
    """Let this function be what `--model test` names."""

    async def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        return decide(messages, info)

    monkeypatch.setattr("pydantic_ai.models.test.TestModel", lambda: FunctionModel(answer))


def write(folder: Path, files: dict[str, str]) -> None:
    """Write these files."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def forget_modules(names: Sequence[str]) -> None:
    """Modules of an earlier test are not those of the next one."""
    for name in names:
        sys.modules.pop(name, None)
