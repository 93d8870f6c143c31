"""`cuecard explain`: every code has its chapter, and the command prints it."""

from __future__ import annotations

import json

import pytest

from cuecard import InputError, Problem
from cuecard.agent.checks.codes import CODES
from cuecard.errors import visible
from cuecard.workbench.check.command import explain
from docs.website.markdown import anchors
from unit.agent.checks.examples import FOLDER, examples

INDEX = (FOLDER.parents[2] / "docs" / "checks" / "README.md").read_text(encoding="utf-8")


def printed(capsys: pytest.CaptureFixture[str], *codes: str, as_json: bool = False) -> str:
    explain(codes, json=as_json)
    return capsys.readouterr().out


@pytest.mark.repeats
def test_each_code_is_explained_in_four_parts(capsys: pytest.CaptureFixture[str]) -> None:
    told = {each["code"]: each["text"] for each in json.loads(printed(capsys, *CODES, as_json=True))["codes"]}

    assert printed(capsys, *CODES) == "\n\n".join(f"{code}\n\n{told[code]}" for code in CODES) + "\n"
    for code, text in told.items():
        example, shown = examples()[code], f"\n{text}\n"
        assert CODES[code] in shown
        assert f"\n\nWhy: {example.why}\n\nMend: {example.mend}\n\n" in shown
        for sign, part in (("-", example.bad), ("+", example.good)):
            last = next(iter(part.splitlines()[::-1]), "")
            assert any(f"\n{mark}{visible(last)}\n" in shown for mark in (f"{sign} ", "  ", "")) or not last, shown
        assert "## " not in shown


def test_every_code_is_an_anchor_of_the_index_and_named_by_its_command() -> None:
    assert [code for code in CODES if code not in anchors(INDEX)] == []
    assert [code for code in CODES if Problem(code, "").docs != f"cuecard explain {code}"] == []


def test_first_words_stand_for_all_of_their_codes_but_a_code_only_for_itself(
    capsys: pytest.CaptureFixture[str],
) -> None:
    several = json.loads(printed(capsys, "yaml", as_json=True))["codes"]
    one = json.loads(printed(capsys, "xml", as_json=True))["codes"]

    assert [each["code"] for each in several] == [code for code in CODES if code.startswith("yaml-")]
    assert [each["code"] for each in one] == ["xml"]
    assert {"code", "docs", "meaning", "text"} == {*one[0]}


def test_without_a_code_all_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    lines = printed(capsys).splitlines()

    assert [line.split()[0] for line in lines] == list(CODES)


def test_every_name_that_is_not_code_is_reported() -> None:
    with pytest.raises(InputError) as caught:
        explain(["unknwon-key", "yaml", "zzz"])

    assert [problem.code for problem in caught.value.problems] == ["unknown-code"] * 2
    assert caught.value.problems[0].hint == "did you mean `unknown-key`?"
