"""What may be tidied in a template or in a text of instructions, by kind."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType

_BLANKS_AT_LINE_END = re.compile(r"[ \t]+$", re.MULTILINE)
_BLANK_LINES = re.compile(r"\n{3,}")


def _end(text: str) -> str:
    body = text.rstrip(" \t\n")
    return f"{body}\n" if body else ""


def _line_ends(text: str) -> str:
    return _BLANKS_AT_LINE_END.sub("", text)


def _blank_lines(text: str) -> str:
    return _BLANK_LINES.sub("\n\n", text.lstrip("\n"))


KINDS: Mapping[str, Callable[[str], str]] = MappingProxyType(
    {
        "the end of the file": _end,
        "blanks at line ends": _line_ends,
        "several blank lines in a row": _blank_lines,
    }
)
"""The kinds of tidying; each is idempotent."""
