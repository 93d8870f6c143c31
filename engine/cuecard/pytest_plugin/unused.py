"""Snapshots that no test uses any more, for files whose tests have all run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from cuecard.testing.goldens import FOLDER, unused

_PARTIAL = ("failed", "error", "skipped", "xfailed", "deselected")
"""Tests with one of these outcomes may not have reached all of their snapshots."""


def find_unused(stats: Mapping[str, Sequence[Any]], config: pytest.Config, used: set[Path]) -> list[Path]:
    """The unused snapshots of files whose tests have all passed.

    Args:
        stats: the reports of the terminal, by outcome.
        config: the configuration of the run; if it selected only some tests of a file, that file is skipped.
        used: the snapshots that were used.
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
