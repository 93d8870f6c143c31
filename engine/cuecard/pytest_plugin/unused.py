"""Snapshots that no test asks for any more, where all tests of a file have run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from cuecard.testing.goldens import FOLDER, unused

_PARTIAL = ("failed", "error", "skipped", "xfailed", "deselected")
"""Tests with one of these outcomes may use a snapshot that they did not come to ask for."""


def find_unused(stats: Mapping[str, Sequence[Any]], config: pytest.Config, used: set[Path]) -> list[Path]:
    """The snapshots of files all of whose tests have passed, and that none of them asked for.

    Args:
        stats: the reports of the terminal, by outcome.
        config: of the run; one that chose among the tests of a file tells nothing of that file.
        used: the snapshots that were asked for.
    """
    if config.getoption("keyword") or config.getoption("lf", default=False):
        return []
    chosen = {_file(config, arg) for arg in config.args if "::" in arg}
    partial = {_file(config, each.nodeid) for name in _PARTIAL for each in stats.get(name, ())}
    passed = {_file(config, each.nodeid) for each in stats.get("passed", ())}
    return [
        path for test in sorted(passed - partial - chosen) for path in unused(test.parent / FOLDER / test.stem, used)
    ]


def _file(config: pytest.Config, nodeid: str) -> Path:
    return config.rootpath / nodeid.partition("::")[0]
