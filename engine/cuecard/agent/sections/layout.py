"""How the sections of an agent are joined, and the marks that no value may imitate."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, TypeAlias

from cuecard.agent.world import Printing
from cuecard.config.sections.section_spec import LayoutSpec
from cuecard.records import dataclass
from cuecard.template.guards.layout_guard import LayoutGuard, layout_guard
from cuecard.template.guards.marks import Span, data_within, has_marks, read_marks, stripped, without

Whitespace: TypeAlias = Literal["keep", "compact", "paragraphs"]

_SPACES_AT_LINE_END = re.compile(r"(?<![ \t])[ \t]+$", re.MULTILINE)
_LINE_BREAK = re.compile(r"\n")
_LINE_ENDS = re.compile(r"(?<![ \t])[ \t]*\n(?:[ \t]*\n)*|(?<![ \t])[ \t]+\Z")


@dataclass(frozen=True, slots=True)
class Layout:
    """How sections are joined. By default, they follow one another as written.

    Attributes:
        separator: the text between two sections.
        marker: the text before the first section after the boundary; empty if there is no boundary.
        trim: whether white space around each section is removed.
        whitespace: whether blank lines and spaces at line ends are removed: `keep` for none, `compact` for all,
            `paragraphs` for all but one blank line of several.
        escaping: how `{{{x}}}` prints data.
        markdown: whether its headings, or those in its texts, are Markdown, so that code fences matter.
        guard: keeps values from looking like a heading, a separator or the marker; None if there are none.
    """

    separator: str = ""
    marker: str = ""
    trim: bool = False
    whitespace: Whitespace = "keep"
    escaping: Printing = "text"
    guard: LayoutGuard | None = None
    markdown: bool = False

    def shown(self, text: str) -> str:
        """The text of a section as a prompt shows it, still with data marks, for the gate."""
        if has_marks(text):
            text = text if self.whitespace == "keep" else without(text, self._untidy(*read_marks(text)))
            return stripped(text) if self.trim else text
        text = self.tidied(text)
        return text.strip() if self.trim else text

    def _untidy(self, text: str, spans: Sequence[Span]) -> Iterator[tuple[int, int]]:
        """The spans that `tidied` removes.

        Of several line breaks, the author's are kept, so that data that repeats them neither begins nor ends an
        author's line.
        """
        most = 2 if self.whitespace == "paragraphs" else 1
        for ends in _LINE_ENDS.finditer(text):
            at = ends.start()
            breaks = [place.start() for place in _LINE_BREAK.finditer(text, at, ends.end())]
            for kept in _owned(breaks, spans, most) if at or self.whitespace == "paragraphs" else ():
                yield at, kept
                at = kept + 1
            yield at, ends.end()

    def tidied(self, text: str) -> str:
        """The text without the white space that `whitespace` removes."""
        if self.whitespace == "keep":
            return text
        # Searching for a single character is many times faster than for two.
        if " \n" in text or ("\t" in text and "\t\n" in text) or text.endswith((" ", "\t")):
            text = _SPACES_AT_LINE_END.sub("", text)
        most = "\n\n\n" if self.whitespace == "paragraphs" else "\n\n"
        while most in text:  # many times faster than an expression
            text = text.replace(most, most[1:])
        return text if self.whitespace == "paragraphs" else text.removeprefix("\n")


def _owned(breaks: Sequence[int], spans: Sequence[Span], most: int) -> Sequence[int]:
    """The last of these places, preferring the author's to those in data, from left to right."""
    if len(breaks) <= most:
        return breaks
    by_owner = sorted(breaks, key=lambda at: (not data_within(spans, at, at + 1), at))
    return sorted(by_owner[-most:])


def guard_of(layout: LayoutSpec, written: Iterable[str] = ()) -> LayoutGuard:
    """The guard that keeps values from looking like this layout: its headings, separators and boundary.

    Args:
        layout: the layout.
        written: the beginnings of the headings in the texts of sections.

    Raises:
        SpecError: for a mark that values cannot be guarded against.
    """
    headings = headings_of(layout)
    marker = layout.boundary.marker.split("\n") if layout.boundary else ()
    return layout_guard(dict.fromkeys((*headings, *written)), layout.separator.split("\n"), marker)


def headings_of(layout: LayoutSpec) -> list[str]:
    """The beginnings of the layout's own headings."""
    forms = [layout.heading, *(group.heading for group in layout.groups.values() if group.heading)]
    return [_mark(form) for form in forms]


def _mark(heading: str) -> str:
    """The beginning of a heading's line."""
    return heading.lstrip("\n").partition("{{")[0].partition("\n")[0]
