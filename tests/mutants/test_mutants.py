"""The list of mutants holds for the code as it is; `make mutate` runs them."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

import pytest

from mutants.mutants import LIST, Mutant, mistakes, read_mutants

MUTANTS = read_mutants()


def test_every_pattern_is_found_once_and_every_test_exists() -> None:
    assert [*mistakes(MUTANTS)] == []


def test_the_parts_where_a_mistake_hurts_have_mutants() -> None:
    parts = {mutant.file.partition("/")[0] for mutant in MUTANTS}

    assert {"pipeline", "template", "conversation.py"} <= parts
    assert len(MUTANTS) >= 48


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda m: replace(m, find="no such text"), "holds its pattern 0 times, not once"),
        (lambda m: replace(m, find="e"), "times, not once"),
        (lambda m: replace(m, replace=m.find), "changes nothing"),
        (lambda m: replace(m, replace="("), "is no Python"),
        (lambda m: replace(m, file="no.py"), "no.py"),
        (lambda m: replace(m, tests=("tests/no.py",)), "there is no tests/no.py"),
        (lambda m: replace(m, tests=(f"{m.tests[0].partition('::')[0]}::test_no",)), "has no test_no"),
    ],
)
def test_a_stale_mutant_is_named(change: Callable[[Mutant], Mutant], told: str) -> None:
    (line,) = mistakes((change(MUTANTS[0]),))

    assert MUTANTS[0].name in line or "no.py" in line
    assert told in line


def test_a_name_appears_once() -> None:
    assert "twice" in next(mistakes((MUTANTS[0], MUTANTS[0])))


def test_the_page_lists_the_survivors_with_their_reasons() -> None:
    page = LIST.with_name("README.md").read_text(encoding="utf-8")
    alive = [mutant for mutant in MUTANTS if mutant.survives]

    assert f"Of {len(MUTANTS)} mutants, {len(alive)} survive:" in page
    assert re.findall(r"^\| `(\S+)` \| (.*) \|$", page, re.MULTILINE) == [(m.name, m.survives) for m in alive]
