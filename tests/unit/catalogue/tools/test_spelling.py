from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuecard.catalogue.words import near_words

WORDS = st.text("abcdefgh", min_size=5, max_size=10)


@pytest.mark.parametrize("written", ["caculate", "calcuulate", "calculste", "calcualte", "calculat"])
def test_one_letter_less_more_changed_or_exchanged_is_near(written: str) -> None:
    assert near_words(written, {"calculate", "calendar"}) == ["calculate"]


@pytest.mark.parametrize(
    "written", ["alculate", "kalculate", "clcuate", "four", "ca1culate", "cal-culate", "größen", ""]
)
def test_a_wrong_first_letter_two_letters_short_words_and_no_words_are_not(written: str) -> None:
    assert near_words(written, {"calculate", "fours", "größer"}) == []


@given(WORDS, st.integers(1, 9), st.sampled_from("abcxyz"))
def test_every_word_is_near_to_itself_with_one_more_letter(word: str, place: int, letter: str) -> None:
    assert word in near_words(word[:place] + letter + word[place:], {word})
