"""Words that differ in one letter, for misspelt words."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from string import ascii_lowercase

SHORTEST, LONGEST = 5, 24
"""In letters: for shorter words, one letter leads to too many other words; anything longer is not a word."""


def near_words(word: str, known: Collection[str]) -> list[str]:
    """The known words that differ from this one by a letter added, removed, changed or swapped with its neighbour.

    The first letter is assumed to be right. Sorted; empty for anything but a plain word.
    """
    if not (SHORTEST <= len(word) <= LONGEST and word.isascii() and word.isalpha()):
        return []
    return sorted({variant for variant in _variants(word) if variant in known})


def _variants(word: str) -> Iterator[str]:
    for at in range(1, len(word) + 1):
        head, tail = word[:at], word[at:]
        for letter in ascii_lowercase:
            yield head + letter + tail
            yield head + letter + tail[1:]
        yield head + tail[1:]
        yield head + tail[1:2] + tail[:1] + tail[2:]
