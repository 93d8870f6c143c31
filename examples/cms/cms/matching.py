"""How well a description fits: one scale for every search. Lower is better, and -0.3 or lower is a strong match."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from difflib import SequenceMatcher, get_close_matches
from typing import TypeAlias, TypeVar

from cms.errors import ValidationError

T = TypeVar("T")

Field: TypeAlias = tuple[str, float]
"""A text to look in, and what a hit there is worth, up to 1."""

_SMALL_WORDS = frozenset(
    {"a", "an", "and", "at", "for", "from", "in", "is", "of", "on", "or", "our", "the", "this", "to", "with"}
)


def rank(things: Iterable[T], query: str, fields: Callable[[T], Sequence[Field]]) -> list[tuple[float, T]]:
    """The things that fit at all, best first; equal scores keep their order.

    Raises:
        ValidationError: the query holds no word to look for.
    """
    wanted = [word for word in words(query) if word not in _SMALL_WORDS]
    if not wanted:
        raise ValidationError(f"There is no word to look for in `{query}`.", "Describe it in a few words.")
    scored = ((_score(wanted, fields(thing)), thing) for thing in things)
    return sorted((pair for pair in scored if pair[0] < 0), key=lambda pair: pair[0])


def words(text: str) -> list[str]:
    """The different words of a text, in order and in lower case."""
    return list(dict.fromkeys(re.findall(r"[^\W_]+", text.casefold())))


def nearest(word: str, known: Iterable[str], limit: int = 3) -> list[str]:
    """The known words that look most like this one, best first."""
    by_folded = {item.casefold(): item for item in known}
    return [by_folded[found] for found in get_close_matches(word.casefold(), by_folded, n=limit, cutoff=0.5)]


def listed(names: Sequence[str], limit: int = 12) -> str:
    """Names in code marks, for a sentence."""
    return ", ".join(f"`{name}`" for name in names[:limit]) + (", ..." if len(names) > limit else "")


def _score(wanted: Sequence[str], fields: Sequence[Field]) -> float:
    split = [(words(text), weight) for text, weight in fields]
    hits = [max((weight * _closeness(word, found) for found, weight in split), default=0.0) for word in wanted]
    return -round(sum(hits) / len(wanted), 3)


def _closeness(word: str, found: Sequence[str]) -> float:
    return max((_likeness(word, other) for other in found), default=0.0)


def _likeness(word: str, other: str) -> float:
    if word == other:
        return 1.0
    if min(len(word), len(other)) > 3 and (word.startswith(other) or other.startswith(word)):
        return 0.8
    ratio = SequenceMatcher(None, word, other).ratio()
    return 0.6 if ratio >= 0.8 else 0.0  # a slip of the finger, not another word
