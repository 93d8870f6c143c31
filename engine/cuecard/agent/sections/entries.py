"""How each entry of a source begins, so that no data can imitate the next entry."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cuecard.config.sections.section_spec import SectionSpec
from cuecard.template.guards.layout_guard import LayoutGuard, layout_guard

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
