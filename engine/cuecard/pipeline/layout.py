"""Joins sections: headings, separators, and the boundary between stable and changing text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from cuecard.agent.sections.layout import Layout
from cuecard.agent.sections.section import Section

Leads: TypeAlias = tuple[tuple[str, str], ...]
"""Groups, the outermost first, each with its heading."""


def lay_out(layout: Layout, sections: Sequence[Section], bodies: Sequence[str]) -> list[str]:
    """The pieces of a prompt, one for each section, which concatenated are the prompt; empty for an empty section.

    An empty section leaves neither heading nor separator. The boundary comes before the first non-empty section after
    it, even if all sections before it are empty; if all sections after it are empty, there is no boundary. The heading
    of a group comes before its first non-empty section, and again if another section or the boundary interrupts the
    group.
    """
    pieces: list[str] = []
    above: Section | None = None
    for section, body in zip(sections, bodies, strict=True):
        pieces.append(before(layout, above, section) + body if body else "")
        above = section if body else above
    return pieces


def before(layout: Layout, above: Section | None, section: Section) -> str:
    """What stands before a section's body: separator or boundary, then headings.

    Args:
        layout: how sections are joined.
        above: the last section before it that is not empty, if there is one.
        section: the section.
    """
    if above and above.stable == section.stable:
        return layout.separator + new_leads(above.leads, section.leads) + section.heading
    return ("" if section.stable else layout.marker) + new_leads((), section.leads) + section.heading


def new_leads(before: Leads, now: Leads) -> str:
    """The headings of the groups that begin here: those in `now` that do not continue from `before`."""
    if not now:
        return ""
    same = 0
    while same < min(len(before), len(now)) and before[same] == now[same]:
        same += 1
    return "".join(heading for _, heading in now[same:])
