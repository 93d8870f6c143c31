"""What people who write content type: each mistake is named at its own line, with the way out."""

from __future__ import annotations

from pathlib import Path

import pytest

from command_line import problems
from cuecard.config.documents.yaml import read_yaml
from cuecard.errors import Span, SpecError
from cuecard.workbench.check.command import check

SPACE = "\u00a0"


@pytest.mark.parametrize(
    ("text", "line", "told"),
    [
        ("a:\n  b: x\n    c: y\n", 3, "indent the line by 2 spaces"),
        ("a:\n  b: x\n c: y\n", 3, "no line above that it could belong to"),
        (f"a:\n  b: x\n{SPACE}{SPACE}c: y\n", 3, "indented with U+00A0"),
        (f"a:\n  b: x\n{SPACE * 4}c: y\n  d: z\n", 3, "indented with U+00A0"),
        ('a:\n  b: "x\n  c: y\n  d: "z"\n', 2, "a quote opens here"),
        ("a:\n  b: 'x\n  c: y'z\n", 2, "a quote opens here"),
        ('a:\n  b: "x\n  c: "y"\n', 2, "a quote opens here"),
        ("a:\n  b: \u201cx: y\u201d\n", 2, "straight quotes"),
        ("a:b\nc: d\n", 1, "`a:` has no space behind its colon write `a: b`"),
        ("a:\n  - id: x\n    text:y\n  - id: z\n", 3, "write `text: y`"),
        ("a: b\nc:d", 2, "write `c: d`"),
        ("a:\n  - id: x\n    text y\n    c: 5\n", 3, "`text` is no key: it has no colon write `text: y`;"),
        ("# b\nsections\n\n  - id: a\n", 2, "write `sections:`"),
        ("a:\n  - id: x\n    text # y\n    c: 5\n", 3, "`text` is no key: it has no colon write `text:`;"),
        ("a:\n  - id: x\n    text = y # z\n    c: 5\n", 3, "write `text: y`;"),
        ("a:\n  - id: x\n    text\uff1ay\n    c: 5\n", 3, "write `text: y`;"),
        ("a:\n  - https://x\n    c: 5\n", 3, "quote a text that contains `: `"),
        ("a:\n  - id: x\n    text: y\n      a z\n      b: c\n", 5, "quote a text that contains `: `"),
        ("a: b\nc: |\n  d\x0be\nf: g\n", 3, "an invisible character, U+000B"),
        ("a: b\nc: |\n  d\u2028e\nf: g\n", 3, "an invisible character, U+2028"),
        ("a:\n  b: one: two\n", 2, "quote a text that contains `: `"),
    ],
)
def test_a_slip_in_yaml_is_told_where_it_is(text: str, line: int, told: str) -> None:
    with pytest.raises(SpecError, match="yaml-syntax") as caught:
        read_yaml(text, "a.yaml")
    (problem,) = caught.value.problems

    assert problem.span
    assert (problem.name, problem.code, problem.severity) == ("a.yaml", "yaml-syntax", "error")
    assert problem.span.line == line
    assert told in f"{problem.message} {problem.hint}"


def test_a_line_is_shown_as_editors_count_it(tmp_path: Path) -> None:
    (tmp_path / "agent.yaml").write_text("agent: a\nsections: [{id: s, file: s.md}]\n", encoding="utf-8")
    (tmp_path / "s.md").write_text("a\u2028b\n\x0cc {{{user}}}\n", encoding="utf-8")

    found = [(each.span, each.source) for each in problems(tmp_path)]

    assert found == [(Span(1, 2), "a\u2028b"), (Span(2, 1), "\x0cc {{{user}}}"), (Span(2, 7, 4), "\x0cc {{{user}}}")]


