"""The differences between two states of a server's content."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from cuecard.cli.run.events import Change
from cuecard.model import Json


def changes(before: Json, after: Json, path: str = "") -> Iterator[Change]:
    """Every difference at its outermost place: an object that was added or removed as a whole is one change."""
    if not isinstance(before, Mapping) or not isinstance(after, Mapping):
        if before != after:
            yield Change(path, before, after)
        return
    for key in dict.fromkeys([*before, *after]):
        inner = f"{path}.{key}" if path else key
        if key in before and key in after:
            yield from changes(before[key], after[key], inner)
        else:
            yield Change(inner, before.get(key), after.get(key))
