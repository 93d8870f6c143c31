"""Pages that people follow from top to bottom: each is walked in one empty folder, as a reader would type it.

A block behind a line with a path alone is a file of that name; if its language is `diff`, it changes that file.
A `console` block has commands with what they print.
"""

from __future__ import annotations

import doctest
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from docs import reader

BLOCK = re.compile(r"^(?:`(?P<file>\S+)`:\n\n)?```(?P<language>\w+)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
_SHELL = {
    "COLUMNS": "100",
    "NO_COLOR": "1",
    "PYTHONUNBUFFERED": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_AUTHOR_NAME": "Reader",
    "GIT_AUTHOR_EMAIL": "reader@example.org",
    "GIT_COMMITTER_NAME": "Reader",
    "GIT_COMMITTER_EMAIL": "reader@example.org",
}

Typed = Callable[[Path, Sequence[str], Mapping[str, str]], str]
"""Runs a command of Python in a folder, with an environment, and says what it prints."""


class Walk:
    """A reader in an empty folder.

    Attributes:
        folder: where the reader stands now.
        steps: how many blocks the page had.
    """

    def __init__(self, folder: Path, environment: Mapping[str, str] | None = None, typed: Typed = reader.typed) -> None:
        self.folder = folder
        self.steps = 0
        self._typed = typed
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
        self._environment = {**os.environ, "PATH": path, **_SHELL, **(environment or {})}
        for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY"):
            if name not in (environment or {}):
                self._environment.pop(name, None)

    def follow(self, page: str) -> None:
        """Do everything that the page says, in its order."""
        for block in BLOCK.finditer(page):
            self.steps += 1
            self._do(block["file"], block["language"], block["text"])

    def run(self, command: list[str]) -> str:
        """What a command prints: results and errors in the order in which a terminal shows them."""
        if command[0] in reader.PROGRAMS:
            return self._typed(self.folder, command, self._environment)
        done = subprocess.run(
            command,
            cwd=self.folder,
            env=self._environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            check=False,
        )
        return done.stdout

    def _do(self, file: str | None, language: str, text: str) -> None:
        if file and language == "diff":
            place = self.folder / file
            place.write_text(changed(place.read_text(encoding="utf-8"), text), encoding="utf-8")
        elif file:
            (self.folder / file).parent.mkdir(parents=True, exist_ok=True)
            (self.folder / file).write_text(text, encoding="utf-8")
        else:
            assert language == "console", f"nothing does this: {text}"
            for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
                command, _, expected = part.partition("\n")
                self._type(command, expected)

    def _type(self, line: str, expected: str) -> None:
        command = shlex.split(line, comments=True)
        if command[0] == "cd":
            self.folder = (self.folder / command[1]).resolve()
        else:
            shown = self.run(command)
            assert _fits(expected, shown), f"$ {line} prints\n{shown}"


def changed(text: str, diff: str) -> str:
    """The text with the lines that begin with `-` replaced by those that begin with `+`."""
    lines = [(line[:1], line[1:]) for line in diff.splitlines(keepends=True)]
    before = "".join(line for sign, line in lines if sign in " -\n") or "\n"
    after = "".join(line for sign, line in lines if sign in " +\n")

    assert text.count(before) == 1, f"stands {text.count(before)} times in the file:\n{before}"
    return text.replace(before, after)


def _fits(expected: str, shown: str) -> bool:
    shown = shown if shown.endswith("\n") or not shown else f"{shown}\n"
    return doctest.OutputChecker().check_output(expected, shown, doctest.ELLIPSIS)
