"""Fits values on one line of a terminal, cutting between two words."""

from __future__ import annotations

import json

from rich.cells import cell_len, chop_cells

from cuecard.errors import visible
from cuecard.model import Json

MARK = " ..."
"""The mark after a text that was cut."""

LEAST = 24
"""The minimum width of a value in cells; if a line has less room, the terminal wraps it."""


def fit(value: Json, room: int) -> str:
    """The value on one line of at most `room` cells, or 24 where that is less.

    A longer value is cut after the last whole word that fits. A word that takes more than half of the line is cut
    inside: it is an address or an id, and its beginning is better than nothing.
    """
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    line, room = visible(" ".join(text.split())), max(room, LEAST)
    if cell_len(line) <= room:
        return line
    start = chop_cells(line, room - len(MARK))[0]
    whole = start if line[len(start)] == " " else start.rpartition(" ")[0]
    word = line[len(whole) :].split(maxsplit=1)[0]
    return (start if cell_len(word) * 2 > room else whole).rstrip() + MARK
