"""docs/comparison.md and its figures on docs/benchmarks.md: versions of the lock, a row for every library, true."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path

import pytest

from bench.peers.__main__ import HEAD, MARKS
from bench.peers.libraries import LIBRARIES
from bench.peers.measure import first_prompt, forged, missing, unclosed
from bench.peers.prompt import expected
from docs.tables import cells, rows

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "comparison.md").read_text(encoding="utf-8")
MEASURED = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")
LOCK = (ROOT / "requirements" / "compare.lock").read_text(encoding="utf-8")
DEV_LOCK = (ROOT / "requirements" / "dev.lock").read_text(encoding="utf-8")
LOCKED = dict(re.findall(r"^([\w.-]+)==([\w.]+)", LOCK, re.MULTILINE))
LOCKED_FOR_DEV = dict(re.findall(r"^([\w.-]+)==([\w.]+)", DEV_LOCK, re.MULTILINE))
TABLE = {row[0]: row for row in rows(MEASURED, HEAD.partition("\n")[0])}
NEIGHBOURS = {re.sub(r"\[(.*?)\].*", r"\1", row[0]): row for row in rows(PAGE, "| | version |")}
HERE = [
    name for name, module in (("cuecard", "cuecard"), ("Jinja2", "jinja2"), ("pybars3", "pybars")) if find_spec(module)
]
HERE += ["LangChain"] if find_spec("langchain_core") else []


def test_the_table_is_between_its_marks_and_says_where_and_when() -> None:
    between = MEASURED.partition(MARKS[0])[2].partition(MARKS[1])[0]

    assert between.startswith(HEAD)
    assert re.search(r"`make compare` on \d{4}-\d\d-\d\d: \d+ cores, ", between)


def test_every_library_has_a_row_with_the_version_of_the_lock() -> None:
    versions = {
        name: (LOCKED_FOR_DEV if library.dev else LOCKED).get(library.package, "this checkout")
        for name, library in LIBRARIES.items()
    }

    assert {name: row[1] for name, row in TABLE.items()} == versions


@pytest.mark.parametrize("name", HERE)
def test_a_row_says_what_the_library_does(name: str) -> None:
    library = LIBRARIES[name]

    assert first_prompt(library)[1]
    assert TABLE[name][5:] == [missing(library), unclosed(library), forged(library)]


def test_eleven_neighbours_have_versions_and_both_sides_of_the_comparison() -> None:
    locked = {
        "Pydantic AI": "pydantic-ai-slim",
        "LangChain": "langchain-core",
        "dotprompt": "dotpromptz",
        "BAML": "baml-py",
    }

    assert len(NEIGHBOURS) == 11
    assert all(len(row) == 4 and all(row) for row in NEIGHBOURS.values())
    for name, row in NEIGHBOURS.items():
        package = locked.get(name, name.lower().replace(" ", "-"))
        if package in LOCKED:
            assert LOCKED[package] in row[1].split()[:2], name


def test_every_requirement_of_the_measurement_has_a_hash() -> None:
    assert LOCK.count("==") == len(LOCKED) > 20
    assert all("--hash=sha256:" in part for part in re.split(r"^(?=[\w.-]+==)", LOCK, flags=re.MULTILINE)[1:])


def test_no_two_measured_packages_overwrite_each_others_files() -> None:
    assert "pybars4" in LOCKED, "semantic-kernel requires it"
    assert "pybars3" not in LOCKED, "both install the module `pybars`, and the one that is written last wins"


def test_the_prompt_has_sixty_lines() -> None:
    assert len(expected().splitlines()) == 60
    assert cells("| a | b |") == ["a", "b"]
