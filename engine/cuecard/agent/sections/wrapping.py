"""Wraps the text of a section in the tags of its element."""

from __future__ import annotations

from collections.abc import Mapping

from cuecard.agent.sections.section import Render
from cuecard.model import Json
from cuecard.template.guards.marks import stripped, unmarked


def in_element(render: Render, name: str | None) -> Render:
    """The text on separate lines, in tags with this name if given; an empty text leaves no tags."""

    def element(values: Mapping[str, Json]) -> str:
        text = stripped(render(values))
        if not unmarked(text):
            return ""
        return f"<{name}>\n{text}\n</{name}>\n" if name else f"{text}\n"

    return element
