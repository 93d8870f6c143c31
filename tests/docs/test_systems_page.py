"""docs/systems.md says where each behaviour of the five systems is proved; every proof that it names exists."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "systems.md").read_text(encoding="utf-8")
SYSTEMS = sorted(folder.parent.name for folder in ROOT.glob("prompts/*/agent.yaml"))

CELL = re.compile(r"(?<!\\)\|")
PROOF = re.compile(r"`(tests/[^`\s]+)`")


def _chapters() -> dict[str, list[tuple[str, str]]]:
    """Heading to the rows of its table: the behaviour, and where it is proved."""
    parts = re.split(r"^## (.*)\n", PAGE, flags=re.MULTILINE)
    return {title: _rows(text) for title, text in zip(parts[1::2], parts[2::2], strict=True)}


def _rows(text: str) -> list[tuple[str, str]]:
    lines = [CELL.split(line.strip())[1:-1] for line in text.splitlines() if line.startswith("|")]
    assert all(len(cells) == 2 for cells in lines), [cells for cells in lines if len(cells) != 2]
    cells = [(behaviour.strip(), proof.strip()) for behaviour, proof in lines]
    return [row for row in cells if not set(row[0]) <= set("-: ")][1:]


CHAPTERS = _chapters()
ROWS = [(title, *row) for title, rows in CHAPTERS.items() for row in rows]
PROOFS = sorted({proof for _, _, cell in ROWS for proof in PROOF.findall(cell)})


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
    assert [(title, behaviour) for title, behaviour, cell in ROWS if not behaviour or not cell] == []
    assert [row for row in ROWS if not PROOF.search(row[2]) and not re.match(r"out of scope\b.{10,}", row[2])] == []


def test_no_behaviour_is_reported_twice_in_one_table() -> None:
    told = [row[:2] for row in ROWS]

    assert sorted({row for row in told if told.count(row) > 1}) == []


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
