"""YAML as configuration has it, read by either reader, and limits that hold before anything is built."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from ruamel.yaml.error import YAMLError

from cuecard import InputError, Problem, SpecError
from cuecard.config.documents.yaml import MAX_CHARACTERS, MAX_DEPTH, MAX_NODES, read_yaml
from cuecard.config.documents.yaml_events import quick_events
from cuecard.config.documents.yaml_plain import MAX_PLAIN_DEPTH, read_plain_yaml
from cuecard.errors import Span
from cuecard.types import Json

pytestmark = pytest.mark.repeats

NEST = MAX_CHARACTERS // 4
NESTS = {
    "lists in brackets": "[" * NEST,
    "mappings in braces": "{" * NEST,
    "both": "[{a: " * (NEST // 2),
    "dashes": "- " * NEST,
    "keys of keys": "? " * NEST,
    "lines": "".join(f"{' ' * depth}a:\n" for depth in range(600)),
}


@pytest.fixture(params=["quick", "pure"])
def reader(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "pure":
        monkeypatch.setitem(sys.modules, "_ruamel_yaml", None)
    return str(request.param)


def refused(text: str) -> str:
    with pytest.raises(SpecError) as caught:
        read_yaml(text, "a.yaml")
    return str(caught.value)


@pytest.mark.repeats
@pytest.mark.parametrize("nest", NESTS)
def test_a_nest_is_refused_where_it_becomes_too_deep(nest: str, reader: str) -> None:
    problem = refused(NESTS[nest])

    assert f"nested more than {MAX_DEPTH} levels deep" in problem
    assert problem.count("error[") == 1


def test_as_deep_as_allowed(reader: str) -> None:
    text = "{a: " * (MAX_DEPTH - 1) + "[]" + "}" * (MAX_DEPTH - 1)

    assert str(read_yaml(text, "a.yaml").value).count("{") == MAX_DEPTH - 1
    assert "deep" in refused("{a: " * MAX_DEPTH + "[]" + "}" * MAX_DEPTH)


@pytest.mark.repeats
def test_too_many_values_are_refused_where_they_become_too_many(reader: str) -> None:
    problem = refused("a:\n" + "- b\n- []\n" * (MAX_NODES // 2 + 3))

    assert f"a.yaml:{MAX_NODES - 1}:3: error[yaml-refused]: more than {MAX_NODES:,} values" in problem


def test_yaml_is_1_2(reader: str) -> None:
    text = "[no, yes, on, 010, 0o10, 0x1F, 1_000, 1:30, 2026-11-20, 12e3, .5, ~, null, Null, True, false, '1', 3.10]"

    assert read_yaml(f"a: {text}", "a.yaml").value["a"] == [
        *("no", "yes", "on", 10, 8, 31, 1000, "1:30", "2026-11-20", 12000.0, 0.5, None, None, None),
        *(True, False, "1", 3.1),
    ]


@pytest.mark.parametrize(
    "text", ["%YAML 1.1\n---\na: no\n", "# old\n%YAML 1.1\n---\na: no\n", "# x\n%TAG ! a:\n---\na: b"]
)
def test_a_directive_is_refused_wherever_it_appears(text: str, reader: str) -> None:
    assert "error[yaml-refused]: a `%` directive" in refused(text)


@pytest.mark.parametrize(
    ("text", "value"), [("a: {content: Which flat?}", {"content": "Which flat?"}), ("a: {b:c}", {"b:c": None})]
)
def test_what_only_the_pure_reader_takes_is_read(text: str, value: object) -> None:
    with pytest.raises(YAMLError):
        list(quick_events(text))

    assert read_yaml(text, "a.yaml").value["a"] == value


@pytest.mark.parametrize("text", ["a: b", "a: [b,\n c]", "a:\n- |\n  b"])
def test_a_text_without_a_last_line_break_needs_no_second_reader(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cuecard.config.documents.yaml.pure_events", None)

    assert read_yaml(text, "a.yaml").value.keys() == {"a"}


@pytest.mark.parametrize("text", ["a:\nb: 1\n", "a: \nb: 1\n", "a:   # why\nb: 1\n", "a:"])
def test_a_value_that_is_left_out_appears_after_its_key(text: str, reader: str) -> None:
    document = read_yaml(text, "a.yaml")
    span = document.span(("a",))

    assert document.value["a"] is None
    assert (span.line, span.column, span.length) == (1, 2, 1)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("a: {b: 1, b: 2}", "1:11"),
        ("a: &x 1\nb: *x", "1:4"),
        ("a: 1\n b: 2", "2:3"),
        ("a:\n\t- b", "2:1"),
        ("a: @b", "1:4"),
    ],
)
def test_both_readers_place_a_problem_alike(text: str, place: str, reader: str) -> None:
    assert refused(text).startswith(f"a.yaml:{place}: error[")


@pytest.mark.parametrize("missing", ["ruamel", "ruamel.yaml", "ruamel.yaml.resolver"])
def test_a_missing_package_is_not_a_fault_of_the_file(missing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name == missing or name.startswith(f"{missing}.")]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setitem(sys.modules, missing, None)
    monkeypatch.setitem(sys.modules, "_ruamel_yaml", None)

    with pytest.raises(InputError, match=r"YAML cannot be read: .*ruamel") as caught:
        read_yaml("a: 1\n", "a.yaml")

    (problem,) = caught.value.problems
    assert problem.code == "not-installed"
    assert "pip install cuecard" in problem.hint


SYNTAX = Path(__file__).with_name("syntax.txt")


def told(text: str, read: Callable[[str, str], Json] = lambda text, name: read_yaml(text, name).value) -> str:
    try:
        return f"  {json.dumps(read(text, 'a.yaml'))}\n"
    except SpecError as error:
        return "".join(
            f"  {p.picture().partition(chr(10))[0].removeprefix('a.yaml:')} = {p.hint}\n" for p in error.problems
        )


def test_each_mistake_is_told_at_its_place_with_the_way_out(reader: str) -> None:
    """In `syntax.txt`, which `make golden` writes anew: texts as JSON, and what each is told or read as."""
    rows = SYNTAX.read_text(encoding="utf-8").splitlines()
    outcome = "".join(f"{row}\n{told(json.loads(row))}" for row in rows if row.startswith('"'))
    if os.environ.get("CUECARD_GOLDEN"):
        SYNTAX.write_text(outcome, encoding="utf-8")

    assert outcome == SYNTAX.read_text(encoding="utf-8")


PLAIN = Path(__file__).with_name("syntax_of_programs.txt")


def test_what_programs_write_is_read_alike_or_told_in_other_words() -> None:
    """Of the same texts, those in which the reader of large files says something else than the first line there.

    What it tells of syntax are the words of libyaml, of any version.
    """
    pytest.importorskip("_ruamel_yaml", reason="there is one reader only where the C extension has no wheel")
    texts = [row for row in SYNTAX.read_text(encoding="utf-8").splitlines() if row.startswith('"')]
    both = {row: (told(json.loads(row), read_plain_yaml), told(json.loads(row))) for row in texts}
    outcome = "".join(
        f"{row}\n{one}"
        for row, (one, other) in both.items()
        if one != other[: other.index("\n") + 1] and "[yaml-syntax]" not in one
    )
    if os.environ.get("CUECARD_GOLDEN"):
        PLAIN.write_text(outcome, encoding="utf-8")

    assert outcome == PLAIN.read_text(encoding="utf-8")


def test_what_programs_write_has_limits_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("_ruamel_yaml", reason="there is one reader only where the C extension has no wheel")
    deep, deeper = ("{a: " * depth + "b" + "}" * depth for depth in (MAX_PLAIN_DEPTH, MAX_PLAIN_DEPTH + 1))
    assert str(read_plain_yaml(deep, "a.yaml")).count("{") == MAX_PLAIN_DEPTH
    refused = "nested more than 100 levels deep = flatten the file"
    assert told(deeper, read_plain_yaml) == f"  1:402: error[yaml-refused]: {refused}\n"
    monkeypatch.setattr("cuecard.config.documents.yaml_plain.MAX_PLAIN_NODES", 4)
    assert told("a: [b]", read_plain_yaml) == '  {"a": ["b"]}\n'
    assert told("a: [b, c]", read_plain_yaml) == "  1:8: error[yaml-refused]: more than 4 values = write it as JSON\n"


def test_a_text_may_have_so_many_characters_and_no_more() -> None:
    assert read_yaml("a: " + "b" * (MAX_CHARACTERS - 3), "a.yaml").value["a"][0] == "b"
    with pytest.raises(SpecError) as caught:
        read_yaml("a: " + "b" * (MAX_CHARACTERS - 2), "a.yaml")
    (problem,) = caught.value.problems
    assert (problem.code, problem.message) == ("yaml-too-large", "262,145 characters; at most 262,144")
    assert (problem.hint, problem.name) == ("split the file", "a.yaml")


ODD = """\
? [a, {b: c}]
: {b: [c, {d: e}]}
one: .inf
two: {a: 1, a: [2, {b: 3}], c: 0xHUGE}
two: x
three: [-.inf, 12 #3
  , "a #b"]
