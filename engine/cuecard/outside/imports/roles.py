"""Prompty's role lines, such as `system:`, which split a text into messages."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence

from cuecard.outside.imports.parts import ROLES, Message, Notes, Role
from cuecard.template.syntax.nodes import Content
from cuecard.template.syntax.parser import parse
from cuecard.template.syntax.source import Source

_LINE = re.compile(
    r"^[^\S\n]*(?:#[^\S\n]*)?(?P<role>system|user|assistant|developer|function)(?P<more>\[[^\]\n]*\])?[^\S\n]*:[^\S\n]*$",
    re.IGNORECASE | re.MULTILINE,
)


def messages(text: str, notes: Notes, first_line: int) -> Iterator[Message]:
    """The messages of a Handlebars template; a text before the first role belongs to the system.

    Args:
        text: the template; roles must be outside blocks.
        notes: collects roles that do not exist here.
        first_line: where the template begins in its file.
    """
    role: Role = "system"
    at, line = 0, first_line - 1
    rows = _rows(notes)
    for found in _lines(text):
        if text[at : found.start()].strip():
            yield Message(role, text[at : found.start()].strip("\n"))
        at = found.end()
        word = found["role"].lower()
        line = _line(rows.get(found[0].strip(), ()), line)
        if word not in ROLES:
            notes.add(line, f"a section cannot have the role `{word}`", "results of tools come with the turn")
        elif word == "developer":
            notes.add(
                line,
                "`developer` becomes part of the system prompt here",
                "no action needed if that is intended",
                "warning",
            )
        if found["more"]:
            notes.add(
                line, f"`{found['more']}` of a message has no counterpart", "name the speaker in the text", "warning"
            )
        role = ROLES.get(word, "user")
    if text[at:].strip():
        yield Message(role, text[at:].strip("\n"))


def _lines(text: str) -> Iterator[re.Match[str]]:
    """Role lines outside blocks; a line with a value is a text."""
    plain = [node for node in parse(Source("prompt", text)).body if isinstance(node, Content)]
    starts = [node.start for node in plain]
    for found in _LINE.finditer(text):
        at = bisect_right(starts, found.start()) - 1
        if at >= 0 and found.end() <= plain[at].end:
            yield found


def _rows(notes: Notes) -> Mapping[str, Sequence[int]]:
    """The line numbers of a file, by their text."""
    rows: dict[str, list[int]] = {}
    for number, row in enumerate(notes.lines, 1):
        rows.setdefault(row.strip(), []).append(number)
    return rows


def _line(numbers: Sequence[int], before: int) -> int:
    """The next of these lines, or the previous one if it is not in the file, so that roles stay in order."""
    at = bisect_right(numbers, before)
    return numbers[at] if at < len(numbers) else before
