"""What people who write content type: each mistake is named at its own line, with the way out."""

from __future__ import annotations

from pathlib import Path

import pytest

from cuecard.config.documents.yaml import read_yaml
from cuecard.errors import SpecError
from cuecard.workbench.check.command import check

SPACE = "\u00a0"


@pytest.mark.parametrize(
    ("text", "line", "told"),
    [
        ("a:\n  b: x\n    c: y\n", 3, "indent the line by 2 spaces"),
        ("a:\n  b: x\n c: y\n", 3, "no line above that it could belong to"),
        (f"a:\n  b: x\n{SPACE}{SPACE}c: y\n", 3, "indented with U+00A0"),
        (f"a:\n  b: x\n{SPACE * 4}c: y\n  d: z\n", 3, "indented with U+00A0"),
        ('a:\n  b: "x\n  c: y\n  d: z\n', 2, "a quote opens here"),
        ("a:\n  b: 'x\n  c: y'z\n", 2, "a quote opens here"),
        ('a:\n  b: "x\n  c: "y"\n', 2, "a quote opens here"),
        ("a:\n  b: \u201cx: y\u201d\n", 2, "straight quotes"),
        ("a:\n  b: one: two\n", 2, "quote a text that contains `: `"),
    ],
)
def test_a_slip_in_yaml_is_told_where_it_is(text: str, line: int, told: str) -> None:
    with pytest.raises(SpecError, match="yaml-syntax") as caught:
        read_yaml(text, "a.yaml")
    (problem,) = caught.value.problems

    assert problem.span
    assert (problem.span.line, told in f"{problem.message} {problem.hint}") == (line, True)


def test_such_a_space_within_a_text_is_a_letter_of_it() -> None:
    assert read_yaml(f"a: |\n  {SPACE}x\nb: x{SPACE}y\n", "a.yaml").value == {"a": f"{SPACE}x\n", "b": f"x{SPACE}y"}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Ask {{{user}}} for a yes", "contains `{{{user}}}`"),
        ("Never {{#if user}}on Fridays", "contains `{{#if user}}`"),
        ("Write <b>now", "a loose `<b>`"),
        ("Done.</publish> Go on.", "a loose `</publish>`"),
        ("<a><b></a></b>", "a loose `</a>`"),
        ("\u201cAsk first\u201d", "stands in curly quotes"),
        ("long " * 1000, "has 4,999 characters"),
        ("Use <b>bold</b>, <br/>, `<slug>` and {one} brace; a < b > c, it\u2019s fine.", ""),
    ],
)
def test_a_text_of_a_tool_that_a_model_should_not_read_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, told: str
) -> None:
    (tmp_path / "agent.yaml").write_text(
        "agent: a\ntools: {instructions: tools.yaml, core: [find]}\n"
        "sections: [{id: i, text: '{{{activeProtocols}}}'}]\n",
        encoding="utf-8",
    )
    entry = f"described: {{find: {{description: Find}}}}\ntools:\n  publish: {{gotcha: '{text}'}}\n"
    (tmp_path / "tools.yaml").write_text(entry.replace("it\u2019s", "it is"), encoding="utf-8")
    check(tmp_path)
    shown = "".join(capsys.readouterr())

    assert ("tool-text" in shown) == bool(told)
    assert told in shown
