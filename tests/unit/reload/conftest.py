from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from cuecard import watch
from unit.reload.demo import QUICK, Folder, Reports


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    made = Folder(tmp_path / "agent")
    made.write_all()
    return made


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / "state"


@pytest.fixture
def start(folder: Folder, state: Path) -> Iterator[Callable[..., Reports]]:
    """Begins to watch the agent; the watcher ends with the test."""
    with ExitStack() as stack:

        def begin(**more: Any) -> Reports:
            options = {"states": state, "pace": QUICK, **more}
            return Reports(stack.enter_context(watch(folder.root, **options)))

        yield begin
