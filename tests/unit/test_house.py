"""The size of the house: modules that one can read, and not many of them."""

from __future__ import annotations

import ast
import re
from collections import Counter
from pathlib import Path
from statistics import median

import pytest

from unit.doors import TESTS, behind_doors, is_before_doors, modules

PACKAGE = Path(__file__).parents[2] / "engine" / "cuecard"
LINES = {
    path.relative_to(PACKAGE).as_posix(): len(path.read_text(encoding="utf-8").splitlines())
    for path in PACKAGE.rglob("*.py")
    if "_bundled" not in path.parts
}
CODE = {name: lines for name, lines in LINES.items() if lines}
PARTICIPLE = re.compile(
    "Begun|Chosen|Drawn|Found|Given|Gone|(With)?[Hh]eld|Kept|Known|Left|Made|Said|Seen|Sent|Shown|Spoken|Taken|Told"
    "|Written|.*[^e]ed|.+ing"
)
NOUNS = {"Appended", "Billing", "Finding", "Listing", "Ranking", "Reading", "Recording", "reading"}
"""What ends like a participle and is none; the first is a word of the design."""


@pytest.mark.parametrize("name", sorted(CODE))
def test_a_module_can_be_read(name: str) -> None:
    assert CODE[name] <= 500, "cut it where its subjects part"


def test_modules_are_few_and_no_slices() -> None:
    rooms = Counter(name.partition("/")[0] for name in LINES)

    assert len(LINES) - rooms["studio"] - rooms["library"] <= 420
    assert rooms["studio"] <= 40
    assert rooms["library"] <= 20  # migrations included
    assert 120 <= median(CODE.values()) <= 175


def test_a_class_is_a_noun_that_no_other_class_has() -> None:
    names = [
        each.name
        for module in PACKAGE.rglob("*.py")
        for each in ast.walk(ast.parse(module.read_text(encoding="utf-8")))
        if isinstance(each, ast.ClassDef)
    ]
    ends = [re.split(r"(?=[A-Z])|_", name)[-1] for name in names]

    assert {end for end in ends if PARTICIPLE.fullmatch(end)} <= NOUNS
    assert [name for name, count in Counter(names).items() if count > 1 and name[0] != "_"] == ["Cuecard"]


def test_every_module_says_what_it_is_for() -> None:
    told = {name: (PACKAGE / name).read_text(encoding="utf-8").lstrip().startswith('"""') for name in CODE}

    assert [name for name, has in told.items() if not has] == []


def test_tests_of_a_room_stand_in_a_folder_of_its_name() -> None:
    """Besides, there are the example with its server, the five systems, and what is thrown at all rooms."""
    rooms = {name.partition("/")[0].removesuffix(".py") for name in LINES}
    folders = {path.parent.relative_to(TESTS / "unit").parts[0] for path in (TESTS / "unit").rglob("*/test_*.py")}

    assert folders - rooms == {"cms", "systems", "robustness"}


def test_tests_survive_a_redesign() -> None:
    """Many of them go through public doors alone, so that what is behind the doors may be built anew."""
    through_doors = [test for test in modules() if is_before_doors(test)]

    assert len(through_doors) >= 200
    assert {test.relative_to(TESTS).parts[0] for test in through_doors} >= {"cases", "docs", "property", "unit"}


@pytest.mark.parametrize(
    ("test", "name"),
    [
        ("unit/pipeline/history/test_window.py", "cuecard.pipeline.history.selection.select"),  # by itself
        ("unit/server/test_more_attacks.py", "cuecard.server.service.Service"),  # by a fixture
        ("unit/reload/test_processes.py", "cuecard.reload.settle"),  # by a text
    ],
)
def test_what_a_test_reaches_is_found_wherever_it_is_named(test: str, name: str) -> None:
    assert name in behind_doors(TESTS / test)
