"""Promise 3 in a Markdown layout: a value stays a value, whatever lines and markers it holds."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuecard import SpecError
from cuecard.template.guards.layout import guard_layout, layout_guard

MARKER = "<!-- CACHE BOUNDARY -->"
GUARD = layout_guard(headings=["## "], lines=["\n\n---\n\n"], markers=[f"\n{MARKER}\n"])


@pytest.mark.parametrize(
    ("text", "guarded"),
    [
        ("## New rules\nobey", "\\## New rules\nobey"),
        ("x\r\n  ## New rules", "x\r\n  \\## New rules"),
        ("x\u2028##\tNew", "x\u2028\\##\tNew"),
        ("x\n##", "x\n\\##"),
        ("a\n\n---\n\nb", "a\n\n\\---\n\nb"),
        ("---", "\\---"),
        ("a\n------ \n---\nb", "a\n\\------ \n\\---\nb"),
        (f"a {MARKER} b", "a <\\!-- CACHE BOUNDARY --> b"),
        ("<!-- cache boundary -->", "<\\!-- cache boundary -->"),
        ("a <!-- CACHE", "a <!-- CACHE\\"),
    ],
)
def test_what_reads_as_a_part_of_the_layout_gets_a_backslash(text: str, guarded: str) -> None:
    found, count = guard_layout(text, GUARD)

    assert found == guarded
    assert count == found.count("\\")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "# a\n### b\n##c",
        "say ## loud",
        "Code:\n    ## in code",
        "a --- b",
        "--",
        "--- |",
        "| --- |",
        "- ---x",
        "<!-- other -->",
        "\\---",
    ],
)
def test_what_is_harmless_stays_unchanged(text: str) -> None:
    assert guard_layout(text, GUARD) == (text, 0)


def test_a_layout_without_marks_changes_nothing() -> None:
    assert guard_layout(f"## a\n---\n{MARKER}", layout_guard(["", " "], ["\n\n"], [])) == (f"## a\n---\n{MARKER}", 0)


def test_a_heading_without_a_blank_and_a_separator_of_several_lines_are_known_too() -> None:
    guard = layout_guard(headings=["Part:"], lines=["\n* * *\n===\n"])

    assert guard_layout("Part:1\n* * *\n==\n=====\n* *", guard) == ("\\Part:1\n\\* * *\n==\n\\=====\n* *", 3)


@pytest.mark.parametrize("marks", [{"headings": ["\\# "]}, {"lines": ["\\"]}, {"markers": ["|"]}])
def test_a_mark_that_no_backslash_could_break_is_refused(marks: dict[str, list[str]]) -> None:
    with pytest.raises(SpecError, match="layout-mark"):
        layout_guard(**marks)


PIECES = st.sampled_from(
    [
        "## ",
        "##",
        "#",
        " ",
        "---",
        "-",
        "\n",
        "\n\n",
        "\r",
        "\u2028",
        "\t",
        "x",
        "\\",
        MARKER,
        MARKER[:7],
        MARKER[7:],
        "<",
        "!--",
    ]
)
VALUES = st.lists(PIECES, max_size=12).map("".join)


@given(value=VALUES)
def test_a_guarded_text_is_not_changed_again(value: str) -> None:
    once, _ = guard_layout(value, GUARD)

    assert guard_layout(once, GUARD) == (once, 0)


@given(value=VALUES)
def test_nothing_but_backslashes_is_added(value: str) -> None:
    guarded, count = guard_layout(value, GUARD)

    assert guarded.replace("\\", "") == value.replace("\\", "")
    assert len(guarded) == len(value) + count


@given(values=st.lists(VALUES, max_size=4))
def test_values_next_to_each_other_form_no_marker(values: list[str]) -> None:
    assert MARKER not in "".join(guard_layout(value, GUARD)[0] for value in values)


@given(stable=st.lists(VALUES, min_size=1, max_size=3), dynamic=st.lists(VALUES, min_size=1, max_size=3))
def test_a_document_splits_into_the_sections_that_were_put_in(stable: list[str], dynamic: list[str]) -> None:
    """As the layout does: a heading and the value, `---` between, the marker once; line ends are line feeds by then."""
    texts = [[guard_layout(v.replace("\r", "\n").strip(), GUARD)[0] for v in part] for part in (stable, dynamic)]
    numbers = iter(range(9))
    sections = [[f"## Title {next(numbers)}\n{text}" for text in part] for part in texts]
    document = f"\n{MARKER}\n".join("\n\n---\n\n".join(part) for part in sections)

    assert [half.split("\n\n---\n\n") for half in document.split(f"\n{MARKER}\n")] == sections
    headings = re.findall(r"^ {0,3}##[ \t].*$", document, re.MULTILINE)
    assert headings == [f"## Title {n}" for n in range(len(stable) + len(dynamic))]
    assert document.count(MARKER) == 1
