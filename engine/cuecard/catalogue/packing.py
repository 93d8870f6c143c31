"""Serialises a word index for caching, and reads it back; an index of another catalogue is rejected."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from cuecard.catalogue.word_index import WordIndex

_MOST = 1e9
"""No word counts as often in any tool."""


def pack(index: WordIndex) -> bytes:
    """An index as JSON."""
    made = {
        "names": index.names,
        "postings": {form: [[*found], [*found.values()]] for form, found in index.postings.items()},
        "norms": [*index.norms],
        "phrases": [[sorted(words) for words in phrases] for phrases in index.phrases],
        "following": [[tool, sorted(those)] for tool, those in index.following.items()],
    }
    return json.dumps(made, separators=(",", ":")).encode()


def unpack(data: bytes, names: Sequence[str]) -> WordIndex:
    """The index of the tools of these names.

    Raises:
        ValueError: when it belongs to other tools, or was not made by `pack`.
    """
    try:
        index = _index(json.loads(data))
        _check(index, tuple(names))
    except (LookupError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(f"not an index: {error}") from None
    return index


def _check(index: WordIndex, names: tuple[str, ...]) -> None:
    """Whether a search with it names these tools alone, and cannot fail."""
    if index.names != names or not len(index.norms) == len(index.phrases) == len(names):
        raise ValueError("an index of other tools")
    weights = [*index.norms, *(times for posting in index.postings.values() for times in posting.values())]
    if not {*map(type, weights)} <= {int, float} or not all(0 < weight < _MOST for weight in weights):
        raise ValueError("an index with invalid norms or counts")
    numbers = [*index.following, *(n for those in (*index.postings.values(), *index.following.values()) for n in those)]
    if not {*map(type, numbers)} <= {int} or not {*numbers} <= {*range(len(names))}:
        raise ValueError("an index of tools that do not exist")


def _index(made: Any) -> WordIndex:
    return WordIndex(
        tuple(made["names"]),
        {form: dict(zip(tools, times, strict=True)) for form, (tools, times) in made["postings"].items()},
        made["norms"],
        [tuple(map(frozenset, phrases)) for phrases in made["phrases"]],
        {tool: frozenset(those) for tool, those in made["following"]},
    )
