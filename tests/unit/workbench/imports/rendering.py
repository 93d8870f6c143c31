"""What an imported agent sends: its messages, by the command line."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

from cuecard.workbench.imports.command import import_files
from cuecard.workbench.render import render


def imported(path: Path, folder: Path) -> tuple[int, Path]:
    """The exit code of an import, and the folder of the agent."""
    with redirect_stdout(StringIO()):
        code = import_files([path], folder, check=False, as_json=False)
    return code, next(folder.iterdir())


def messages_of(
    agent: Path, values: Mapping[str, object] | None = None, history: Sequence[tuple[str, str]] = ()
) -> list[tuple[str, str]]:
    """Role and text of each message: of the first turn, or of these inputs after this conversation."""
    turn = agent / "turns" / "first.yaml"
    if values is not None:
        turn = agent / "turn.yaml"
        said = [{"role": role, "content": text} for role, text in history]
        turn.write_text(json.dumps({"inputs": values, "messages": said}), encoding="utf-8")
    printed = StringIO()
    with redirect_stdout(printed):
        render(agent, discovered="", values=[], turn=turn, delivery=None, form="messages")
    return [(each["role"], each["content"]) for each in json.loads(printed.getvalue())]
