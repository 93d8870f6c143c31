"""A query as an index reads it: its words, what the catalogue knows of them, and how near it comes to a phrase."""

from __future__ import annotations

from collections.abc import Collection

from cuecard.catalogue.spelling import near_words
from cuecard.catalogue.words import Word, WordReader
from cuecard.records import dataclass

GUESSED = 0.5
"""What a word is worth that no tool has, and that is one letter away from one that some tool has."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A word of a query, as it was written, the forms that are looked for, and what a match is worth.

    That is 1; `GUESSED` where the forms are those of the nearest words of the catalogue; 0 where no tool has anything
    like it.
    """

    text: str
    forms: tuple[str, ...]
    worth: float


@dataclass(frozen=True, slots=True)
class Query:
    """Each word of a query once, and the smallest forms of all of them."""

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
    """How near two sets of words come: from 0, nothing in common, to 1, the same words (the Dice coefficient)."""
    common = len(asked & phrase)
    return 2 * common / (len(asked) + len(phrase)) if common else 0.0


def _asked(text: str, word: Word, known: Collection[str]) -> Asked:
    if forms := tuple(form for form in word if form in known):
        return Asked(text, forms, 1.0)
    guesses = tuple(near_words(word[0], known))
    return Asked(text, guesses, GUESSED if guesses else 0.0)
