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