def test_such_a_space_within_a_text_is_a_letter_of_it() -> None:
    made = read_yaml(f"a: |\n  {SPACE}x\nb: x{SPACE}y\n'{SPACE}c': z\n", "a.yaml")

    assert made.value == {"a": f"{SPACE}x\n", "b": f"x{SPACE}y", f"{SPACE}c": "z"}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Ask {{{user}}} for a yes", "contains `{{{user}}}`"),
        ("Never {{#if user}}on Fridays", "contains `{{#if user}}`"),
        ("Ask ${name} for a yes", "contains `${name}`"),
        ("Ask {name} for a yes", "contains `{name}`"),
        ("{% if name %}Ask{% endif %}", "contains `{% if name %}`"),
        ("Write <b>now", "a loose `<b>`"),
        ("Done.</publish> Go on.", "a loose `</publish>`"),
        ("<a><b></a></b>", "a loose `</a>`"),
        ("\u201cAsk first\u201d", "stands in curly quotes"),
        ("long " * 1000, "has 4,999 characters"),
        ("Use <b>bold</b>, <br/>, `<slug>`, `{name}` and {one} brace; a < b > c, it\u2019s fine.", ""),
        ("Calls GET /users/{name}/orders.", ""),
    ],
)
def test_a_text_of_a_tool_that_a_model_should_not_read_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, told: str
) -> None:
    entry = f"described: {{find: {{description: Find}}}}\ntools:\n  publish: {{gotcha: '{text}'}}\n"
    made_agent(tmp_path, entry.replace("it\u2019s", "it is"))
    check(tmp_path)
    shown = "".join(capsys.readouterr())

    assert ("tool-text" in shown) == bool(told)
    assert told in shown


ENTRIES = """\
described: {find: {description: Find}}
tools:
  publish:
    before: Ask {{first}} of all
    after:
      - Say it
      - Say <b>where it is
    next: "It \\"may\\" be \\x7b{that}}"
    gotcha: |
      One line, and one
        with {{second}}
  archive:
    before: >
      Folded {one}, and
      then {{third}} in it
    after: One that
      goes on <i>here
    next: 'TWICE {{fourth}}'
    gotcha: "Long LONG"
"""


def test_what_is_wrong_with_a_text_of_a_tool_is_told_at_its_words(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = ENTRIES.replace("TWICE", "`{x}` {one}").replace("LONG", "long " * 1000)
    made_agent(tmp_path, text)
    check(tmp_path)

    found = [line for line in "".join(capsys.readouterr()).splitlines() if "[tool-text]" in line]
    places = [line.split("tools.yaml:")[1].split(": ")[0] for line in found]
    lines = text.splitlines()
    words = ["{{first}}", "<b>", '"It', "{{second}}", "{{third}}", "<i>", "{{fourth}}", '"Long']
    where = [next((at, line.index(word)) for at, line in enumerate(lines) if word in line) for word in words]
    assert places == [f"{line + 1}:{column + 1}" for line, column in where]


def test_a_text_that_another_entry_stands_over_is_not_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    entry = "tools: {find: {}, publish: {before: 'Ask {{first}}', after: 'Say {{second}}', gotcha: TODO}}\n"
    made_agent(tmp_path, entry)
    (tmp_path / "tenant").mkdir()
    (tmp_path / "tenant" / "own.yaml").write_text(
        "tools: {publish: {before: Ask first, gotcha: Mind}}\n", encoding="utf-8"
    )
    (tmp_path / "tenant" / "agent.yaml").write_text(
        "agent: tenant\nextends: ../agent.yaml\ntools: {instructions: [../tools.yaml, own.yaml]}\n", encoding="utf-8"
    )
    check(tmp_path / "tenant")

    shown = "".join(capsys.readouterr())
    column = entry.index("{{second}}") + 1
    assert f"tools.yaml:1:{column}: warning[tool-text]: `after` of publish contains `{{{{second}}}}`" in shown
    assert "contains `{{first}}`" not in shown
    assert "unfinished-tool" not in shown


def made_agent(folder: Path, entries: str) -> None:
    (folder / "agent.yaml").write_text(
        "agent: a\ninputs: {name: {default: Ann}}\ntools: {instructions: tools.yaml, core: [find]}\n"
        "sections: [{id: i, text: '{{{activeProtocols}}}'}]\n",
        encoding="utf-8",
    )
    (folder / "tools.yaml").write_text(entries, encoding="utf-8")
