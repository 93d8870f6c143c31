"""The marks of a layout that no value may fake: headings, separators, the boundary."""

from __future__ import annotations

from cuecard.config.sections.section_spec import LayoutSpec
from cuecard.template.layout_guard import LayoutGuard, layout_guard


def guard_of(layout: LayoutSpec) -> LayoutGuard:
    """What keeps values from looking like this layout: its headings, its separators, its boundary.

    Raises:
        SpecError: for a mark that cannot be kept out of values.
    """
    headings = [layout.heading, *(group.heading for group in layout.groups.values() if group.heading)]
    marker = layout.boundary.marker.split("\n") if layout.boundary else ()
    return layout_guard(map(_mark, headings), layout.separator.split("\n"), marker)


def _mark(heading: str) -> str:
    """What the line of a heading begins with."""
    return heading.lstrip("\n").partition("{{")[0].partition("\n")[0]
