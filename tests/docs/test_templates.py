"""The table of habits in docs/language.md: what stands on the left is refused, what stands on the right renders."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cuecard import compile_template
from cuecard.types import Json, TemplateSyntaxError

PAGE = Path(__file__).parents[2] / "docs" / "language.md"
VALUES: dict[str, Json] = {
    "items": [1, 2],
    "user": {"name": "Ann"},
    "key": "name",
    "done": 0,
    "late": 1,
    "name": "Ann",
    "a": 1,
    "b": 1,
}


def rows() -> list[tuple[list[str], list[str]]]:
    table = PAGE.read_text(encoding="utf-8").partition("| written | Handlebars |")[2].partition("\n\n")[0]
    cells = [re.split(r"(?<!\\)\|", line)[1:3] for line in table.splitlines() if "{{" in line]
    shown = [[re.findall("`([^`]+)`", cell.replace("\\|", "|")) for cell in row] for row in cells]
    return [(bad, good) for bad, good in shown]


@pytest.mark.parametrize(("bad", "good"), rows())
def test_the_table_of_habits_holds(bad: list[str], good: list[str]) -> None:
    for text in bad:
        with pytest.raises(TemplateSyntaxError) as caught:
            compile_template(text)
        assert all(problem.hint for problem in caught.value.problems)
    for text in good:
        assert compile_template(text).render(VALUES)


def test_every_habit_has_a_row() -> None:
    assert len(rows()) >= 10
