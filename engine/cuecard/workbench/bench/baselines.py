"""The baselines of the search benchmark: plain BM25 with stemming and SQLite's full-text search, if installed."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress
from functools import cache
from importlib.util import find_spec
from types import MappingProxyType
from typing import TypeAlias
from weakref import finalize

from cuecard.agent.host_functions import NamedRanker
from cuecard.catalogue.bm25 import Bm25Ranker
from cuecard.catalogue.fields import FIELDS
from cuecard.catalogue.ranker import Ranker
from cuecard.catalogue.words import STOP_WORDS
from cuecard.config.tools_spec import BM25, parse_ranker
from cuecard.errors import Problem, SpecError
from cuecard.files.rankers.choice import SearchWish
from cuecard.files.rankers.encoder import Tools
from cuecard.model import ToolCard

Build: TypeAlias = Callable[[Sequence[ToolCard]], Ranker]

_WORD = re.compile(r"[^\W_]+")


def rank_bm25(cards: Sequence[ToolCard]) -> Ranker:
    """`BM25Okapi` from rank-bm25 over all fields as one text, with Snowball's English stemmer and without stop
    words.
    """
    from rank_bm25 import BM25Okapi
    from snowballstemmer import stemmer

    stem = cache(stemmer("english").stemWord)

    def words(text: str) -> list[str]:
        return [stem(word) for word in _WORD.findall(text.lower()) if word not in STOP_WORDS]

    index = BM25Okapi([words(_text(card)) or [""] for card in cards])

    def rank(query: str, limit: int) -> list[tuple[str, float]]:
        scores = index.get_scores(words(query))
        return [(cards[n].name, float(scores[n])) for n in scores.argsort()[::-1][:limit] if scores[n] > 0]

    return rank


def sqlite_fts5(cards: Sequence[ToolCard]) -> Ranker:
    """An SQLite virtual table with its Porter stemmer; any word of the query may match."""
    database = sqlite3.connect(":memory:")
    database.execute("create virtual table t using fts5(text, tokenize='porter')")
    database.executemany("insert into t (rowid, text) values (?, ?)", enumerate(map(_text, cards)))
    select = "select rowid, -rank from t where t match ? order by rank limit ?"

    def rank(query: str, limit: int) -> list[tuple[str, float]]:
        words = [word for word in _WORD.findall(query.lower()) if word not in STOP_WORDS]
        asked = " OR ".join(f'"{word}"' for word in words)
        return [(cards[n].name, score) for n, score in database.execute(select, (asked, limit))] if asked else []

    finalize(rank, database.close)
    return rank


BASELINES: Mapping[str, Build] = MappingProxyType({"rank-bm25": rank_bm25, "sqlite-fts5": sqlite_fts5})
"""Other search engines. Their scores have different scales, so confidence and cut do not apply."""


def installed() -> dict[str, Build]:
    """Every installed ranker, followed by the baselines."""
    rankers: dict[str, Build] = {"bm25": Bm25Ranker.build}
    with suppress(SpecError):  # its extra is missing
        rankers["semantic"] = named_build("semantic", allow_code=False)
    there = {"rank-bm25": find_spec("rank_bm25") is not None, "sqlite-fts5": _has_fts5()}
    return {**rankers, **{name: build for name, build in BASELINES.items() if there[name]}}


def named_build(name: str, *, allow_code: bool) -> Build:
    """The ranker that an agent file would get by this name.

    Raises:
        SpecError: when it does not exist, or is code that is not allowed.
    """
    named = NamedRanker(parse_ranker(name) or BM25, Problem("", "", name="--ranker"))
    search = SearchWish(allow_code=allow_code, cache=False).open(named)
    return lambda cards: search.make(Tools(cards, lambda: Bm25Ranker.build(cards), search.cache))


def _has_fts5() -> bool:
    with closing(sqlite3.connect(":memory:")) as database:
        return any(option == "ENABLE_FTS5" for (option,) in database.execute("pragma compile_options"))


def _text(card: ToolCard) -> str:
    return "\n".join(text(card) for text in FIELDS.values())
