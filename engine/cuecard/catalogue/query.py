"""A query as an index reads it: its words, their forms in the catalogue, and how near it is to a phrase."""

from __future__ import annotations

from collections.abc import Collection

from cuecard.catalogue.spelling import near_words
from cuecard.catalogue.words import Word, WordReader
from cuecard.records import dataclass

GUESSED = 0.5
"""The value of a word that no tool has but that is one letter away from one that a tool has."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A word of a query as written, the forms to search for, and the value of a match.

    The value is 1, `GUESSED` if the forms are those of the nearest words in the catalogue, or 0 if no tool has anything
    like it.
    """

    text: str
    forms: tuple[str, ...]
    worth: float


@dataclass(frozen=True, slots=True)
class Query:
    """Each word of a query once, and the smallest forms of all words."""

    words: tuple[Asked, ...]
    parts: frozenset[str]


def read_query(text: str, known: Collection[str]) -> Query:
    """The words of a query; `known` are the forms that the catalogue has."""
    reader = WordReader()
    written: dict[Word, str] = {}
    for run, words in reader.runs(text):
        for word in words:
            written.setdefault(word, run if len(words) == 1 else word[0])
    return Query(tuple(_asked(text, word, known) for word, text in written.items()), reader.parts(text))


def nearness(asked: frozenset[str], phrase: frozenset[str]) -> float:
    """The similarity of two sets of words: from 0, nothing in common, to 1, the same words (the Dice coefficient)."""
    common = len(asked & phrase)
    return 2 * common / (len(asked) + len(phrase)) if common else 0.0


def _asked(text: str, word: Word, known: Collection[str]) -> Asked:
    if forms := tuple(form for form in word if form in known):
        return Asked(text, forms, 1.0)
    guesses = tuple(near_words(word[0], known))
    return Asked(text, guesses, GUESSED if guesses else 0.0)
