"""Words that differ in one letter: what a misspelt word may have meant."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from string import ascii_lowercase

SHORTEST, LONGEST = 5, 24
"""In letters: in a shorter word, one letter makes too many other words; a longer one is no word."""


def near_words(word: str, known: Collection[str]) -> list[str]:
    """The known words that one letter more, less, changed or exchanged with its neighbour makes of this one.

    The first letter is held to be right. Sorted; empty for what is no plain word.
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
