"""Rows 25 to 39 of the acceptance table for robustness: YAML that is wrong, hostile or large."""

from __future__ import annotations

import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

from cuecard import Engine, Problem, SpecError
from cuecard.config.agent_file import AgentFile
from cuecard.config.documents.validation import validate
from cuecard.config.documents.yaml import read_yaml
from unit.robustness.agents import AGENT, TEMPLATE, TOOLS, prompt, refusal, where, write_agent

DEFAULT = "inputs: {user: {type: string, default: Ann}}"


def told(folder: Path, line: str, *, of: str = DEFAULT) -> list[tuple[str, tuple[int, int]]]:
    """The problems of an agent file with another line in it: their codes and places."""
    return [(problem.code, where(problem)) for problem in refusal(folder, {"agent.yaml": AGENT.replace(of, line)})]


def test_row_25_a_key_that_appears_there_twice_is_an_error_with_both_lines(tmp_path: Path) -> None:
    (problem,) = refusal(tmp_path, {"agent.yaml": AGENT + "agent: again\n"})

    assert (problem.code, where(problem)) == ("duplicate-key", (5, 1))
    assert "1:1" in f"{problem.message} {problem.hint}"


@pytest.mark.parametrize(
    ("written", "value"),
    [("NO", "NO"), ("yes", "yes"), ("off", "off"), ("0777", 777), ("12:30", "12:30")],
)
def test_row_26_values_are_read_as_yaml_1_2_has_them(written: str, value: object) -> None:
    assert read_yaml(f"a: {written}\n", "a.yaml").value == {"a": value}


def test_row_26_a_directive_is_refused(tmp_path: Path) -> None:
    assert told(tmp_path, "%YAML 1.1\n---", of="agent: rows")[0][0] == "yaml-refused"


def test_row_27_a_number_where_a_text_is_expected_is_an_error_that_quotes_it_as_written(tmp_path: Path) -> None:
    (problem,) = refusal(tmp_path, {"agent.yaml": AGENT.replace("agent: rows", "agent: 3.10")})

    assert (problem.code, where(problem)) == ("wrong-value", (1, 8))
    assert "'3.10'" in problem.hint


def test_row_28_text_after_a_hash_is_reported_as_lost(tmp_path: Path) -> None:
    engine = Engine.open(write_agent(tmp_path, {"tools/search.yaml": BLOCK}))

    assert [(problem.code, problem.span and problem.span.line) for problem in engine.warnings] == [("yaml-comment", 4)]


BLOCK = """\
tools:
  tool_search:
    before: none
    after: Click #submit then wait
    next: none
    gotcha: none
"""


@pytest.mark.parametrize("text", ["{{name}}", "Use: this", "@home", "*all", "&all", "!now", "%now", "`now`"])
def test_row_29_text_that_yaml_takes_for_something_else_is_an_error_that_asks_for_quotes(
    text: str, tmp_path: Path
) -> None:
    (problem, *_) = refusal(tmp_path, {"tools/search.yaml": BLOCK.replace("Click #submit then wait", text)})

    assert problem.span
    assert problem.span.line == 4
    assert "quote" in problem.hint or "'" in problem.hint


NAMES = "abcdefghij"
ALIASES = "a: &a [x]\n" + "".join(f"{new}: &{new} [{', '.join([f'*{old}'] * 9)}]\n" for old, new in pairwise(NAMES))
MERGES = "a: &a {x: 1}\n" + "".join(f"{new}: &{new} {{<<: [*{old}, *{old}]}}\n" for old, new in pairwise(NAMES))


@pytest.mark.parametrize("text", [ALIASES, MERGES, "a: &a [1, *a]\n"], ids=["alias bomb", "merge bomb", "recursive"])
def test_row_30_aliases_are_refused_before_anything_expands(text: str, tmp_path: Path) -> None:
    (problem, *_) = refusal(tmp_path, {"agent.yaml": text + AGENT})

    assert (problem.code, where(problem)) == ("yaml-refused", (1, 4))


BRACKETS = """\
import sys
if sys.argv[1] == "pure":
    sys.modules["_ruamel_yaml"] = None
from cuecard.config.documents.yaml import read_yaml
from cuecard.errors import SpecError
for size in (1_000, 30_000, 200_000, 300_000):
    for text in ("[" * size, "{a: " * (size // 4), "- " * (size // 2)):
        try:
            read_yaml(text, "a.yaml")
        except SpecError as error:
            print(error.problems[0].code)
"""


@pytest.mark.parametrize("reader", ["c", "pure"])
def test_row_31_three_hundred_thousand_brackets_are_refused_and_the_process_lives(reader: str) -> None:
    done = subprocess.run([sys.executable, "-c", BRACKETS, reader], check=True, capture_output=True, text=True)

    assert set(done.stdout.split()) <= {"yaml-refused", "yaml-too-large"}
    assert len(done.stdout.split()) == 12


