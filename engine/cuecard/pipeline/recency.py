"""Which tools a conversation has used last: where not all of them fit, those that it used longest ago go first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def recent_first(tools: Iterable[str], called: Sequence[str], named: Sequence[str]) -> tuple[str, ...]:
    """Tools in the order in which they are given room.

    Those that were called come first, the last called in front; then those that a search has named, the last named in
    front; then all others, the last of them in front.

    Args:
        tools: their names, in order of discovery.
        called: tools that were called, the one whose last result is oldest first.
        named: tools that searches have named, the best of those that were named last at the end.
    """
    calls, names = ({name: place for place, name in enumerate(each)} for each in (called, named))
    ranked = sorted(enumerate(tools), key=lambda each: (calls.get(each[1], -1), names.get(each[1], -1), each[0]))
    return tuple(name for _, name in reversed(ranked))
