"""Texts as words of the search index, and words that were misspelt.

A word is a run of letters, digits and marks. Words in camelCase count whole and in parts, so that `GitHub` meets
`github` and `searchImages` meets `search`. Scripts written without spaces become pairs of neighbouring characters, as
in Lucene's CJK analysis. English stop words are dropped, and the rest is stemmed with Porter2.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Iterator
from functools import cache, lru_cache
from itertools import chain, pairwise
from string import ascii_lowercase
from typing import TypeAlias

Word: TypeAlias = tuple[str, ...]
"""One word in all its forms: the whole word, then the parts of a camelCase word. Any form may match."""

_Stem: TypeAlias = Callable[[str], str]

STOP_WORDS = frozenset(
    """
    a about also am an and any are as at be been being both but by can could d did do does doing don each few for from
    further had has have having he her here hers him his how i if in into is it its just ll m may me might mine must my
    no nor not of on or other our ours own please re s shall she should so some such t than that the their theirs them
    then there these they this those to too us ve very was we were what when where which while who whom whose why will
    with would you your yours
    """.split()  # noqa: SIM905 - 120 quoted words in a list are no easier to read
)
"""English words that say nothing about a capability; words of direction (log out, turn off) do, and are not
included.
"""

_BRAHMIC = "\u0900-\u109f\u1780-\u17ff"  # Indic to Khmer: their vowel signs are marks, which `\w` leaves out
_UNSPACED = (
    "\u0e00-\u109f\u1780-\u17ff"  # Thai to Myanmar, Khmer
    "\u3040-\u30ff\u31f0-\u31ff\uac00-\ud7af"  # kana, Hangul
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han
)
_RUN = rf"(?:[^\W_]++|[{_BRAHMIC}]++)++"
_PLAIN_RUN = re.compile(r"[A-Za-z0-9]+")  # the same for most texts, and many times faster
_SCRIPT = rf"([{_UNSPACED}]+)"
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_LONGEST_WORD = 40  # longer ones rarely recur, so their stems are not cached


class WordReader:
    """Reads the words of texts, and caches every run of letters, since catalogues repeat themselves.

    Each index and each query has its own reader, so what one caches is freed with it. Only stems are shared.
    """

    __slots__ = ("_forms", "_parts", "_words")

    def __init__(self) -> None:
        words = self._words = cache(lambda run: tuple(_words(run, _stem)))
        self._forms = cache(lambda run: tuple(chain.from_iterable(words(run))))
        self._parts = cache(lambda run: tuple(form for word in words(run) for form in word[1:] or word))

    def words(self, text: str) -> list[Word]:
        """The words in reading order, stemmed, without stop words."""
        return list(chain.from_iterable(map(self._words, _runs(text))))

    def runs(self, text: str) -> list[tuple[str, tuple[Word, ...]]]:
        """Every run of letters as written, and its words."""
        return [(run, self._words(run)) for run in _runs(text)]

    def forms(self, text: str) -> list[str]:
        """Every form of every word."""
        return list(chain.from_iterable(map(self._forms, _runs(text))))

    def parts(self, text: str) -> frozenset[str]:
        """The smallest forms: the parts of a camelCase word, or the word itself."""
        return frozenset(chain.from_iterable(map(self._parts, _runs(text))))


def _stem(form: str) -> str:
    if form.isdigit():  # numbers have no stem, and there may be many
        return form
    return _remembered(form) if len(form) <= _LONGEST_WORD else _by_porter2(form)


def _by_porter2(form: str) -> str:
    from snowballstemmer.english_stemmer import EnglishStemmer  # noqa: PLC0415 - loads 30 languages, which only a search needs

    # A new one each time, which is cheap: stemmers are stateful, and threads share this function.
    return str(EnglishStemmer().stemWord(form))


_remembered = lru_cache(maxsize=10_000)(_by_porter2)
"""Stems take most of the time of an index, and the next index of a process has much the same words."""


def _runs(text: str) -> list[str]:
    return _PLAIN_RUN.findall(text) if text.isascii() else _run().findall(unicodedata.normalize("NFKC", text))


@cache
def _run() -> re.Pattern[str]:
    """Compiled at the first text that is not ASCII, since it takes long."""
    return re.compile(_RUN)


@cache
def _script() -> re.Pattern[str]:
    return re.compile(_SCRIPT)


def _words(run: str, stem: _Stem) -> Iterator[Word]:
    if run.isascii() and not _HUMP.search(run):
        folded = run.lower()
        if folded not in STOP_WORDS:
            yield (stem(folded),)
        return
    for position, piece in enumerate(_script().split(run)):
        if position % 2:
            yield from _pairs(piece)
        elif piece and piece.casefold() not in STOP_WORDS:
            yield _forms(piece, stem)


def _pairs(piece: str) -> Iterator[Word]:
    if len(piece) == 1:
        yield (piece,)
    for first, second in pairwise(piece):
        yield (first + second,)


def _forms(piece: str, stem: _Stem) -> Word:
    parts = [part for part in _HUMP.sub(" ", piece).casefold().split() if part not in STOP_WORDS]
    return tuple(dict.fromkeys(stem(form) for form in (piece.casefold(), *parts)))


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