@pytest.mark.parametrize(
    "text",
    [
        "a: " + "9" * 5_000,
        "a: 2026-13-45",
        "a: !!int abc",
        "%YAML 1.0\n---\na: b",
        "? [a, b1:\n ]",
        "a: 0x" + "f" * 9_000,
    ],
)
def test_row_32_whatever_a_reader_cannot_process_is_an_error_with_a_place(text: str) -> None:
    problems: tuple[Problem, ...] = ()
    try:
        assert read_yaml(f"{text}\n", "a.yaml").value == {"a": "2026-13-45"}
    except SpecError as error:
        problems = error.problems

    assert all(problem.span and problem.name == "a.yaml" for problem in problems)


@pytest.mark.parametrize("tag", ["!x", "!!python/object/apply:os.system", "!!binary", "!!set", "!<tag:x>"])
def test_row_33_tags_are_refused(tag: str, tmp_path: Path) -> None:
    assert told(tmp_path, f"agent: {tag} rows", of="agent: rows")[0] == ("yaml-refused", (1, 8))


def test_row_34_a_tab_for_an_indent_is_an_error_with_its_place(tmp_path: Path) -> None:
    assert told(tmp_path, "inputs:\n\tuser: {}")[0] == ("yaml-syntax", (4, 1))


@pytest.mark.parametrize("end", ["\r\n", "\r"])
def test_row_34_other_line_ends_are_the_same_agent(end: str, tmp_path: Path) -> None:
    plain, other = write_agent(tmp_path / "a"), write_agent(tmp_path / "b")
    for path in other.rglob("*.*"):
        path.write_bytes(path.read_bytes().replace(b"\n", end.encode()))

    assert prompt(Engine.open(plain)) == prompt(Engine.open(other))


@pytest.mark.parametrize("mark", ["\u0085", "\u2028"])
def test_row_34_the_other_breaks_of_unicode_end_no_line(mark: str) -> None:
    document = read_yaml(f"a: x{mark}y\nb: z\n", "a.yaml")

    assert document.value["b"] == "z"
    assert document.span(("b",), key=True).line == 2


@pytest.mark.parametrize(
    ("text", "code"),
    [("", "yaml-empty"), ("# nothing\n", "yaml-empty"), ("- a\n", "yaml-root"), ("a: b\n---\nc: d\n", "yaml-refused")],
)
def test_row_35_a_document_that_is_not_a_single_mapping_is_refused_as_what_it_is(
    text: str, code: str, tmp_path: Path
) -> None:
    assert [problem.code for problem in refusal(tmp_path, {"agent.yaml": text})] == [code]


def test_row_36_too_many_keys_are_refused_by_the_size_of_the_text(tmp_path: Path) -> None:
    text = "".join(f"key{number}: {number}\n" for number in range(100_000))

    assert {problem.code for problem in refusal(tmp_path, {"agent.yaml": text})} <= {"yaml-too-large", "large-file"}


def test_row_37_an_unknown_key_is_an_error_with_the_one_that_was_meant(tmp_path: Path) -> None:
    tools = TOOLS.replace("{before", "{desciption: x, before")
    (problem,) = refusal(tmp_path, {"tools/search.yaml": tools})

    assert (problem.code, problem.hint) == ("unknown-key", "did you mean `description`?")


def test_row_38_a_tool_in_two_files_is_an_error_that_names_both_places(tmp_path: Path) -> None:
    (problem,) = refusal(tmp_path, {"tools/twice.yaml": TOOLS})

    assert problem.code == "duplicate-tool"
    assert (Path(problem.name).name, where(problem)) == ("twice.yaml", (2, 3))
    assert "search.yaml:2:3" in problem.hint


def test_row_39_one_bad_file_of_two_hundred_refuses_the_agent_and_no_tool_is_dropped_in_silence(tmp_path: Path) -> None:
    files = {f"tools/t{number}.yaml": TOOLS.replace("tool_search", f"t{number}") for number in range(200)}
    assert len(Engine.open(write_agent(tmp_path, files)).tools) == 201

    (problem,) = refusal(tmp_path, {**files, "tools/t7.yaml": "tools: {t7: {before: x}\n"})
    assert Path(problem.name).name == "t7.yaml"


def test_every_row_reads_a_file_that_is_right_but_for_its_line(tmp_path: Path) -> None:
    assert refusal(tmp_path, {}) == ()
    assert refusal(tmp_path, {"tools/search.yaml": BLOCK}) == ()
    assert validate(read_yaml(AGENT, "agent.yaml"), AgentFile).agent == "rows"
    assert TEMPLATE
