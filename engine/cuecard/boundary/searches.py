"""The arguments of a search."""

from __future__ import annotations

from typing import Any

from cuecard.shapes import Findings, Function, Maybe, Shape, Text, Whole

_LIMIT: Shape = Maybe([Whole()])
_QUERY, _RANKER = Text(), Function("a ranker: query and limit to names with scores")


def check_search(query: Any, limit: Any, ranker: Any = None) -> None:
    """The arguments of `search_tools` and `asearch_tools`; which limits there are, the search knows.

    Raises:
        InputError: with each that is wrong.
    """
    found = Findings()
    _QUERY.take(query, "query", found)
    _LIMIT.take(limit, "limit", found)
    if ranker is not None:
        _RANKER.take(ranker, "ranker", found)
    found.refuse()