four: x # a comment
""".replace("HUGE", "f" * 300)
NO_NUMBER = "a number that JSON does not have", "put it in quotes if it is a text, or write `null`"


def test_every_key_and_value_that_cannot_be_is_told_at_once(reader: str) -> None:
    with pytest.raises(SpecError) as caught:
        read_yaml(ODD, "a.yaml")
    told = [(p.span and (p.span.line, p.span.column, p.span.length), p.message, p.hint) for p in caught.value.problems]

    assert told == [
        ((1, 3, 11), "a key that is not a text", "quote a text with `{{ }}`"),
        ((3, 6, 4), *NO_NUMBER),
        ((4, 13, 1), "duplicate key `a`", "first at a.yaml:4:7; keep one"),
        ((4, 32, 302), "this whole number is too large", "quote it if it is a text"),
        ((5, 1, 3), "duplicate key `two`", "first at a.yaml:4:1; keep one"),
        ((6, 9, 5), *NO_NUMBER),
    ]


def test_a_comment_that_may_be_text_is_a_warning(reader: str) -> None:
    document = read_yaml("a: 12 #3  \nb: x #y\nc: 'q' #z\nd: x # fine\ne: |\n  x #y\n", "a.yaml")

    assert document.value == {"a": 12, "b": "x", "c": "q", "d": "x", "e": "x #y\n"}
    lost = "text after ` #` is a comment, so it is dropped"
    hint = "quote the whole text, or write `# ` if a comment is intended"
    assert document.warnings == (
        Problem("yaml-comment", lost, hint, "a.yaml", Span(1, 6, 3), "a: 12 #3  ", "warning"),
        Problem("yaml-comment", lost, hint, "a.yaml", Span(2, 5, 3), "b: x #y", "warning"),
    )
