"""The structure of a prompt as CommonMark reads it: another judge, written by others than the engine's guards."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from markdown_it import MarkdownIt
from markdown_it.token import Token

_MARKDOWN = MarkdownIt("commonmark")
_RANKS = {f"h{rank}": "#" * rank for rank in range(1, 7)}


@lru_cache(maxsize=256)
def headings(text: str) -> tuple[tuple[str, str], ...]:
    """Rank and text of the headings that stand in no list and no quotation, in order."""
    tokens = _MARKDOWN.parse(text)
    found = (place for place, token in enumerate(tokens) if token.type == "heading_open" and token.level == 0)
    return tuple((_RANKS[tokens[place].tag], tokens[place + 1].content) for place in found)


def blocks_of(text: str, line: str) -> list[str]:
    """What kind of block each line stands in that reads like this one."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    places = [place for place, each in enumerate(lines) if each == line]
    leaves = list(_leaves(_MARKDOWN.parse(text)))
    return [next((kind for kind, first, last in leaves if first <= place < last), "") for place in places]


def _leaves(tokens: list[Token]) -> Iterator[tuple[str, int, int]]:
    for token in tokens:
        if token.map and token.type in {"inline", "fence", "code_block", "html_block"}:
            yield token.type, token.map[0], token.map[1]
