"""Wraps the text of a section in the tags of its element."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from cuecard.agent.sections.section import Render
from cuecard.model import Json
from cuecard.template.guards.marks import stripped, unmarked


def in_element(render: Render, name: str | None) -> Render:
    """The text on separate lines, in tags with this name if given; an empty text leaves no tags."""
    return partial(_wrapped, render, name)  # no closure, so that a compiled agent can be stored


def _wrapped(render: Render, name: str | None, values: Mapping[str, Json]) -> str:
    text = stripped(render(values))
    if not unmarked(text):
        return ""
    return f"<{name}>\n{text}\n</{name}>\n" if name else f"{text}\n"
