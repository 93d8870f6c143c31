"""Serialises a word index for caching, and reads it back; an index of another catalogue is rejected."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

from cuecard.catalogue.word_index import WordIndex


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
        finite = math.isfinite(sum(math.fsum(found.values()) for found in index.postings.values()))
    except (LookupError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(f"not an index: {error}") from None
    count = len(names)
    if index.names != tuple(names) or len(index.norms) != count or len(index.phrases) != count:
        raise ValueError("an index of other tools")
    if not all(type(norm) is float and 0 < norm < math.inf for norm in index.norms):
        raise ValueError("an index with invalid norms")
    numbers = {n for found in index.postings.values() for n in found}.union(index.following, *index.following.values())
    if not numbers <= set(range(count)):
        raise ValueError("an index of tools that do not exist")
    if not finite:
        raise ValueError("an index with invalid counts")
    return index


def _index(made: Any) -> WordIndex:
    return WordIndex(
        tuple(made["names"]),
        {form: dict(zip(tools, times, strict=True)) for form, (tools, times) in made["postings"].items()},
        made["norms"],
        [tuple(map(frozenset, phrases)) for phrases in made["phrases"]],
        {tool: frozenset(those) for tool, those in made["following"]},
    )
