"""Texts of tools that models should not read as they are written."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from cuecard.config.documents.document import problem_at
from cuecard.config.documents.sources import SourceText
from cuecard.config.tools_spec import CUES
from cuecard.errors import Problem, Span
from cuecard.model import ToolCard

TODO = "TODO"
"""The beginning of a text that is still to be written."""


def check_texts(cards: Iterable[ToolCard], files: Sequence[SourceText]) -> Iterator[Problem]:
    """Warnings for texts of tools that models should not read as they are: unfinished, with placeholders or loose tags,
    or very long.
    """
    known = {name: file for file in files for name in (file.name, file.path)}
    for card in cards:
        told = card.instructions
        texts: dict[str, str] = {"description": card.description}
        texts |= {cue: getattr(told, cue) for cue in CUES if told}
        place, _, line = card.source.rpartition(":")
        for found in _of_texts(card.name, texts) if place in known else ():
            file, at = known[place], int(line)
            row = file.text.split("\n")[at - 1]
            span = Span(at, len(row) - len(row.lstrip()) + 1, len(card.name))
            yield problem_at(file.name, file.text, span, found.code, found.message, found.hint, severity=found.severity)


_PLACEHOLDER = re.compile(r"\{{2,3}[^{}]*\}{2,3}")
_CURLY = re.compile(r"\s*[\u201c\u201e\u201f\u2018\u201a][^\u201c-\u201f]*[\u201c\u201d\u2018\u2019]\s*")
_TAG = re.compile(r"<(/?)([A-Za-z][\w.-]*)(?:\s[^<>]*?)?(/?)>")
_CODE = re.compile(r"`[^`]*`")
_LONG_TEXT = 4000
"""The length in characters from which a text of a tool is unusually long: some thousand tokens with each discovery."""


def _of_texts(tool: str, texts: Mapping[str, str]) -> Iterator[Problem]:
    """The problems in a tool's texts, without their place."""
    if waiting := [key for key, text in texts.items() if text.lstrip().startswith(TODO)]:
        hint = "models read these texts: write them, or leave out those that would say nothing"
        message = f"`{tool}` has unfinished texts: {', '.join(waiting)}"
        yield Problem("unfinished-tool", message, hint, severity="warning")
    for key, text in texts.items():
        if found := _PLACEHOLDER.search(text):
            message = f"`{key}` of {tool} contains `{found[0]}`, which nothing fills: the model reads the braces"
            yield Problem(
                "tool-text",
                message,
                "texts of tools have no placeholders: put what differs by call into a section",
                severity="warning",
            )
        if loose := _loose_tag(_CODE.sub("", text)):
            message = f"`{key}` of {tool} has a loose `{loose}`, which other parts of the prompt may seem to belong to"
            yield Problem(
                "tool-text",
                message,
                "close it, or write it without angle brackets or between backticks",
                severity="warning",
            )
        if _CURLY.fullmatch(text):
            message = f"`{key}` of {tool} stands in curly quotes, which YAML takes for letters of the text"
            hint = "write straight quotes, or none"
            yield Problem("tool-text", message, hint, severity="warning")
        if len(text) > _LONG_TEXT:
            message = f"`{key}` of {tool} has {len(text):,} characters, which each discovery of it brings"
            yield Problem(
                "tool-text",
                message,
                "say what the model has to know, and leave the rest to a skill or a page",
                severity="warning",
            )


def _loose_tag(text: str) -> str:
    """The first tag that is opened and never closed, or closed and never opened; empty if there is none."""
    opened: list[tuple[str, str]] = []
    for tag in _TAG.finditer(text):
        if tag[1] and (not opened or opened[-1][0] != tag[2]):
            return tag[0]
        if tag[1]:
            opened.pop()
        elif not tag[3]:
            opened.append((tag[2], tag[0]))
    return opened[0][1] if opened else ""
