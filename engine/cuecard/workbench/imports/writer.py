"""Writes Handlebars from texts and tags: text stays text, and no line break is lost around a tag."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cuecard.records import dataclass

_BRACES = re.compile(r"\{{2,}")
_LINE_BEFORE = re.compile(r"\n[^\S\n]*\Z")
_LINE_BEHIND = re.compile(r"[^\S\n]*\n")


@dataclass(frozen=True, slots=True)
class _Part:
    text: str
    is_tag: bool = False
    is_block: bool = False
    is_last: bool = False


class HandlebarsWriter:
    """Collects the parts of a template in another language, and writes them as Handlebars."""

    def __init__(self) -> None:
        self._parts: list[_Part] = []

    def text(self, text: str) -> None:
        """Add a text that is printed as it is."""
        if text and self._parts and not self._parts[-1].is_tag:
            text = self._parts.pop().text + text
        if text:
            self._parts.append(_Part(text))

    def tag(self, tag: str, *, block: bool = False, last: bool = False) -> None:
        """Add a tag; `block` for tags that remove their line if they are alone on it, `last` for the `else` behind an
        `else if`.
        """
        self._parts.append(_Part(tag, is_tag=True, is_block=block, is_last=last))

    def written(self) -> str:
        """The template."""
        return "".join(self._written())

    def _written(self) -> Iterator[str]:
        parts = self._parts
        for at, part in enumerate(parts):
            if part.is_tag:
                # Handlebars drops a line that contains only a block tag; a comment next to it keeps the line.
                yield "{{!}}" if part.is_block and self._is_alone(at) else ""
                yield part.text
                yield between(part.text, parts[at + 1].text if at + 1 < len(parts) else "")
            else:
                yield _escaped(part.text, before_tag=at + 1 < len(parts))

    def _is_alone(self, at: int) -> bool:
        parts = self._parts
        before = parts[at - 1] if at else None
        behind = parts[at + 1] if at + 1 < len(parts) else None
        begins = before is None or (not before.is_tag and _begins_line(before.text, first=at == 1))
        ends = behind is None or (not behind.is_tag and _ends_line(behind.text, last=at + 2 == len(parts)))
        # What precedes the last `else` of a chain decides, in Handlebars, whether the end of the chain is alone.
        return begins and (ends or parts[at].is_last)


def _begins_line(text: str, *, first: bool) -> bool:
    return _LINE_BEFORE.search(text) is not None or (first and not text.strip())


def _ends_line(text: str, *, last: bool) -> bool:
    return _LINE_BEHIND.match(text) is not None or (last and not text.strip())


def between(tag: str, behind: str) -> str:
    """The separator between a tag and the text after it: a brace there would be read as part of the tag."""
    return "{{!}}" if tag.endswith("}}") and behind.startswith("}") else ""


def escaped(text: str) -> str:
    """A text escaped so that Handlebars prints it as it is, whatever follows."""
    return _escaped(text, before_tag=True)


def _escaped(text: str, *, before_tag: bool) -> str:
    out = ""
    last = 0
    for found in _BRACES.finditer(text):
        out += text[last : found.start()]
        ends = found.end() == len(text) and before_tag
        plain = found.end() - found.start() == 2 and not ends and not out.endswith("\\")
        out = f"{out}\\{{{{" if plain else _before_tag(out) + _literal(found[0])
        last = found.end()
    out += text[last:]
    return _before_tag(out) if before_tag else out


def _before_tag(text: str) -> str:
    """The separator before a tag: a backslash would turn the tag into text, and a brace would become part of it."""
    if text.endswith("{"):
        return _before_tag(text[:-1]) + _literal("{")
    return f"{text}\\" if text.endswith("\\") else text


def _literal(text: str) -> str:
    return f'{{{{{{default null "{text}"}}}}}}{{{{!}}}}'
