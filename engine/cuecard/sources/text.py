"""Two texts as one, without losing the mark that says whose they are."""

from __future__ import annotations

from cuecard.template import Trusted, trusted


def joined(text: str, more: str) -> str:
    """The text, then an author's text; an author's as a whole only where the first one is."""
    return trusted(text + more) if isinstance(text, Trusted) else text + more


def one_line(text: str) -> str:
    """The text on one line: line breaks and runs of blanks become one space."""
    return " ".join(text.split())
