"""Templates that compare an input with a value that it never has: found by `cuecard check`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from command_line import main

AGENT = """\
agent: modes
layout: {partials: partials}
inputs:
  mode: {values: [plan, yolo], default: plan}
  free: {default: x}
  rows: {type: list, default: []}
sections:
  - {id: identity, text: TEXT}
"""


def warnings(folder: Path, text: str, capsys: pytest.CaptureFixture[str], partial: str = "") -> list[Any]:
    (folder / "partials").mkdir(exist_ok=True)
    (folder / "partials" / "part.md").write_text(partial, encoding="utf-8")
    (folder / "agent.yaml").write_text(AGENT.replace("TEXT", json.dumps(text)), encoding="utf-8")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("sys.argv", ["cuecard", "check", str(folder), "--json"])
        with pytest.raises(SystemExit):
            main()
    told = json.loads(capsys.readouterr().out)
    return [each for each in told["problems"] if "can never be" in each["message"]]


@pytest.mark.parametrize(
    "text",
    [
        '{{#if (eq mode "pln")}}P{{/if}}',
        '{{#if (eq "pln" mode)}}P{{/if}}',
        '{{#if (and free (one_of mode "plan" "pln"))}}P{{/if}}',
        '{{#if free}}{{#unless (ne mode "pln")}}P{{/unless}}{{/if}}',
        '{{#if free}}{{default (eq mode "pln") "x"}}{{/if}}',
        '{{#if free includeZero=(eq mode "pln")}}P{{/if}}',
    ],
)
def test_a_value_that_the_input_never_has_is_reported_with_the_one_that_was_meant(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str
) -> None:
    (told,) = warnings(tmp_path, text, capsys)

    assert told["message"] == "`mode` can never be `pln`"
    assert "plan" in told["hint"]
    assert (told["severity"], told["span"]["line"]) == ("warning", 8)


def test_partials_are_looked_at_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The `mode` of a row stands in the section where that of the partial stands there."""
    compared = '{{#if (eq mode "pln")}}P{{/if}}'
    text = "{{#each rows}}" + compared + "{{/each}}{{> part}} and {{> part}}"
    partial = "Such are modes" + compared + compared.replace("mode", "free")
    (told,) = warnings(tmp_path, text, capsys, partial)

    assert (told["name"][-7:], told["span"]["column"]) == ("part.md", 30)


@pytest.mark.parametrize(
    "text",
    [
        '{{#if (eq mode "plan")}}P{{/if}}',
        '{{#if (eq free "pln")}}P{{/if}}',
        "{{#if (eq mode free)}}P{{/if}}",
        '{{default mode "pln"}}',
        '{{#if (eq mode.x "pln")}}P{{/if}}',
        '{{#each rows}}{{#if (eq mode "pln")}}P{{/if}}{{/each}}',
    ],
)
def test_other_comparisons_are_left_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str) -> None:
    assert warnings(tmp_path, text, capsys) == []
