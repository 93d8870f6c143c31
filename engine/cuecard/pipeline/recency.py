"""The order of tools by recency: if not all fit, the least recently used ones are dropped first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def recent_first(tools: Iterable[str], called: Sequence[str], named: Sequence[str]) -> tuple[str, ...]:
    """The tools in the order in which they get room.

    Called tools come first, beginning with the last called; then those named by a search, beginning with the last
    named; then all others, beginning with the last.

    Args:
        tools: their names, in order of discovery.
        called: tools that were called, the one with the oldest last result first.
        named: tools that searches named, ending with the best hit of the latest search.
    """
    calls, names = ({name: place for place, name in enumerate(each)} for each in (called, named))
    ranked = sorted(enumerate(tools), key=lambda each: (calls.get(each[1], -1), names.get(each[1], -1), each[0]))
    return tuple(name for _, name in reversed(ranked))
