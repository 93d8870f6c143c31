"""The source `rows`: the entries of a list, one by one, in order and within a limit."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuecard import TemplateRenderError
from cuecard.config.sections.sources_spec import RowsSpec
from cuecard.sources.content import Content, SourceInput
from cuecard.sources.rows import compile_rows
from cuecard.types import Json, TemplateSyntaxError

NOW = datetime(2026, 11, 20, 9, tzinfo=UTC)


def content(rows: Json, **keys: Json) -> Content:
    return compile_rows(RowsSpec(input="rows", **keys), "rows")(SourceInput({"rows": rows, "user": "Kim"}, NOW))


def test_mappings_are_printed_by_their_keys_and_the_values_of_the_call() -> None:
    rows: Json = [{"date": "1", "what": "x", "n": 2}, {"what": "y", "n": 3}]

    assert content(
        rows, item="{{#if item.date}}{{{item.date}}}: {{/if}}{{{item.what}}}{{{item.n}}} {{{user}}}"
    ).text == ("1: x2 Kim\ny3 Kim")


def test_a_key_that_an_entry_does_not_have_is_an_error_at_its_place() -> None:
    with pytest.raises(TemplateRenderError, match="`date` has no value here"):
        content([{"what": "y"}], item="{{{item.date}}}")


def test_what_appears_around_them_is_there_only_with_them() -> None:
    around = {"before": "<{{{user}}}>\n", "after": "\n</>", "separator": ", "}

    assert content(["a", "b"], **around).text == "<Kim>\n- a, - b\n</>"
    assert content(["  ", "", None, {}, [], {"a": " "}], **around).text == ""


@pytest.mark.parametrize("rows", [None, "text", {"a": 1}])
def test_anything_but_a_list_has_no_rows(rows: Json) -> None:
    assert content(rows).text == ""


def test_the_greatest_come_first_and_what_is_over_the_limit_is_recorded() -> None:
    rows: Json = [
        {"d": "2026-01-02", "t": "b"},
        {"t": "none"},
        {"d": "2026-01-03", "t": "c"},
        {"d": "2026-01-02", "t": "B"},
    ]

    made = content(rows, item="{{{item.t}}}", sort_by="d", descending=True, limit=3)

    assert made.text == "c\nb\nB"
    assert [(cut.what, cut.reason) for cut in made.cuts] == [("rows 4", "rows.limit: 3")]
    assert content(rows, item="{{{item.t}}}", sort_by="d").text == "none\nb\nB\nc"
    assert content(["a"], limit=0).text == ""


def test_numbers_sort_by_size() -> None:
    rows: Json = [{"n": 10}, {"n": 9.5}, {"n": "8"}, {"n": 2}]

    assert content(rows, item="{{{item.n}}}", sort_by="n", separator=" ").text == "2 9.5 10 8"


def test_a_text_keeps_to_its_line_unless_it_may_have_several() -> None:
    assert content([" a\n- b "]).text == "- a - b"
    assert content([" a\n\n- b "], lines="keep").text == "- a\n\n- b"


def test_every_broken_template_is_named() -> None:
    with pytest.raises(TemplateSyntaxError) as caught:
        compile_rows(RowsSpec(input="rows", item="{{#if}", before="{{/each}}"), "sections.m.rows")

    assert {problem.name for problem in caught.value.problems} == {"sections.m.rows.item", "sections.m.rows.before"}


@given(st.lists(st.text("ab\n -<", max_size=5), max_size=8), st.integers(0, 9))
def test_no_entry_is_lost_without_a_cut(rows: list[str], limit: int) -> None:
    told = [row for row in rows if row.strip()]
    made = content(rows, limit=limit)

    assert len(made.text.splitlines()) == min(len(told), limit)
    assert len(made.cuts) == max(0, len(told) - limit)
