"""Foreign text in Markdown for GitHub, escaped so that it has no effect, and a body of limited length."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from cuecard.errors import visible

_PLAIN = re.compile(r"[^A-Za-z0-9 ./,+-]")
_TICKS = re.compile(r"`+")


def code(text: str, most: int = 80) -> str:
    """The text as inline code for a table or a heading, truncated to a number of characters."""
    shown = visible(text)
    cut = shown if len(shown) <= most else f"{shown[: most - 3]}..."
    return f"<code>{_PLAIN.sub(lambda found: f'&#{ord(found[0])};', cut)}</code>"


def fenced(lines: Iterable[str], language: str) -> str:
    """The lines as a code block that none of them can end."""
    text = "\n".join(lines)
    fence = "`" * max(3, 1 + max((len(found) for found in _TICKS.findall(text)), default=0))
    return f"{fence}{language}\n{text}\n{fence}\n"


def row(cells: Sequence[str]) -> str:
    """A row of a table."""
    return f"| {' | '.join(cells)} |\n"


class Body:
    """A text with a maximum length.

    Args:
        most: the maximum length in characters.
    """

    def __init__(self, most: int) -> None:
        self.text, self.most = "", most

    def take(self, text: str, *, spare: int = 0) -> bool:
        """Add the text if there is room for it and `spare` more characters; returns whether there was."""
        fits = len(self.text) + len(text) + spare <= self.most
        self.text += text if fits else ""
        return fits

    def take_rows(self, rows: Sequence[str], *, spare: int, what: str) -> None:
        """Add rows of a table while there is room, and state how many were left out."""
        taken = next((at for at, each in enumerate(rows) if not self.take(each, spare=spare)), len(rows))
        if taken < len(rows):
            self.text += f"\n{len(rows) - taken:,} more {what} are omitted.\n"
