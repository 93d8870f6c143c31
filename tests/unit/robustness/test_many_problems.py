"""However much is wrong with a file, its refusal is short, and takes little memory."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import pytest

from cuecard import CuecardError, Engine, Problem
from cuecard.errors import KEPT, MAX_PROBLEMS, most_telling
from cuecard.types import Span
from unit.robustness.agents import write_agent

pytestmark = pytest.mark.repeats

BAD = {
    "NUL in a template": ("agent.xml", "<agent>" + "\0" * 30_000 + "</agent>"),
    "NUL in a tool file": ("tools/search.yaml", "\0" * 30_000),
    "invisible characters": ("agent.xml", "<agent>" + "\u200b" * 50_000 + "</agent>"),
    "invisible characters in lines": ("agent.xml", "<agent>\n" + "\u200b\n" * 15_000 + "</agent>"),
    "invisible characters by escapes": ("agent.yaml", 'agent: "' + "\\u200b" * 20_000 + '"\n'),
    "unknown keys in one line": (
        "agent.yaml",
        "{agent: rows, template: agent.xml, " + ", ".join(f"wrong_key_{n}: 1" for n in range(2_000)) + "}",
    ),
    "anchors in one line": ("agent.yaml", "a: [" + ", ".join(f"&a{n} 1" for n in range(2_000)) + "]"),
    "values in one line": ("agent.yaml", "agent: rows\ntools: {core: [" + "'{}', " * 2_000 + "]}"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_refusal_is_short_and_takes_little_memory(tmp_path: Path, case: str) -> None:
    name, text = BAD[case]
    Engine.open(write_agent(tmp_path / "good"))  # so that nothing is imported while memory is measured, which is slow
    folder = write_agent(tmp_path / "bad", {name: text})
    tracemalloc.start()
    try:
        with pytest.raises(CuecardError) as caught:
            Engine.open(folder)
        drawn = str(caught.value)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert peak < 20 * 1024**2
    assert len(drawn) < MAX_PROBLEMS * 1_500
    assert drawn.count("error[") <= MAX_PROBLEMS
    assert "more" in drawn or drawn.count("error[") < MAX_PROBLEMS


def test_the_place_appears_under_the_right_character_of_a_line_that_is_cut() -> None:
    line = "x" * 100_000 + "HERE" + "y" * 100_000
    problem = Problem("code", "message", name="file", span=Span(1, 100_001, 4), source=line)

    assert len(problem.source) <= KEPT
    _, shown, carets = problem.picture().splitlines()
    assert shown[carets.index("^") :].startswith("HERE")
    assert carets.count("^") == 4


def test_errors_are_shown_before_warnings_and_in_their_order() -> None:
    problems = [Problem("w", str(n), severity="warning") for n in range(150)] + [Problem("e", "x"), Problem("e", "y")]
    shown, more = most_telling(problems)

    assert [problem.message for problem in shown] == [*map(str, range(MAX_PROBLEMS - 2)), "x", "y"]
    assert more == 52
