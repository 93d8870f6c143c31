"""YAML as configuration has it, read by either reader, and limits that hold before anything is built."""

from __future__ import annotations

import sys

import pytest
from ruamel.yaml.error import YAMLError

from cuecard import InputError, SpecError
from cuecard.config.documents.yaml import MAX_CHARACTERS, MAX_DEPTH, MAX_NODES, read_yaml
from cuecard.config.documents.yaml_events import quick_events

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
    problem = refused("a:\n" + "- b\n" * (MAX_NODES + 5))

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


CLOSE = "close it on its line, or write the text as a block: `|`"
WHOLE = "quote the whole text, or write it as a block: `|`"
WRITE = "write a mapping: `key: value`"
MISTAKES = [
    ('a: "b\nc: d\n', "1:4: error[yaml-syntax]: a quote opens here and is never closed", CLOSE),
    (
        "a: b\n\tc: d\n",
        "2:1: error[yaml-syntax]: found character '\\t' that cannot start any token",
        "indent with spaces, not tabs",
    ),
    (
        "a: “b”: c\n",
        "1:7: error[yaml-syntax]: mapping values are not allowed here",
        "YAML knows straight quotes alone: write \" or ' in place of the curly ones",
    ),
    (
        "a: b\n  c: d\n",
        "2:4: error[yaml-syntax]: mapping values are not allowed here",
        "indent the line by 0 spaces, as the one above, which has its value already; it has 2",
    ),
    ("a: b: c\n", "1:5: error[yaml-syntax]: mapping values are not allowed here", "quote a text that contains `: `"),
    (
        "a:\n  b: 1\n c: 2\n",
        "3:2: error[yaml-syntax]: expected <block end>, but found '<block mapping start>'",
        "the line is indented by 1 spaces, and no line above that it could belong to is",
    ),
    (
        "a: - b\n",
        "1:4: error[yaml-syntax]: sequence entries are not allowed here",
        "quote a text that begins with `- `",
    ),
    (
        "a: @b\n",
        "1:4: error[yaml-syntax]: found character '@' that cannot start any token",
        "quote a text that begins with this character",
    ),
    ("a: [b, c] d\n", "1:4: error[yaml-syntax]: `[` begins a list here, but the text goes on behind its end", WHOLE),
    (
        "a: {b: c} d\ne: f\n",
        "1:4: error[yaml-syntax]: `{` begins a mapping here, but the text goes on behind its end",
        WHOLE,
    ),
    ("a: *b c\n", "1:4: error[yaml-syntax]: `*` begins an alias here, but the text goes on behind its end", WHOLE),
    (
        'a: "b" c\n',
        '1:4: error[yaml-syntax]: `"` begins a quoted text here, but the text goes on behind its end',
        WHOLE,
    ),
    (
        "a: 'b' c\nd: e\n",
        "1:4: error[yaml-syntax]: `'` begins a quoted text here, but the text goes on behind its end",
        WHOLE,
    ),
    (
        "# old\n%YAML 1.0\n---\na: b\n",
        "2:1: error[yaml-syntax]: the YAML cannot be parsed",
        "check indentation, quotes and brackets",
    ),
    (
        "a: b\n\xa0c: d\n",
        "2:1: error[yaml-syntax]: the line is indented with U+00A0, which looks like a space and is none",
        "replace it by spaces: it often comes from a word processor",
    ),
    ("a: [b\nc: d\n", "1:4: error[yaml-syntax]: `[` begins a list here, which is not written as one", WHOLE),
    ("a: {b: c\n", "1:4: error[yaml-syntax]: `{` begins a mapping here, which is not written as one", WHOLE),
    (
        "- 'x\n  y\n- z: 'w\n",
        "1:3: error[yaml-syntax]: a quote opens here and is closed only on line 3, or later",
        CLOSE,
    ),
    (
        "a: `b`\n",
        "1:4: error[yaml-syntax]: found character '`' that cannot start any token",
        "quote a text that begins with this character",
    ),
    (
        "a:\n  - b\n  c: d\n",
        "3:3: error[yaml-syntax]: expected <block end>, but found '?'",
        "the line is indented by 2 spaces, and no line above that it could belong to is",
    ),
    ("- a\n", "1:1: error[yaml-root]: the file contains a sequence", WRITE),
    ("text\n", "1:1: error[yaml-root]: the file contains a scalar", WRITE),
    (
        " a: 1\nb: 2\n",
        "2:1: error[yaml-syntax]: expected '<document start>', but found ('<block mapping start>',)",
        "check indentation, quotes and brackets",
    ),
    (
        "a: |\n  x\n y\n",
        "3:2: error[yaml-syntax]: expected <block end>, but found '<scalar>'",
        "the line is indented by 1 spaces, and no line above that it could belong to is",
    ),
    ("a: {{name}}\n", "1:5: error[yaml-key]: a key that is not a text", "quote a text with `{{ }}`"),
    (
        "a: {{name}} there\n",
        "1:4: error[yaml-syntax]: `{` begins a mapping here, but the text goes on behind its end",
        WHOLE,
    ),
]


@pytest.mark.parametrize(("text", "told", "hint"), MISTAKES)
def test_a_mistake_is_told_at_its_place_with_the_way_out(text: str, told: str, hint: str, reader: str) -> None:
    with pytest.raises(SpecError) as caught:
        read_yaml(text, "a.yaml")
    (problem,) = caught.value.problems

    assert str(caught.value).startswith(f"a.yaml:{told}\n")
    assert problem.hint == hint


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
    assert [(p.severity, p.span and (p.span.line, p.span.column, p.span.length)) for p in document.warnings] == [
        ("warning", (1, 6, 3)),
        ("warning", (2, 5, 3)),
    ]
