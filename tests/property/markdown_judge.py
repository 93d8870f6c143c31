"""The structure of a prompt as CommonMark reads it: another judge, written by others than the engine's guards."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from markdown_it import MarkdownIt
from markdown_it.token import Token

_RANKS = {f"h{rank}": "#" * rank for rank in range(1, 7)}
_HTML = re.compile("^[ ]{0,3}<", re.MULTILINE)


class Judge:
    """A CommonMark reader for texts like a harmless one.

    Where that begins HTML itself, which goes on to the next blank line, HTML is read as text: how far an author's
    reaches depends on the values in it, and is not promised.
    """

    def __init__(self, harmless: str) -> None:
        self._read = _tokens_of_text if _HTML.search(harmless) else _tokens

    def headings(self, text: str) -> list[tuple[str, str]]:
        """Rank and text of the headings that stand in no list and no quotation, in order."""
        tokens = self._read(text)
        found = (place for place, token in enumerate(tokens) if token.type == "heading_open" and token.level == 0)
        return [(_RANKS[tokens[place].tag], tokens[place + 1].content) for place in found]

    def blocks_of(self, text: str, line: str) -> list[str]:
        """What kind of block each line stands in that reads like this one."""
        lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        places = [place for place, each in enumerate(lines) if each == line]
        leaves = list(_leaves(self._read(text)))
        return [next((kind for kind, first, last in leaves if first <= place < last), "") for place in places]


@lru_cache(maxsize=64)
def _tokens(text: str) -> list[Token]:
    return MarkdownIt("commonmark").parse(text)


@lru_cache(maxsize=64)
def _tokens_of_text(text: str) -> list[Token]:
    return MarkdownIt("commonmark").disable("html_block").parse(text)


def _leaves(tokens: list[Token]) -> Iterator[tuple[str, int, int]]:
    for token in tokens:
        if token.map and token.type in {"inline", "fence", "code_block", "html_block"}:
            yield token.type, token.map[0], token.map[1]
