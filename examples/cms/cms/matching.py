"""How well a description fits: one scale for every search. Lower is better, and -0.3 or lower is a strong match."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from difflib import SequenceMatcher, get_close_matches
from functools import cache
from pathlib import Path
from typing import TypeAlias, TypeVar

from cms.errors import ValidationError

T = TypeVar("T")

Field: TypeAlias = tuple[str, float]
"""A text to look in, and what a hit there is worth, up to 1."""

_ONE_HIT = 0.5
"""How good a match is that has one word in common; each further word takes half of what is missing."""

_MOST_WORDS = 50
_MEANINGS = Path(__file__).with_name("meanings.json")

_SMALL_WORDS = frozenset(
    {"a", "an", "and", "at", "for", "from", "in", "is", "of", "on", "or", "our", "the", "this", "to", "with"}
)


def rank(
    things: Iterable[T], query: str, fields: Callable[[T], Sequence[Field]], *, by_meaning: bool = False
) -> list[tuple[float, T]]:
    """The things that fit at all, best first; equal scores keep their order. `by_meaning`: other words for it fit, too.

    Raises:
        ValidationError: the query holds no word to look for, or far too many.
    """
    wanted = [word for word in words(query) if word not in _SMALL_WORDS]
    if not wanted:
        raise ValidationError(f"There is no word to look for in `{query}`.", "Describe it in a few words.")
    if len(wanted) > _MOST_WORDS:
        raise ValidationError(f"There are {len(wanted)} words to look for.", f"Use {_MOST_WORDS} at most; ten do.")
    scored = ((_score(wanted, fields(thing), by_meaning=by_meaning), thing) for thing in things)
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


def _score(wanted: Sequence[str], fields: Sequence[Field], *, by_meaning: bool) -> float:
    """More hits are better, and a word that hits nothing makes nothing worse."""
    split = [(words(text), weight) for text, weight in fields]
    missing = 1.0
    for word in wanted:
        hit = max((weight * _closeness(word, found, by_meaning=by_meaning) for found, weight in split), default=0.0)
        missing *= 1 - _ONE_HIT * hit
    return -round(1 - missing, 3)


def _closeness(word: str, found: Sequence[str], *, by_meaning: bool) -> float:
    alike = _alike().get(word, frozenset[str]()) if by_meaning else frozenset[str]()
    return max((_likeness(word, other, alike) for other in found), default=0.0)


def _likeness(word: str, other: str, alike: frozenset[str]) -> float:
    if word == other:
        return 1.0
    if min(len(word), len(other)) > 3 and (word.startswith(other) or other.startswith(word)):
        return 0.8
    if other in alike:
        return 0.7
    matcher = SequenceMatcher(None, word, other)
    slip = matcher.real_quick_ratio() >= 0.8 and matcher.ratio() >= 0.8
    return 0.6 if slip else 0.0  # a slip of the finger, not another word


@cache
def _alike() -> dict[str, frozenset[str]]:
    """For each word that has any, the words that mean about the same. A small table stands in for a language model."""
    groups: list[list[str]] = json.loads(_MEANINGS.read_text(encoding="utf-8"))
    return {word: frozenset(group) for group in groups for word in group}
