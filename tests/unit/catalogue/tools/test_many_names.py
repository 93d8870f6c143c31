"""Thousands of unknown names: each is found, and nobody looks for the closest known one until somebody reads it."""

from __future__ import annotations

import difflib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuecard import Engine, Problem
from cuecard.errors import did_you_mean
from cuecard.types import DidYouMean, Span
from unit.reload.demo import Folder

MANY = 300
WORDS = st.text("abC_", max_size=6)


def tools(names: list[str]) -> str:
    entries = (
        f"  {name}: {{before: none, after: done, next: {name.replace('cms', 'cms_x')}, gotcha: none}}\n"
        for name in names
    )
    return "tools:\n" + "".join(entries)


@pytest.fixture
def warnings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[tuple[Problem, ...], list[str]]:
    """What opening an agent warns of, and the words for which the closest one was looked for since then."""
    asked: list[str] = []

    def counted(word: str, known: frozenset[str]) -> str:
        asked.append(word)
        return did_you_mean(word, known)

    monkeypatch.setattr("cuecard.errors.did_you_mean", counted)
    folder = Folder(tmp_path)
    folder.write_all()
    folder.write("tools/many.yaml", tools([f"cms_tool{number}" for number in range(MANY)]))
    return Engine.open(folder.root).warnings, asked


def test_the_closest_name_is_looked_for_when_a_hint_is_read(
    warnings: tuple[tuple[Problem, ...], list[str]],
) -> None:
    found, asked = warnings

    assert len(found) == MANY
    assert asked == []
    assert "= did you mean `cms_tool7`?" in found[7].picture()
    assert asked == ["cms_x_tool7"]


def test_problems_with_such_hints_are_values() -> None:
    made = [Problem("a", "b", DidYouMean("lenght", frozenset(known))) for known in (["length"], ["length"], ["width"])]

    assert made[0] == made[1] != made[2]
    assert len(set(made)) == 2
    assert "width" not in repr(made[2])


def test_a_problem_as_plain_data_holds_the_hint() -> None:
    hint = DidYouMean("lenght", frozenset(["length", "width"]))

    assert Problem("unknown-key", "unknown key `lenght`", hint, "a.yaml", Span(1, 2, 6)).to_json() == {
        "code": "unknown-key",
        "docs": "cuecard explain unknown-key",
        "message": "unknown key `lenght`",
        "hint": "did you mean `length`?",
        "name": "a.yaml",
        "span": {"line": 1, "column": 2, "length": 6},
        "source": "",
        "severity": "error",
        "chain": (),
    }


@given(WORDS.filter(bool), st.sets(WORDS, max_size=10))
def test_the_closest_name_is_the_one_that_difflib_finds(word: str, known: set[str]) -> None:
    close = difflib.get_close_matches(word, sorted(known), n=1)

    hint = did_you_mean(word, known)

    assert (hint == f"did you mean `{close[0]}`?") if close else not hint.startswith("did you mean")
