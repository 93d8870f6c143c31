"""Every question of the FAQ has a short answer with a link, and every symptom of the tables above a way out."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from docs.tables import rows

PAGE = (Path(__file__).parents[2] / "docs" / "help.md").read_text(encoding="utf-8")
ANSWERS = dict(re.findall(r"^### ([^\n]+)\n\n(.*?)(?=^##|\Z)", PAGE, re.MULTILINE | re.DOTALL))


@pytest.mark.parametrize("question", ANSWERS)
def test_a_question_has_a_short_answer_with_a_link(question: str) -> None:
    answer = re.sub(r"```.*?```", "", ANSWERS[question], flags=re.DOTALL)

    assert question.endswith("?")
    assert re.search(r"\]\(\S+\)", answer), "an answer leads on"
    assert len(answer.split()) <= 90, "a longer answer belongs on a page"


def test_no_heading_is_left_out() -> None:
    assert len(ANSWERS) == len(re.findall(r"^### ", PAGE, re.MULTILINE)) >= 25


def test_every_symptom_has_a_way_out() -> None:
    found = [*rows(PAGE, "| what you see |")]

    assert len(found) >= 20
    assert [each for each in found if len(each) != 2 or not re.search(r"`.+`|\]\(|[a-z]{3}", each[1])] == []
    assert len({each[0] for each in found}) == len(found)
