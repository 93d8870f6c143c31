"""Where the history of a request begins: one function per policy, from units to a cutoff."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from cuecard.config.history_spec import BlockHistory, LastHistory, TokenHistory, WindowHistory
from cuecard.pipeline.history.units import Unit
from cuecard.records import dataclass


@dataclass(frozen=True, slots=True)
class Cutoff:
    """What a policy decides about units, oldest first.

    Attributes:
        start: the first unit to include, with all units after it.
        loaded: the first unit that was considered.
        overflow: whether a summary must replace what is left out.
        reason: why the units from `loaded` to `start` are left out.
        unloaded: why those before `loaded` are left out.
    """

    start: int
    loaded: int = 0
    overflow: bool = False
    reason: str = ""
    unloaded: str = ""


def window(units: Sequence[Unit], spec: WindowHistory) -> Cutoff:
    """Up to `keep` messages, all of them are included; beyond that, only the last `on_overflow`."""
    sizes = [len(unit) for unit in units]
    if sum(sizes) <= spec.keep:
        return Cutoff(0)
    return Cutoff(
        newest(sizes, spec.on_overflow),
        newest(sizes, spec.load),
        overflow=True,
        reason=f"history.on_overflow: more than {spec.keep} messages, so only the last {spec.on_overflow} are included",
        unloaded=f"history.load: older than the newest {spec.load} messages",
    )


def last(units: Sequence[Unit], spec: LastHistory) -> Cutoff:
    """The last `limit` messages, and no summary."""
    start = newest([len(unit) for unit in units], spec.limit)
    return Cutoff(start, start, unloaded=f"history.limit: older than the last {spec.limit} messages")


def fits(costs: Sequence[int], loaded: int, room: int, spec: TokenHistory) -> Cutoff:
    """The newest units that fit into `room` tokens, if not all do."""
    start = max(loaded, newest(costs, room))
    return Cutoff(
        start,
        loaded,
        overflow=start > 0,
        reason=f"history.max_context: no room left in {spec.budget} tokens",
        unloaded=f"history.load: older than the newest {spec.load} messages",
    )


def blocks(units: Sequence[Unit], costs: Sequence[int], spec: BlockHistory) -> Cutoff:
    """The beginning moves by whole blocks, whenever there are more than `limit` messages or `max_tokens` tokens.

    It depends only on the messages, processed in order: so it is the same in every call until it moves, and between two
    moves, each history begins with the previous one.
    """
    most = float("inf") if spec.max_tokens is None else spec.max_tokens
    start, size, tokens = 0, 0, 0
    for at, unit in enumerate(units):
        size, tokens = size + len(unit), tokens + costs[at]
        many, dear, moved = size > spec.limit, tokens > most, 0
        while (many and (moved < spec.block or size > spec.limit)) or (dear and tokens > most * spec.low):
            if start > at or (start == at and size <= spec.limit and tokens <= most):
                break  # the newest unit is kept if it fits alone
            moved, size, tokens = moved + len(units[start]), size - len(units[start]), tokens - costs[start]
            start += 1
    return Cutoff(start, 0, overflow=start > 0, reason="history.block: the window has moved on")


def newest(costs: Sequence[int], room: int) -> int:
    """The first of the newest units that fit together, going backwards up to the first that does not."""
    used = accumulate(reversed(costs))
    return len(costs) - next((taken for taken, total in enumerate(used) if total > room), len(costs))
