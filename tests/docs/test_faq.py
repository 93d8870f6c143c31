"""Every question of the FAQ has a short answer with a link."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "faq.md").read_text(encoding="utf-8")
ANSWERS = dict(re.findall(r"^### ([^\n]+)\n\n(.*?)(?=^##|\Z)", PAGE, re.MULTILINE | re.DOTALL))


@pytest.mark.parametrize("question", ANSWERS)
def test_a_question_has_a_short_answer_with_a_link(question: str) -> None:
    answer = re.sub(r"```.*?```", "", ANSWERS[question], flags=re.DOTALL)

    assert question.endswith("?")
    assert re.search(r"\]\(\S+\)", answer), "an answer leads on"
    assert len(answer.split()) <= 90, "a longer answer belongs on a page"


def test_no_heading_is_left_out() -> None:
    assert len(ANSWERS) == len(re.findall(r"^### ", PAGE, re.MULTILINE)) >= 25
