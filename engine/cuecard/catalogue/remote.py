"""A search with an asynchronous ranker, such as a remote service or an embedding model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import NoReturn, TypeVar

from cuecard.catalogue.ranker import AsyncRanker
from cuecard.catalogue.search import SearchIndex

Answer = TypeVar("Answer")


async def search_remotely(index: SearchIndex, ranker: AsyncRanker, search: Callable[[SearchIndex], Answer]) -> Answer:
    """The result of a search with an awaited ranker; if it fails, the index's fallback answers.

    The ranker is not called if the search would not call one: for a blank query, or one that is too long.

    Args:
        index: the index to search; its own ranker is not used.
        ranker: is used instead.
        search: the search as a function of an index.
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
