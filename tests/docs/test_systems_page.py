"""The table of the five systems says where each behaviour is proved; every proof that it names exists."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from cases.system_rows import ROOT, chapters, rows_proved_by

TALKS = "tests/cases/test_system_talks.py"
SYSTEMS = sorted(folder.parent.name for folder in ROOT.glob("prompts/*/agent.yaml"))

CHAPTERS = chapters()
ROWS = [row for rows in CHAPTERS.values() for row in rows]
PROOFS = sorted({proof for row in ROWS for proof in row.proofs})
PLAYED = re.compile(
    r"tests/cases/systems/|tests/cases/test_system_talks\.py::|tests/unit/systems/test_listed_tools\.py::test_promise_14_on_"
)
"""The proofs that are conversations of several turns on a host, whatever they prove."""


@cache
def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@pytest.mark.parametrize("system", SYSTEMS)
def test_every_system_has_a_table(system: str) -> None:
    chapter = [rows for title, rows in CHAPTERS.items() if re.search(rf"\b{system}\b", title, re.IGNORECASE)]

    assert len(chapter) == 1
    assert len(chapter[0]) > 10


def test_every_chapter_is_that_of_a_system() -> None:
    assert len(CHAPTERS) == len(SYSTEMS)


def test_every_behaviour_has_a_proof_or_a_reason_why_it_has_none() -> None:
    assert [row.id for row in ROWS if not row.behaviour or not row.proof] == []
    assert [row for row in ROWS if not row.proofs and not re.match(r"out of scope\b.{10,}", row.proof)] == []


def test_every_row_is_played_turn_after_turn_on_a_host() -> None:
    """A case is played by the test of rows; a test that uses a site of the CMS is run with each use as a turn."""
    assert [row.id for row in ROWS if not row.is_out and not any(map(_is_played, row.proofs))] == []


def _is_played(proof: str) -> bool:
    path, _, name = proof.partition("::")
    if not path.startswith("tests/unit/cms/"):
        return bool(PLAYED.match(proof))
    tests = (node for node in ast.parse(_text(ROOT / path)).body if isinstance(node, ast.FunctionDef))
    return any(test.name == name and "site" in [each.arg for each in test.args.args] for test in tests)


def test_every_talk_has_the_ids_of_the_rows_that_name_it() -> None:
    tests = (node for node in ast.parse(_text(ROOT / TALKS)).body if isinstance(node, ast.FunctionDef))
    ids = {each.name: _ids(each) for each in tests if each.name.startswith("test_")}

    assert ids == {name: sorted(rows_proved_by(f"{TALKS}::{name}")) for name in ids}
    assert all(ids.values())


def _ids(test: ast.FunctionDef) -> list[str]:
    marks = [mark for mark in test.decorator_list if isinstance(mark, ast.Call) and ast.unparse(mark.func) == "rows"]
    return sorted(ast.literal_eval(name) for mark in marks for name in mark.args)


def test_no_id_and_no_behaviour_stands_twice() -> None:
    ids, told = [row.id for row in ROWS], [(row.id.partition("-")[0], row.behaviour) for row in ROWS]

    assert sorted({each for each in ids if ids.count(each) > 1}) == []
    assert sorted({each for each in told if told.count(each) > 1}) == []


def test_every_proof_is_there() -> None:
    assert [proof for proof in PROOFS if not (ROOT / proof.partition("::")[0]).exists()] == []


def test_every_test_that_is_named_is_there() -> None:
    named = [proof.partition("::") for proof in PROOFS if "::" in proof]

    assert [
        f"{path}::{name}"
        for path, _, name in named
        if not re.search(rf"^(async )?def {re.escape(name.partition('[')[0])}\(", _text(ROOT / path), re.MULTILINE)
    ] == []


def _compares(test: ast.AST) -> bool:
    """Whether a test compares values or expects an error; finding a word in a text proves little."""
    checks = [node.test for node in ast.walk(test) if isinstance(node, ast.Assert)]
    compared = [check for check in checks if isinstance(check, ast.Compare)]
    return "raises" in ast.dump(test) or any(
        not isinstance(operator, ast.In | ast.NotIn) for check in compared for operator in check.ops
    )


def test_no_named_test_only_looks_for_words() -> None:
    named = {(path, name.partition("[")[0]) for path, _, name in (proof.partition("::") for proof in PROOFS) if name}

    assert [
        f"{path}::{node.name}"
        for path in sorted({path for path, _ in named})
        for node in ast.walk(ast.parse(_text(ROOT / path)))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and (path, node.name) in named
        if not _compares(node)
    ] == []


def test_a_folder_of_a_case_has_what_is_compared() -> None:
    folders = [ROOT / proof for proof in PROOFS if (ROOT / proof).is_dir()]

    assert [folder for folder in folders if not any(folder.glob("expected*"))] == []
