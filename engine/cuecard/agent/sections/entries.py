"""How each entry of a source begins, so that none can hold what looks like the next one."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cuecard.config.sections.section_spec import SectionSpec
from cuecard.template.guards.layout_guard import LayoutGuard, layout_guard

_BULLET = re.compile(r"(?:[-*+]|\d+[.)])\s+")


def entries_guard(spec: SectionSpec) -> LayoutGuard | None:
    """What no data of the section may begin a line with: what its entries begin with, and what stands between them.

    A bullet alone is no beginning where entries hold whole texts, which may have lists of their own.
    """
    starts, between = [*_starts(spec)], [*_separators(spec)]
    usable = [mark for mark in dict.fromkeys(starts) if "\\" not in mark and not mark.startswith("<")]
    lines = [mark for mark in between if mark.strip() and "\\" not in mark]
    return layout_guard(usable, lines) if usable or lines else None


def _starts(spec: SectionSpec) -> Iterator[str]:
    for form, whole in _forms(spec):
        yield from line_starts(form, whole=whole)


def line_starts(form: str, *, whole: bool) -> Iterator[str]:
    """What lines of a template begin with that print values; not a bullet alone where these are `whole` texts."""
    for line in form.splitlines():
        mark = line.partition("{{")[0].lstrip()
        if "{{" in line and mark.strip() and not (whole and _BULLET.fullmatch(mark)):
            yield mark


def _forms(spec: SectionSpec) -> Iterator[tuple[str, bool]]:
    """The form of each kind of entry, and whether it holds whole texts; a text of one line poses as nothing."""
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
