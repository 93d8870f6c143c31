"""The agent that moved, `examples/adopt`: what its page says of lines, tokens and requests is what each step has.

`test_how_to.py` walks the page, which runs every step.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from cuecard import Engine, ToolCard
from docs.reader import typed

ROOT = Path(__file__).parents[2]
STEPS = ROOT / "examples" / "adopt"
PAGE = ROOT / "docs" / "how-to" / "adopt.md"
HEAD = (
    "| step | Python | files | tests | prompt | definitions | requests | sent in all |\n"
    "|---|---:|---:|---:|---:|---:|---:|---:|"
)


@dataclass(frozen=True)
class Row:
    """A step of the table: its host, and the folders that its files are from."""

    folder: str
    folders: tuple[str, ...] = ()
    delivery: str = ""


ROWS = [
    Row("before"),
    Row("1_prompt", ("1_prompt",)),
    Row("2_entries", ("2_entries",)),
    Row("2_entries", ("2_entries",), "frozen"),
    Row("3_tests", ("2_entries", "3_tests")),
    Row("4_langchain", ("2_entries", "3_tests")),
    Row("4_langchain", ("2_entries", "3_tests"), "frozen"),
]
SHARED = ("1_prompt/identity.md", "1_prompt/style.md")
"""Texts that later steps read where the first has put them."""


def lines(paths: Iterable[Path]) -> int:
    """Lines that say something: no comments, and no blank ones."""
    return sum(
        bool(line.strip()) and not line.lstrip().startswith("#")
        for path in paths
        for line in path.read_text(encoding="utf-8").splitlines()
    )


def files(row: Row) -> list[Path]:
    found = [path for folder in row.folders for path in sorted((STEPS / folder).glob("*.*")) if path.suffix != ".py"]
    return found if row.folder in {"before", "1_prompt"} else [*found, *(STEPS / shared for shared in SHARED)]


def run(row: Row) -> str:
    return typed(STEPS, ["python", "run.py", row.folder, *filter(None, [row.delivery])], {})


def measured(row: Row) -> str:
    """The row as it must be on the page."""
    shown = run(row)
    assert "done: refund_order 1042, handover c-7\n" in shown, shown
    found = re.search(r"^prompt (\S+), definitions (\S+), requests (\d+), sent in all (\S+)$", shown, re.MULTILINE)
    assert found, shown
    host = lines([STEPS / row.folder / "host.py"])
    tests = lines(path for folder in row.folders for path in (STEPS / folder).glob("turns/*.yaml"))
    name = f"`{row.folder}`" + (f", `delivery: {row.delivery}`" if row.delivery else "")
    return f"| {name} | {host} | {lines(files(row))} | {tests} | {' | '.join(found.groups())} |"


def test_the_page_has_the_figures_of_every_step() -> None:
    text = PAGE.read_text(encoding="utf-8")
    table = "\n".join([HEAD, *map(measured, ROWS)])

    assert f"<!-- steps -->\n{table}\n<!-- end -->" in text, f"the page should have\n{table}"


def test_every_step_has_its_row() -> None:
    assert {row.folder for row in ROWS} == {path.parent.name for path in STEPS.glob("*/host.py")}


def test_the_hosts_of_three_steps_are_the_same() -> None:
    """What moves from step to step is files."""
    hosts = [STEPS / step / "host.py" for step in ("1_prompt", "2_entries", "3_tests")]

    assert len({host.read_text(encoding="utf-8").partition("\n")[2] for host in hosts}) == 1


@pytest.fixture
def functions(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, str]]:
    """The docstrings of the twenty tools."""
    monkeypatch.syspath_prepend(str(STEPS))
    from tools import TOOLS  # type: ignore[import-not-found]  # noqa: PLC0415 - it stands in the folder of an example

    yield {each.__name__: each.__doc__ for each in TOOLS}
    sys.modules.pop("tools", None)


def test_the_descriptions_of_the_tests_are_the_docstrings(functions: dict[str, str]) -> None:
    tools = Engine.open(STEPS / "3_tests").tools

    assert len(functions) == 20
    assert {name: card.description for name, card in tools.items()} == {name: functions[name] for name in tools}


def test_the_docstrings_alone_find_what_the_entries_do_not(functions: dict[str, str]) -> None:
    engine = Engine.open(STEPS / "2_entries")
    known = engine.with_tools([ToolCard(name, functions[name]) for name in engine.tools])

    assert engine.search_tools("human").to_json()["tools"] == []
    assert known.search_tools("human").to_json()["tools"] == ["handover"]
    assert not any(card.phrases for card in engine.tools.values())
