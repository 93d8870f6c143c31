"""Texts as elements of an XML core: in tags of the section's id, unless they have brought these themselves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from cuecard.agent.section import Render
from cuecard.agent.selections import Written
from cuecard.config.documents.yaml_text import Document
from cuecard.errors import Problem
from cuecard.model import Json
from cuecard.template import element_names
from cuecard.template.markup.tags import FILLER, blanked, mustache_spans, tags
from cuecard.template.syntax.nodes import Program
from cuecard.template.syntax.source import Source


def is_element(source: Source, program: Program, name: str) -> bool:
    """Whether the text is one element of this name, and nothing around it."""
    plain = blanked(source.text, mustache_spans(program.body), FILLER)
    depth, ended = 0, -1
    for tag in tags(plain):
        if depth == 0 and (tag.name != name or plain[: tag.start].strip() or ended >= 0):
            return False
        depth += {"open": 1, "close": -1, "empty": 0}[tag.kind]
        ended = tag.end if depth == 0 else ended
    return ended >= 0 and not plain[ended:].strip()


def in_element(render: Render, name: str | None) -> Render:
    """The text on lines of its own, in tags of this name if there is one; a text that says nothing leaves no tags."""

    def element(values: Mapping[str, Json]) -> str:
        text = render(values).strip()
        if not text:
            return ""
        return f"<{name}>\n{text}\n</{name}>\n" if name else f"{text}\n"

    return element


def element_problems(document: Document, written: Written) -> Iterator[Problem]:
    """An id that can be no name of an element."""
    name = written.spec.id
    if element_names(f"<{name}>") != {name}:
        message, hint = f"`{name}` cannot be the name of an element", "begin it with a letter, such as `a-section`"
        yield document.problem(written.place("id"), "wrong-value", message, hint)
