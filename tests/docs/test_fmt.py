"""docs/fmt.md: its files, written as they stand there, and what its commands print."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from unit.run.talking import cuecard

PAGE = (Path(__file__).parents[2] / "docs" / "fmt.md").read_text(encoding="utf-8")
FILE = re.compile(r"^`([\w./]+)`:\n\n```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL)
CONSOLE = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^\$ cuecard (.*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)


def test_the_commands_print_what_the_page_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in FILE.findall(PAGE):
        Path(name).write_text(text, encoding="utf-8")
    commands = COMMAND.findall(CONSOLE.findall(PAGE)[0])
    shown = [(words, cuecard(monkeypatch, *shlex.split(words)).out) for words, _ in commands]

    assert len(commands) == 4
    assert shown == commands
