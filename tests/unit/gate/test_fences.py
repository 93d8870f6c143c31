"""Code fences and HTML of data swallow no heading, also where data and an author's text meet."""

from __future__ import annotations

import pytest

from cuecard.agent.sections.layout import Layout
from cuecard.template.guards.gate import Gate
from cuecard.template.guards.layout_guard import layout_guard
from cuecard.template.guards.marks import marked

NAMES = Gate(fences=True, escaping="names")
HEADED = Gate(layout=layout_guard(headings=["# ", "## "]), fences=True)


def test_two_values_that_form_a_fence_together_leave_it_closed() -> None:
    assert Gate(fences=True).admit(marked("``") + marked("`\nls"))[0] == "```\nls\n```"


def test_a_value_and_a_text_form_no_fence_together() -> None:
    assert Gate(fences=True).admit(f"``{marked('`')}\nMore.")[0] == "\\```\nMore."


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("1. x\n   ```\nls\n```", "1. x\n   \\```\nls\n```\n```\n## After"),
        ("- x\n\n  ```\n  ls", "- x\n\n  \\```\n  ls\n## After"),
        ("- x\n\n\t```\n\tls\n\t```", "- x\n\n\t```\n\tls\n\t```\n## After"),
        ("```\u2028ls\n```", "\\```\u2028ls\n```\n```\n## After"),
        ("```\nls\u2028```", "\\```\nls\u2028\\```\n## After"),
    ],
)
def test_a_fence_that_not_every_reader_sees_is_none(value: str, expected: str) -> None:
    assert Gate(fences=True).admit(f"{marked(value)}\n## After")[0] == expected


def test_a_fence_below_the_line_of_an_element_is_none_because_it_may_still_be_html() -> None:
    text = f"<notes>\n{marked('```')}\n</notes>\n\n{marked('```')}"

    assert Gate(fences=True).admit(text)[0] == "<notes>\n\\```\n</notes>\n\n```\n```"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"~~~{marked('~~')}\nls\n~~~\n", "~~~ ~~\nls\n~~~\n"),
        (f"```{marked('a`b')}\nls\n```\n", "```a'b\nls\n```\n"),
        (f"1. x\n   ```\n   {marked('a' + chr(10) + 'b')}\n   ```\n", "1. x\n   ```\n   a\n   b\n   ```\n"),
        (f"1. x\n   ```\n   {marked('a' + chr(10) + '~~~')}\n   ```\n", "1. x\n   ```\n   a\n   ~~~\n   ```\n"),
    ],
)
def test_data_does_not_change_the_fence_of_an_author(text: str, expected: str) -> None:
    assert Gate(fences=True).admit(text)[0] == expected


@pytest.mark.parametrize("begin", ["<script>", "<pre>", "<!DOCTYPE x", "<div>", "</div>", "<style>", "<!--", "<?x"])
def test_data_begins_no_html_block_even_where_its_markup_stays_readable(begin: str) -> None:
    assert NAMES.admit(f"{marked(f'a {begin}'[2:])}\n## After")[0] == f"&lt;{begin[1:]}\n## After"


@pytest.mark.parametrize("value", ["a <div> b", "```html\n<div>\n```", "<!-- a --> b", "if a < b"])
def test_other_markup_of_data_stays_readable(value: str) -> None:
    assert NAMES.admit(marked(value))[0] == value


def test_a_fence_that_turns_out_to_be_none_hides_no_html() -> None:
    assert NAMES.admit(marked("  ```\n<div>"))[0] == "  \\```\n&lt;div>"


def test_compacting_excuses_no_underline() -> None:
    tidy = Layout(whitespace="compact").shown

    assert HEADED.admit(marked("\n# Context\n\n=\n"), tidy=tidy)[0] == "\\# Context\n\\=\n"


def test_compacting_leaves_the_heading_of_an_author() -> None:
    tidy = Layout(whitespace="compact").shown

    assert HEADED.admit(f"{marked('word' + chr(10))}\n## Ours\n", tidy=tidy)[0] == "word\n## Ours\n"


def test_an_empty_entry_of_an_author_makes_no_heading_of_the_data_above() -> None:
    text = f"Ours\n\n- {marked(chr(10) + 'a')}\n-{marked(chr(10) + 'b')}"

    assert HEADED.admit(text)[0] == "Ours\n\n- \na\n\\-\nb"


@pytest.mark.parametrize("whitespace", ["keep", "compact", "paragraphs"])
@pytest.mark.parametrize("trim", [True, False])
@pytest.mark.parametrize("text", ["\n\n\na \n\n\n b\t\n \nc  ", " \n ", "\n", "a\n\n\n", "  a", "a\n\nb"])
def test_a_text_with_data_is_tidied_as_one_without(whitespace: str, trim: bool, text: str) -> None:  # noqa: FBT001 - pytest
    layout = Layout(whitespace=whitespace, trim=trim)  # type: ignore[arg-type]  # pytest gives texts

    middle = len(text) // 2
    data = f"{text[:middle]}{marked(text[middle:])}"

    assert Gate().admit(data, tidy=layout.shown)[0] == Gate().admit(text, tidy=layout.shown)[0]
