"""Whatever is edited in whatever order: a workspace that has seen it all says what a new one says."""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from cuecard.workspace import Workspace

ROOT = Path(__file__).parents[2]
EDITS = int(os.environ.get("CUECARD_WORKSPACE_EDITS", "110"))
"""Edits in a row; half of them leave what can be read as YAML or as a template."""
WORDS = (
    "page",
    "{{{now}}}",
    "{{#if user}}",
    "{{/if}}",
    "- {id: x, text: y}",
    "\n",
    "  ",
    ": ",
    "[",
    "<role>",
    "2026-11-26",
)


def small(draw: random.Random, text: str) -> str:
    """Another word in a text: most files stay what they are."""
    words = [at for at, char in enumerate(text) if char == " " and text[at + 1 : at + 2].isalpha()]
    at = draw.choice(words) if words else 0
    return f"{text[: at + 1]}{draw.choice(('Then', 'Also', 'Never'))} {text[at + 1 :]}"


def wild(draw: random.Random, text: str) -> str:
    """A piece taken out, put in or doubled anywhere: few files stay what they are."""
    at, more = draw.randrange(len(text) + 1), draw.randrange(30)
    put = draw.choice(("", draw.choice(WORDS), text[at : at + more] * 2))
    return text[:at] + put + text[at + more :]


def kept_lines(draw: random.Random, text: str) -> str:
    """A line that goes, or comes again."""
    lines = text.splitlines(keepends=True) or [""]
    at = draw.randrange(len(lines))
    return "".join(lines[:at] + lines[at : at + 1] * draw.choice((0, 2)) + lines[at + 1 :])


KINDS: tuple[Callable[[random.Random, str], str], ...] = (small, small, wild, kept_lines)


@pytest.mark.parametrize("name", ["cms", "polyant"])
def test_what_was_kept_changes_no_problem(name: str, tmp_path: Path) -> None:
    for folder in ("prompts", "tool_instructions"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    agent = tmp_path / "prompts" / name
    warm = Workspace([agent])
    warm.problems()
    draft = warm.check(agent).draft
    assert draft
    files = sorted((agent / source.path).resolve() for source in draft.sources.texts())
    saved = {path: path.read_text(encoding="utf-8") for path in files}
    draw = random.Random(name)  # noqa: S311 - a seeded test
    now: dict[Path, str] = {}
    for number in range(EDITS):
        path = draw.choice(files)
        now[path] = draw.choice(KINDS)(draw, now.get(path, saved[path])) if draw.random() < 0.7 else saved[path]
        warm.open(path, now[path])
        if number % 5 == 4:  # a new one costs a second
            cold = Workspace([agent])
            for each, text in now.items():
                cold.open(each, text)
            assert warm.problems() == cold.problems(), number
        else:
            warm.problems()
