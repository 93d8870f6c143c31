"""How the sections of an agent are put together, and what no value may fake of it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, TypeAlias

from cuecard.agent.world import Printing
from cuecard.config.sections.section_spec import LayoutSpec
from cuecard.records import dataclass
from cuecard.template.guards.layout_guard import LayoutGuard, layout_guard
from cuecard.template.guards.marks import Span, without

Whitespace: TypeAlias = Literal["keep", "compact", "paragraphs"]

_SPACES_AT_LINE_END = re.compile(r"(?<![ \t])[ \t]+$", re.MULTILINE)
"""Looked for where a run of blanks begins: from within one, a long run would take quadratic time."""

_BLANK_LINES = re.compile(r"\n{2,}")


@dataclass(frozen=True, slots=True)
class Layout:
    """How sections are put together. By default each stands behind the other as it is written.

    Attributes:
        separator: what stands between two sections.
        marker: what stands before the first section behind the boundary; empty where there is no boundary.
        trim: whether white space around each section is removed.
        whitespace: whether blank lines and spaces at line ends are removed: `keep` for none, `compact` for all,
            `paragraphs` for all but one blank line of several.
        escaping: how `{{{x}}}` prints data.
        markdown: whether its headings, or those of its texts, are Markdown's, so that code fences mean something.
        guard: what keeps values from looking like a heading, a separator or the marker; None where there are none.
    """

    separator: str = ""
    marker: str = ""
    trim: bool = False
    whitespace: Whitespace = "keep"
    escaping: Printing = "text"
    guard: LayoutGuard | None = None
    markdown: bool = False

    def tidied(self, text: str) -> str:
        """The text of a section as a prompt shows it."""
        if self.whitespace == "keep":
            return text
        # A single character is searched for many times faster than two.
        if " \n" in text or ("\t" in text and "\t\n" in text) or text.endswith((" ", "\t")):
            text = _SPACES_AT_LINE_END.sub("", text)
        if self.whitespace == "paragraphs":
            return _BLANK_LINES.sub("\n\n", text) if "\n\n\n" in text else text
        if "\n\n" in text:
            text = _BLANK_LINES.sub("\n", text)
        return text.removeprefix("\n")

    def shown(self, text: str, spans: Sequence[Span]) -> tuple[str, Sequence[Span]]:
        """The text of a section as a prompt shows it, tidied and trimmed, with the places of data in it."""
        tidied = self.tidied(text)
        if len(tidied) == len(text) and not self.trim:
            return text, spans
        if not spans:
            return (tidied.strip() if self.trim else tidied), spans
        if len(tidied) < len(text):
            text, spans = without(text, spans, (found.span() for found in _SPACES_AT_LINE_END.finditer(text)))
            text, spans = without(text, spans, self._blank_lines(text))
        return without(text, spans, _around(text)) if self.trim else (text, spans)

    def _blank_lines(self, text: str) -> Iterator[tuple[int, int]]:
        """From where to where line breaks are removed, once no line ends in blanks.

        The last of several stays: where an author's heading begins, that is the author's.
        """
        first = len(text) - len(text.lstrip("\n")) if self.whitespace == "compact" else 0
        yield 0, first
        for found in _BLANK_LINES.finditer(text, first):
            yield found.start(), found.end() - (1 if self.whitespace == "compact" else 2)


def _around(text: str) -> Iterator[tuple[int, int]]:
    first = len(text) - len(text.lstrip())
    yield 0, first
    yield max(len(text.rstrip()), first), len(text)


def guard_of(layout: LayoutSpec, written: Iterable[str] = ()) -> LayoutGuard:
    """What keeps values from looking like this layout: its headings, its separators, its boundary.

    Args:
        layout: the layout.
        written: what the headings begin with that the texts of sections write.

    Raises:
        SpecError: for a mark that cannot be kept out of values.
    """
    headings = headings_of(layout)
    marker = layout.boundary.marker.split("\n") if layout.boundary else ()
    return layout_guard(dict.fromkeys((*headings, *written)), layout.separator.split("\n"), marker)


def headings_of(layout: LayoutSpec) -> list[str]:
    """What the lines of the layout's own headings begin with."""
    forms = [layout.heading, *(group.heading for group in layout.groups.values() if group.heading)]
    return [_mark(form) for form in forms]


def _mark(heading: str) -> str:
    """What the line of a heading begins with."""
    return heading.lstrip("\n").partition("{{")[0].partition("\n")[0]
