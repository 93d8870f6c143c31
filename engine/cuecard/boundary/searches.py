"""The arguments of a search, and the answer of a host's own ranker."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cuecard.shapes import Findings, Function, Maybe, Shape, Text, Whole
from cuecard.shapes.findings import seen
from cuecard.shapes.values import Number

_LIMIT: Shape = Maybe([Whole()])
_QUERY, _NAME, _SCORE, _RANKER = Text(), Text(), Number(), Function("a ranker: query and limit to names with scores")


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


def admit_hits(hits: Any) -> Sequence[tuple[str, float]]:
    """What a ranker of the host has answered: names with scores.

    Raises:
        InputError: with everything that is no pair of a name and a finite number.
    """
    found = Findings()
    if not isinstance(hits, Sequence) or isinstance(hits, (str, bytes)):
        found.wrong("ranker()", "a list of names with scores", hits)
        found.refuse()
    for place, hit in enumerate(hits):
        if not isinstance(hit, (list, tuple)) or len(hit) != 2:
            found.report("wrong-argument", f"ranker()[{place}]", f"should be a name and a score, not {seen(hit)}")
            continue
        _NAME.take(hit[0], f"ranker()[{place}][0]", found)
        _SCORE.take(hit[1], f"ranker()[{place}][1]", found)
    found.refuse()
    return [(name, score) for name, score in hits]
