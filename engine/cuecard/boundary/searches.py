"""The arguments of a search."""

from __future__ import annotations

from typing import Any

from cuecard.boundary.calls import CALL, take_results
from cuecard.model import History
from cuecard.shapes import Findings, Function, Maybe, Shape, Text, Whole

_LIMIT: Shape = Maybe([Whole()])
_QUERY, _RANKER = Text(), Function("a ranker, which takes a query and a limit and returns names with scores")
_MAYBE_CALL = Maybe([CALL])


def check_search(query: Any, limit: Any) -> None:
    """The arguments of `explain_search`; the range of limits is checked by the search.

    Raises:
        InputError: with each that is wrong.
    """
    found = Findings()
    _take(query, limit, found)
    found.refuse()


def admit_search(query: Any, limit: Any, call: Any, history: Any, ranker: Any = None) -> History:
    """The arguments of `search_tools` and `asearch_tools`: the history.

    Raises:
        InputError: with each that is wrong.
    """
    found = Findings()
    _take(query, limit, found)
    if ranker is not None:
        _RANKER.take(ranker, "ranker", found)
    _MAYBE_CALL.take(call, "call", found)
    results = take_results(history, "history", found)
    if call is None and results:
        found.report("wrong-argument", "history", "has no meaning without its call", "pass `call` as well")
    found.refuse()
    return results


def _take(query: Any, limit: Any, found: Findings) -> None:
    _QUERY.take(query, "query", found)
    _LIMIT.take(limit, "limit", found)
