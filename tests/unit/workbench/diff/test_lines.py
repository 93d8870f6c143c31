"""Lines of texts that differ, also of very long ones."""

from __future__ import annotations

from difflib import unified_diff

from hypothesis import given
from hypothesis import strategies as st

from cuecard.workbench.diff import view
from cuecard.workbench.diff.view import line_differences

LINES = st.lists(st.sampled_from(["a", "b", "", "-", "+ c"]), max_size=12)


@given(old=LINES, new=LINES)
def test_a_short_text_has_the_lines_of_difflib(old: list[str], new: list[str]) -> None:
    assert line_differences(old, new) == list(unified_diff(old, new, lineterm=""))[2:]


def test_a_very_long_text_is_shown_from_the_first_to_the_last_line_that_differs() -> None:
    old = [f"line {number}" for number in range(60_000)]
    new = [*old[:100], *(f"{line}." for line in old[100:59_000:2]), *old[59_000:]]
    shown = line_differences(old, new)

    assert len(old) * len(new) > view._MOST_PAIRS
    assert shown[0] == "@@ -101,58900 +101,29450 @@"
    assert shown[1] == "-line 100"
    assert shown[-1] == "+line 58998."
    assert line_differences(old, old) == []
    assert line_differences(old, [*old, "more"])[1:] == ["+more"]
    assert line_differences([*old, "more"], old)[1:] == ["-more"]
