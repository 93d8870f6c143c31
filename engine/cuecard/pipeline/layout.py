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
    begun: set[bool] = set()
    under: tuple[Leads, bool] = (), True
    for frame, body in zip(frames, bodies, strict=True):
        if not body:
            pieces.append(Piece(frame.id, stable=frame.stable))
            continue
        before = layout.separator if frame.stable in begun else ""
        if not frame.stable and False not in begun and layout.marker:
            before = layout.marker
        begun.add(frame.stable)
        lead = new_leads(under[0] if under[1] == frame.stable else (), frame.leads)
        under = frame.leads, frame.stable
        pieces.append(Piece(frame.id, before + lead + frame.heading, body, frame.stable))
    return tuple(pieces)


def new_leads(before: Leads, now: Leads) -> str:
    """The headings of the groups that begin here: those in `now` that do not continue from `before`."""
    same = 0
    while same < min(len(before), len(now)) and before[same] == now[same]:
        same += 1
    return "".join(heading for _, heading in now[same:])
