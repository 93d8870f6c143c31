"""BM25 over the words of the tools, cached if the catalogue is large."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Sequence
from functools import cache as once
from importlib.metadata import version
from importlib.resources import files

from cuecard.catalogue.bm25 import Bm25Ranker
from cuecard.catalogue.fields import WEIGHTS
from cuecard.catalogue.packing import pack, unpack
from cuecard.catalogue.word_index import WordIndex
from cuecard.model import ToolCard
from cuecard.outside.cache import Cache, fingerprint

WORTH_KEEPING = 100
"""The number of tools from which an index takes so long to build (0.03 s) that caching it (a tenth of that to read)
pays.
"""


def lexical_ranker(cards: Sequence[ToolCard], cache: Cache) -> Bm25Ranker:
    """The ranker of these tools."""
    if len(cards) < WORTH_KEEPING or cache.folder is None:
        return Bm25Ranker.build(cards)
    key = fingerprint(["words 1", *_made_by(), *map(_text, cards)])
    names = [card.name for card in cards]
    kept = cache.get(key)
    if kept is not None:
        try:
            return Bm25Ranker(unpack(kept, names), WEIGHTS)
        except ValueError:  # of another format: built again
            pass
    index = WordIndex.build(cards)
    cache.put(key, pack(index))
    return Bm25Ranker(index, WEIGHTS)


def _text(card: ToolCard) -> str:
    """Everything that an index depends on."""
    instructions = card.instructions
    told = [instructions.before, instructions.after, instructions.next, instructions.gotcha] if instructions else []
    known = [card.name, card.description, card.input_schema, card.phrases, card.category, told]
    return json.dumps(known, default=str)


@once
def _made_by() -> tuple[str, ...]:
    """What else an index depends on besides the cards: our own code, the stemmer, Python's character tables."""
    catalogue = files("cuecard").joinpath("catalogue")
    ours = sorted((file.name, file) for file in catalogue.iterdir() if file.name.endswith(".py"))
    return (
        *(file.read_text(encoding="utf-8") for _, file in ours),
        version("cuecard"),
        version("snowballstemmer"),
        unicodedata.unidata_version,
    )
