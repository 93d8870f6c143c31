"""Texts of sources: joined without losing the mark of trusted ones, on one line, or blank."""

from __future__ import annotations

from cuecard.template import Trusted, trusted
from cuecard.template.guards.marks import unmarked


def joined(text: str, more: str) -> str:
    """The text followed by an author's text; the result is trusted only if the first one is."""
    return trusted(text + more) if isinstance(text, Trusted) else text + more


def one_line(text: str) -> str:
    """The text on one line: line breaks and runs of white space become one space."""
    return " ".join(text.split())


def is_blank(text: str) -> bool:
    """Whether a rendered text has nothing but white space, which counts as nothing in every source."""
    return not unmarked(text).strip()
