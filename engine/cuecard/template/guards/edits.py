"""Changes of a text, found one by one and made at once."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple


class Edit(NamedTuple):
    """At `at`, so many characters give way to a text; `kind` is what it is counted as."""

    at: int
    removed: int
    text: str
    kind: str


def edited(text: str, edits: Iterable[Edit]) -> str:
    """The text with all of these changes; of two that say the same of one place, one."""
    pieces, at = [], 0
    for edit in sorted(set(edits), key=_order):
        pieces += [text[at : edit.at], edit.text]
        at = edit.at + edit.removed
    return "".join([*pieces, text[at:]]) if pieces else text


def _order(edit: Edit) -> tuple[int, int, int, str, str]:
    """Lines that are added, such as the end of a code fence, share theirs with nothing else that is added there.

    One behind what ends a line comes last at its place, one before what begins a line comes first.
    """
    text = edit.text
    place = 1 if text[:1] == "\n" else -1 if text[-1:] == "\n" else 0
    return edit.at, edit.removed, place, text, edit.kind
