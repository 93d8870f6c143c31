"""The size of the house: modules that one can read, and not many of them."""

from __future__ import annotations

from pathlib import Path
from statistics import median

import pytest

PACKAGE = Path(__file__).parents[2] / "engine" / "cuecard"
LINES = {
    path.relative_to(PACKAGE).as_posix(): len(path.read_text(encoding="utf-8").splitlines())
    for path in PACKAGE.rglob("*.py")
    if "_bundled" not in path.parts
}
CODE = {name: lines for name, lines in LINES.items() if lines}


@pytest.mark.parametrize("name", sorted(CODE))
def test_a_module_can_be_read(name: str) -> None:
    assert CODE[name] <= 500, "cut it where its subjects part"


def test_modules_are_few_and_no_slices() -> None:
    assert len(LINES) <= 400
    assert 120 <= median(CODE.values()) <= 160


def test_every_module_says_what_it_is_for() -> None:
    told = {name: (PACKAGE / name).read_text(encoding="utf-8").lstrip().startswith('"""') for name in CODE}

    assert [name for name, has in told.items() if not has] == []
