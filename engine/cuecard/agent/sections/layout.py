"""Headings and joints of sections."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Literal, TypeAlias

from cuecard.agent.world import Printing
from cuecard.config.documents.document import Document, Path, inline_problem
from cuecard.config.sections.section_spec import LayoutSpec, SectionSpec
from cuecard.errors import Problem, TemplateError, did_you_mean
from cuecard.records import dataclass
from cuecard.template import Template, compile_template, trusted
from cuecard.template.guards.layout import LayoutGuard, layout_guard
from cuecard.template.guards.marks import DataSpans, data_within, has_marks, read_marks, stripped, without

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
            if self.whitespace != "keep":
                plain, spans = read_marks(text)
                text = text if self.tidied(plain) == plain else without(text, self._untidy(plain, spans))
            return stripped(text) if self.trim else text
        text = self.tidied(text)
        return text.strip() if self.trim else text

    def _untidy(self, text: str, spans: DataSpans) -> Iterator[tuple[int, int]]:
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


def _owned(breaks: Sequence[int], spans: DataSpans, most: int) -> Sequence[int]:
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
    """The beginnings of the lines of the layout's own headings."""
    forms = [layout.heading, *(group.heading for group in layout.groups.values() if group.heading)]
    return [form.lstrip("\n").partition("{{")[0].partition("\n")[0] for form in forms]


class Headings:
    """The headings of a layout, as far as they could be compiled, and the `problems` of the others."""

    def __init__(self, document: Document, layout: LayoutSpec) -> None:
        """Compile each heading once; it may only read `title`."""
        self.problems: list[Problem] = []
        self._layout = layout
        self._usual = self._compiled(document, ("layout", "heading"), layout.heading)
        self._within = {
            name: self._compiled(document, ("layout", "groups", name, "heading"), group.heading)
            for name, group in layout.groups.items()
            if group.heading is not None
        }

    def heading(self, spec: SectionSpec) -> str:
        """The heading of a section."""
        return _titled(self._form(groups_around(self._layout, spec.group)), spec.title)

    def leads(self, spec: SectionSpec) -> tuple[tuple[str, str], ...]:
        """The groups around a section, the outermost first, each with its heading."""
        around = groups_around(self._layout, spec.group)
        return tuple(
            (name, _titled(self._form(around[:depth]), self._layout.groups[name].title))
            for depth, name in enumerate(around)
        )

    def _form(self, groups: tuple[str, ...]) -> Template | None:
        """The heading template within these groups: that of the innermost group that has one."""
        own = next((name for name in reversed(groups) if name in self._within), None)
        return self._usual if own is None else self._within[own]

    def _compiled(self, document: Document, at: Path, text: str) -> Template | None:
        if not text:
            return None
        place = partial(inline_problem, document, at)
        try:
            template = compile_template(text, name="heading")
        except TemplateError as error:
            self.problems += map(place, error.problems)
            return None
        unknown = [use for use in template.inputs if use.name != "title"]
        for use in unknown:
            message, hint = f"a heading can only read `title`, not `{use.name}`", did_you_mean(use.name, ["title"])
            self.problems.append(place(Problem("undeclared-input", message, hint, "heading", use.span)))
        return None if unknown else template


def groups_around(layout: LayoutSpec, group: str) -> tuple[str, ...]:
    """A group with those around it, the outermost first; a group within itself is reported elsewhere."""
    found: list[str] = []
    while group in layout.groups and group not in found:
        found.append(group)
        group = layout.groups[group].group
    return tuple(reversed(found))


def _titled(heading: Template | None, title: str) -> str:
    return heading.render({"title": trusted(title)}) if heading and title else ""
