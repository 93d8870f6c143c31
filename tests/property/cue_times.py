"""The shipped CMS agent with cues that wait for a tool's first result, and with searches ahead of the model's own."""

from __future__ import annotations

import shutil
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from cuecard import Engine
from cuecard.types import Agent

ROOT = Path(__file__).parents[2]
SAID = "tools:\n  cues: {on_discovery: [before, gotcha], on_result: [after, next]}\n  ahead: {}\n"


@cache
def timed() -> Agent:
    with TemporaryDirectory() as folder:
        for part in ("prompts/cms", "tool_instructions/cms"):
            shutil.copytree(ROOT / part, Path(folder) / part)
        file = Path(folder) / "prompts" / "cms" / "agent.yaml"
        file.write_text(file.read_text(encoding="utf-8").replace("tools:\n", SAID, 1), encoding="utf-8")
        return Engine.open(file).agent
