"""Joins sections: headings, separators, and the boundary between stable and changing text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from cuecard.agent.sections.layout import Layout
from cuecard.records import dataclass

Leads: TypeAlias = tuple[tuple[str, str], ...]
"""Groups, the outermost first, each with its heading."""


@dataclass(frozen=True, slots=True)
class Frame:
    """What is known about a section before its text: its heading, and on which side of the boundary it is.

    `leads` are the groups around it, the outermost first, each with its heading.
    """

    id: str
    heading: str = ""
    stable: bool = True
    leads: Leads = ()


@dataclass(frozen=True, slots=True)
class Piece:
    """A section's part of the prompt: the text before its body, and the body; both empty if the section is."""

    id: str
    before: str = ""
    body: str = ""
    stable: bool = True

    @property
    def text(self) -> str:
        """The text of the piece in the prompt."""
        return self.before + self.body


def lay_out(layout: Layout, frames: Sequence[Frame], bodies: Sequence[str]) -> tuple[Piece, ...]:
    """The pieces of a prompt, whose texts concatenated are the prompt.

    An empty section leaves neither heading nor separator. The boundary comes before the first non-empty section after
    it, even if all sections before it are empty; if all sections after it are empty, there is no boundary. The heading
    of a group comes before its first non-empty section, and again if another section or the boundary interrupts the
    group.
    """
    pieces: list[Piece] = []
    above: Frame | None = None
    for frame, body in zip(frames, bodies, strict=True):
        pieces.append(Piece(frame.id, before(layout, above, frame) if body else "", body, frame.stable))
        above = frame if body else above
    return tuple(pieces)


def before(layout: Layout, above: Frame | None, frame: Frame) -> str:
    """What stands before a section's body: separator or boundary, then headings.

    Args:
        layout: how sections are joined.
        above: the last section before it that is not empty, if there is one.
        frame: the section.
    """
    if above and above.stable == frame.stable:
        return layout.separator + new_leads(above.leads, frame.leads) + frame.heading
    return ("" if frame.stable else layout.marker) + new_leads((), frame.leads) + frame.heading


def new_leads(before: Leads, now: Leads) -> str:
    """The headings of the groups that begin here: those in `now` that do not continue from `before`."""
    same = 0
    while same < min(len(before), len(now)) and before[same] == now[same]:
        same += 1
    return "".join(heading for _, heading in now[same:])
