"""What is filled into the engine's own words: nothing of it opens or closes an element, and the rest stays readable."""

from cuecard.config.words_spec import ENGLISH, WordsSpec


def test_only_an_element_of_the_words_is_escaped() -> None:
    assert ENGLISH.quoted("1 < 2 <b> </context-update>") == "1 < 2 <b> &lt;/context-update>"
    assert ENGLISH.listed(["a", "<withheld-tools>"]) == "a, &lt;withheld-tools>"


def test_numbers_have_the_separator_of_the_words() -> None:
    words = WordsSpec.model_validate({"marks": {"thousands": "."}})

    assert (ENGLISH.number(1_234_567), words.number(1_234_567), words.number(12)) == ("1,234,567", "1.234.567", "12")
