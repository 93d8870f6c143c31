"""Finds the agent and the files of a test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from cuecard.config.documents.validation import validate
from cuecard.config.documents.yaml_text import read_yaml
from cuecard.config.file_kinds import refuse_other_kind
from cuecard.config.turn_file import TurnFile
from cuecard.errors import InputError, Problem
from cuecard.outside.content import find_content
from cuecard.outside.paths import is_file, is_there
from cuecard.outside.reading import read_text
from cuecard.outside.yaml_files import AGENT_FILES


def agent_of(node: pytest.Item) -> Path:
    """The agent of a test: its marker, the setting `cuecard_agent`, or the nearest `agent.yaml` above it.

    Raises:
        InputError: when there is none.
    """
    marker = node.get_closest_marker("cuecard")
    named = marker.kwargs.get("agent") or next(iter(marker.args), None) if marker else None
    if named:
        return find_file(node, str(named))
    if setting := node.config.getini("cuecard_agent"):
        beside = node.config.rootpath / setting
        return beside if is_there(beside) else find_content(Path(setting))
    for folder in _upward(node):
        for name in AGENT_FILES:
            if is_file(folder / name):
                return folder / name
    hint = "set `cuecard_agent` in the pytest settings, or mark the test: @pytest.mark.cuecard(agent=...)"
    raise InputError(Problem("no-agent", "no agent.yaml in the test's folder or above it", hint, node.nodeid))


def find_file(node: pytest.Item, name: str) -> Path:
    """A file named by a test: next to the test, above it, or shipped with cuecard.

    Raises:
        InputError: when it is not found.
    """
    for folder in _upward(node):
        if is_there(folder / name):
            return folder / name
    shipped = find_content(Path(name))
    if is_there(shipped):
        return shipped
    hint = "paths are relative to the test's folder or one above it"
    raise InputError(Problem("missing-file", f"there is no {name}", hint, node.nodeid))


def read_turn(path: Path) -> TurnFile:
    """A turn file.

    Raises:
        SpecError: with all of its problems.
    """
    source = read_text(path)
    document = read_yaml(source.text, source.name)
    refuse_other_kind(document, "turn")
    return validate(document, TurnFile)


def _upward(node: pytest.Item) -> Iterator[Path]:
    """The folder of the test and those above it, up to the root of the tests."""
    here, root = node.path.parent, node.config.rootpath
    yield here
    while here not in (root, here.parent):
        here = here.parent
        yield here
