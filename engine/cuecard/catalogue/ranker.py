"""What a ranker is: anything that scores tools for a query."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeAlias

Ranker: TypeAlias = Callable[[str, int], Sequence[tuple[str, float]]]
"""Query and limit to names with scores from 0 to 1, best first; the first score is the confidence of the answer."""

AsyncRanker: TypeAlias = Callable[[str, int], Awaitable[Sequence[tuple[str, float]]]]
"""A `Ranker` that is awaited: query and limit to names with scores from 0 to 1, best first."""
