"""Values on one line of a terminal: cut at its width, between two words."""

from __future__ import annotations

import json

from rich.cells import cell_len, chop_cells

from cuecard.errors import visible
from cuecard.model import Json

MARK = " ..."
"""What stands behind a text that was cut."""

LEAST = 24
"""Cells that a value gets even where a line has no room for it; the terminal wraps the line then."""


def fit(value: Json, room: int) -> str:
    """The value on one line of at most `room` cells, or 24 where that is less.

    What is longer is cut behind the last whole word that fits. A word that takes more than half of the line by itself
    is cut within: it is an address or an id, and its beginning says more than nothing.
    """
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    line, room = visible(" ".join(text.split())), max(room, LEAST)
    if cell_len(line) <= room:
        return line
    start = chop_cells(line, room - len(MARK))[0]
    whole = start if line[len(start)] == " " else start.rpartition(" ")[0]
    return (whole if cell_len(whole) * 2 >= room else start).rstrip() + MARK
