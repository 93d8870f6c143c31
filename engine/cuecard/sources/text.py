"""Joins texts without losing the mark of trusted ones."""

from __future__ import annotations

from cuecard.template import Trusted, trusted


def joined(text: str, more: str) -> str:
    """The text followed by an author's text; the result is trusted only if the first one is."""
    return trusted(text + more) if isinstance(text, Trusted) else text + more


def one_line(text: str) -> str:
    """The text on one line: line breaks and runs of white space become one space."""
    return " ".join(text.split())
