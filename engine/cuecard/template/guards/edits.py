"""Changes to a text, collected one by one and applied together."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple


class Edit(NamedTuple):
    """At `at`, a number of characters is replaced by a text; `kind` is the category in which the edit is counted."""

    at: int
    removed: int
    text: str
    kind: str


def edited(text: str, edits: Iterable[Edit]) -> str:
    """The text with all of these changes; identical changes at the same place are applied once."""
    pieces, at = [], 0
    for edit in sorted(set(edits), key=_order):
        pieces += [text[at : edit.at], edit.text]
        at = edit.at + edit.removed
    return "".join([*pieces, text[at:]]) if pieces else text


def _order(edit: Edit) -> tuple[int, int, int, str, str]:
    """An added line, such as the end of a code fence, must not share its line with other additions at the same place.

    One added after the end of a line comes last at its place, one added before the start of a line comes first.
    """
    text = edit.text
    place = 1 if text[:1] == "\n" else -1 if text[-1:] == "\n" else 0
    return edit.at, edit.removed, place, text, edit.kind
