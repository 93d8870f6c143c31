"""The elements and beginnings of entries that data must not imitate."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain
from typing import Any

from cuecard.config.agent_file import AgentFile
from cuecard.config.documents.sources import AgentSources
from cuecard.config.sections.section_spec import SectionSpec
from cuecard.errors import TemplateError
from cuecard.template import element_names
from cuecard.template.guards.layout import LayoutGuard, layout_guard
from cuecard.template.syntax.nodes import Expression, HelperCall, Literal, as_path, calls_in
from cuecard.template.syntax.parser import parse
from cuecard.template.syntax.source import TemplateSource

_HEADING = re.compile(r"^[ ]{0,3}(#{1,6})(?=[ \t])", re.MULTILINE)
_UNDERLINED = re.compile(r"^[ ]{0,3}(?![-+*>#|=\s]).*\n[ ]{0,3}(=+|-+)[ \t]*$", re.MULTILINE)
"""An underlined heading, which cannot follow a list item, a quote, a heading or a table."""

_RANKS = {"=": "#", "-": "##"}
_FENCED = re.compile(r"^[ ]{0,3}(`{3,}|~{3,}).*?(?:^[ ]{0,3}\1|\Z)", re.MULTILINE | re.DOTALL)


def elements_written(spec: AgentFile, sources: AgentSources) -> frozenset[str]:
    """The names of all elements in the texts of sections, their sources, and the changes by profiles and variants.

    They include those of the engine's own words.

    No data may open or close any of them in any section: sections are separate templates, but share one prompt.
    """
    texts = _texts(spec, sources)
    if sources.template:
        texts += [sources.template.text, *(f"<{section.id}>" for section in spec.sections)]
    return spec.words.elements.union(*map(element_names, texts), *map(_wrapped, texts))


def _wrapped(text: str) -> Iterator[str]:
    """The elements that the helper `xml` writes, as far as their names are literals."""
    if "xml" not in text or "{{" not in text:
        return
    try:
        calls = calls_in(parse(TemplateSource("", text)).body)
    except TemplateError:  # who compiles it says so
        return
    for call in calls:
        if as_path(call.head).original == "xml":
            yield from (str(name.value) for name in chain.from_iterable(map(_literals, call.params[1:])))


def _literals(value: Expression) -> Iterator[Literal]:
    """The literal texts that an expression may produce, including those in nested calls."""
    if isinstance(value, Literal):
        yield value
    elif isinstance(value, HelperCall):
        yield from chain.from_iterable(map(_literals, value.params))


def headings_written(spec: AgentFile, sources: AgentSources) -> tuple[str, ...]:
    """The beginnings of the Markdown headings in an agent's texts, such as `## `.

    As with elements, no data may write a heading of such a level in any section. Lines in code fences are not headings.
    """
    texts = [_FENCED.sub("", text) for text in _texts(spec, sources)]
    ranks = {found[1] for text in texts for found in _HEADING.finditer(text)}
    ranks |= {_RANKS[found[1][0]] for text in texts for found in _UNDERLINED.finditer(text)}
    return tuple(f"{rank} " for rank in sorted(ranks))


def _texts(spec: AgentFile, sources: AgentSources) -> list[str]:
    texts = [file.text for file in (*sources.partials, *sources.sections)]
    for section in spec.sections:
        texts += _strings(section.model_dump())
    for selection in (*spec.profiles.values(), *spec.variants.values()):
        texts += [text for patch in selection.sections for text in _strings(patch.model_dump(exclude_unset=True))]
    return [*texts, spec.layout.heading, *_strings([group.model_dump() for group in spec.layout.groups.values()])]


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _strings(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _strings(item)


_BULLET = re.compile(r"(?:[-*+]|\d+[.)])\s+")


def entries_guard(spec: SectionSpec) -> LayoutGuard | None:
    """The line beginnings that data in the section must not have: those of its entries, and the separators between
    them.

    A bullet alone does not count if entries contain whole texts, which may have their own lists.
    """
    starts, between = [*_starts(spec)], [*_separators(spec)]
    usable = [mark for mark in dict.fromkeys(starts) if "\\" not in mark and not mark.startswith("<")]
    lines = [mark for mark in between if mark.strip() and "\\" not in mark]
    return layout_guard(usable, lines) if usable or lines else None


def _starts(spec: SectionSpec) -> Iterator[str]:
    for form, whole in _forms(spec):
        yield from line_starts(form, whole=whole)


def line_starts(form: str, *, whole: bool) -> Iterator[str]:
    """The beginnings of a template's lines that print values; not a bullet alone if these are `whole` texts."""
    for line in form.splitlines():
        mark = line.partition("{{")[0].lstrip()
        if "{{" in line and mark.strip() and not (whole and _BULLET.fullmatch(mark)):
            yield mark


def _forms(spec: SectionSpec) -> Iterator[tuple[str, bool]]:
    """The template of each kind of entry, and whether it contains whole texts; a one-line text cannot imitate
    anything.
    """
    if spec.files:
        yield spec.files.item, True
    if spec.rows and spec.rows.lines == "keep":
        yield spec.rows.item, False
    if spec.tools and spec.tools.lines == "keep":
        yield spec.tools.item, False
    if spec.skills:
        yield from ((spec.skills.item, True), (spec.skills.body, True))


def _separators(spec: SectionSpec) -> Iterator[str]:
    for source in (spec.files, *(each for each in (spec.rows, spec.tools) if each and each.lines == "keep")):
        if source:
            yield from source.separator.split("\n")
