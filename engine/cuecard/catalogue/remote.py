"""A search whose ranker is asynchronous: a service far away, an embedding model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, NoReturn, TypeVar

from cuecard.catalogue.ranker import AsyncRanker

if TYPE_CHECKING:
    from cuecard.catalogue.search import SearchIndex

Answer = TypeVar("Answer")


async def search_remotely(index: SearchIndex, ranker: AsyncRanker, search: Callable[[SearchIndex], Answer]) -> Answer:
    """What a search finds whose ranker has to be awaited; where it fails, the index's fallback answers.

    The ranker is not asked where the search would not ask one: for a blank query, or one that is too long.

    Args:
        index: what is searched; its own ranker is not asked.
        ranker: is asked instead.
        search: the search, given an index.
    """
    asked: list[tuple[str, int]] = []

    def note(query: str, limit: int) -> Sequence[tuple[str, float]]:
        asked.append((query, limit))
        return ()

    refused = search(replace(index, ranker=note))
    if not asked:
        return refused
    try:
        hits = await ranker(*asked[0])
    except Exception as error:  # noqa: BLE001 - as with a ranker that is not awaited, the conversation goes on
        return search(replace(index, ranker=partial(_fail, error)))
    return search(replace(index, ranker=lambda *_: hits))


def _fail(error: Exception, _query: str, _limit: int) -> NoReturn:
    raise error
