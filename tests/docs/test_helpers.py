"""docs/helpers.md: each row of its tables prints what it shows, and the Python example runs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cuecard import compile_template
from cuecard.template.helpers.standard import NAMES, usage
from cuecard.template.rules import TOOL
from cuecard.types import Json
from docs.tables import BLOCK, code, rows

PAGE = (Path(__file__).parents[2] / "docs" / "helpers.md").read_text(encoding="utf-8")
VALUES: dict[str, Json] = {"lines": "Rye\n  Rolls", "breads": ["Rye", "Rolls"], "stock": {"rye": 3}, "guest": None}
ROWS = [*rows(PAGE, "| helper | result |"), *rows(PAGE, "| helper | true if |")]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_a_row_prints_what_it_shows(row: list[str]) -> None:
    assert render(code(row[2])) == code(row[3])


def render(text: str) -> str:
    """An agent passes in which tools exist, under a name that no input can have."""
    return compile_template(text).render({**VALUES, f"{TOOL}oven": True})


def test_every_helper_is_written_as_its_errors_say() -> None:
    written = {form for row in ROWS for form in re.findall("`([^`]+)`", row[0])}

    assert {usage(name).split()[0] for name in NAMES} == {form.split()[0] for form in written}


def test_the_python_example_of_a_block_runs() -> None:
    (example,) = [match["body"] for match in BLOCK.finditer(PAGE) if "compile_template" in match["body"]]

    exec(compile(example, "helpers.md", "exec", dont_inherit=True), {})  # noqa: S102 - the test
