"""Links, headings and anchors of Markdown, as GitHub reads it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_FENCE = re.compile(r"^(?P<indent> *)(?P<fence>`{3,}|~{3,}).*?^ *(?P=fence)`*$", re.MULTILINE | re.DOTALL)
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_CODE = re.compile(r"(?<!`)(`+)(?!`)(?:.(?!\n\n))*?(?<!`)\1(?!`)", re.DOTALL)
_LINK = re.compile(r"""\]\((?P<target>[^)\s]+)(?:\s+"[^"]*")?\)|\b(?:href|src|srcset)="(?P<attribute>[^"]+)\"""")
_HEADING = re.compile(r"^(#{1,6}) +(.*?)(?: +#+)?$", re.MULTILINE)
_ANCHOR = re.compile(r"""<\w+[^>]*\b(?:id|name)="([^"]+)\"""")


@dataclass(frozen=True, slots=True)
class Link:
    """A link in a page.

    Attributes:
        target: what it leads to, as it is written.
        line: its line, from 1.
        start: where the target begins in the text of the page, in characters.
    """

    target: str
    line: int
    start: int

    @property
    def is_relative(self) -> bool:
        """Whether it leads to a file of the repository, or to a heading."""
        return not re.match(r"[a-z][a-z0-9+.-]*:|//", self.target, re.IGNORECASE)


def links(text: str) -> Iterator[Link]:
    """Every link and picture outside of code, in order."""
    seen = _blank(_CODE, _without_blocks(text))
    for match in _LINK.finditer(seen):
        name = "target" if match["target"] else "attribute"
        yield Link(match[name], text.count("\n", 0, match.start()) + 1, match.start(name))


def title(text: str) -> str:
    """The first heading, without marks."""
    match = _HEADING.search(_without_blocks(text))
    return _plain(match[2]) if match else ""


def anchors(text: str) -> set[str]:
    """What a `#fragment` may name: the slugs of headings, and elements with an `id`."""
    text = _without_blocks(text)
    found = set(_ANCHOR.findall(_blank(_CODE, text)))
    for match in _HEADING.finditer(text):
        slug = re.sub(r"[^\w\- ]", "", _plain(match[2]).lower()).replace(" ", "-")
        number = 0
        while (unique := f"{slug}-{number}" if number else slug) in found:
            number += 1
        found.add(unique)
    return found


def _plain(heading: str) -> str:
    return re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").replace("**", "")


def _without_blocks(text: str) -> str:
    return _blank(_COMMENT, _blank(_FENCE, text))


def _blank(pattern: re.Pattern[str], text: str) -> str:
    """The text with spaces in place of what matches, so that lines and places stay."""
    return pattern.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)
