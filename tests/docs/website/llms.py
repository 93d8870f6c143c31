"""What coding agents read: `llms.txt` has a line for each page, `llms-full.txt` the pages that are no reference."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from docs.website.markdown import title
from docs.website.navigation import Entry
from docs.website.staging import staged

_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
_SENTENCE = re.compile(r"^(.*?[.?!])(?:\s|$)", re.DOTALL)
_PROSE = re.compile(r"(?![#!|>`]{1,3}|- |<)\S|`[^`]")
_LOOKED_UP = "Reference"


def short(root: Path, groups: Sequence[Entry]) -> str:
    """The list of all pages, by group: the title, the page as Markdown, and its first sentence."""
    parts = [f"# cuecard\n\n> {_first_sentence(_text(root, 'docs/README.md'))}\n"]
    for group in groups:
        lines = [
            f"- [{title(_text(root, page))}]({staged(page)}): {_first_sentence(_text(root, page))}"
            for page in group.pages()
        ]
        parts.append(f"## {group.title}\n\n" + "\n".join(lines) + "\n")
    return "\n".join(parts)


def whole(root: Path, groups: Sequence[Entry]) -> str:
    """Every page that is read rather than looked up, one behind the other."""
    return "\n".join(f"<!-- {staged(page)} -->\n\n{_text(root, page)}" for page in _read(groups))


def _read(groups: Sequence[Entry]) -> Iterator[str]:
    for group in groups:
        if group.title != _LOOKED_UP:
            yield from group.pages()


def _text(root: Path, page: str) -> str:
    return (root / page).read_text(encoding="utf-8")


def _first_sentence(text: str) -> str:
    """Of the first paragraph of prose behind the title, on one line, without marks."""
    prose = next(each for each in text.split("\n\n")[1:] if _PROSE.match(each))
    plain = _LINK.sub(r"\1", prose).replace("**Goal:** ", "")
    found = _SENTENCE.match(plain)
    return " ".join((found[1] if found else plain).split())
