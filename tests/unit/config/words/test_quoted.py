"""What is filled into the engine's own words: nothing of it opens or closes an element, and the rest stays readable."""

import pytest

from cuecard.config.word import is_wrapped, tag_problems
from cuecard.config.words_spec import ENGLISH, WordsSpec

SKIPPED = "should contain no comment, CDATA section or processing instruction: a value could end it"


def test_only_an_element_of_the_words_is_escaped() -> None:
    assert ENGLISH.quoted("1 < 2 <b> </context-update>") == "1 < 2 <b> &lt;/context-update>"
    assert ENGLISH.listed(["a", "<withheld-tools>"]) == "a, &lt;withheld-tools>"


def test_numbers_have_the_separator_of_the_words() -> None:
    words = WordsSpec.model_validate({"marks": {"thousands": "."}})

    assert (ENGLISH.number(1_234_567), words.number(1_234_567), words.number(12)) == ("1,234,567", "1.234.567", "12")


@pytest.mark.parametrize(
    ("text", "problems"),
    [
        ("<a>{x}</a> 1 < 2 and a <- b", []),
        ("<a n=\"{turn}\" m='{count}'>{x}</a>", []),
        ("<a/>", []),
        ("<a n={turn}/>", ["contains {turn} in a tag, where a value would become markup; put it between tags"]),
        (
            '<a n="1" {turn}>{x}{y}</a>',
            ["contains {turn} in a tag, where a value would become markup; put it between tags"],
        ),
        (
            '<a>{z}</a><a n="{x}" m="{y}"/>',
            ["contains {x} in a tag, where a value would become markup; put it between tags"],
        ),
        ("<{x}/>", ["contains {x} in a tag, where a value would become markup; put it between tags"]),
        (
            "<b{x}>",
            [
                "contains {x} in a tag, where a value would become markup; put it between tags",
                "opens <bxxx> and does not close it",
            ],
        ),
        ("<a><b></a>", ["closes <a>, which is not open there"]),
        ("</a></b>", ["closes <a>, which is not open there"]),
        ("<a><b></b>", ["opens <a> and does not close it"]),
        ("<a><b>", ["opens <b> and does not close it"]),
        ("<a>x</a", ["contains `</a`, a tag without its `>`"]),
        ("x <b{x}y <a>", ["contains `<b{x}y`, a tag without its `>`"]),
        ("<!-- x -->", [SKIPPED]),
        ("<a><![CDATA[x]]>", [SKIPPED]),
        ("<?x?>", [SKIPPED]),
    ],
)
def test_the_tags_of_a_word_are_whole_and_hold_no_value(text: str, problems: list[str]) -> None:
    assert list(tag_problems(text, {"turn", "count"})) == problems


@pytest.mark.parametrize(
    ("text", "wrapped"),
    [
        ("<a>{x}</a>", True),
        (" <a><b/>\n<b></b></a>\n", True),
        ("<a/>", True),
        ("<a/><b/>", False),
        ("<a></a><b></b>", False),
        ("{x}<a></a>", False),
        ("<a></a>{x}", False),
        ("<a>", False),
        ("{x}", False),
        ("", False),
    ],
)
def test_a_word_is_wrapped_where_one_element_holds_all_of_it(text: str, *, wrapped: bool) -> None:
    assert is_wrapped(text) is wrapped
