"""Adds new tools to a file of tool instructions, leaving every existing line unchanged."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace

from cuecard.config.documents.document import Document
from cuecard.config.documents.validation import validate
from cuecard.config.documents.yaml import read_yaml
from cuecard.config.tool_file import ToolFile
from cuecard.config.tools_spec import CUES
from cuecard.errors import SpecError
from cuecard.model import ToolCard

HEAD = """\
# What the agent's authors say of these tools. `cuecard tools import` adds new ones, and changes no text that is here.
# To give a tool instructions, run `cuecard tools add NAME`, and write those of the four that say something:
#   before: what to have or to check first
#   after: what to do or to say when it has succeeded
#   next: the tools that usually follow
#   gotcha: what goes wrong, and how to avoid it
"""

MAX_CHARACTERS = 200_000
"""The maximum length of a file in characters; further tools go into another file."""

_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9 ,.()/_-]*[A-Za-z0-9.)]")
_YAML_WORDS = frozenset(("true", "false", "null", "yes", "no", "on", "off", "nan", "inf"))
_NOTHING = re.compile(r":\s*(?:\{\s*\}|null|~)?(\s*(?:#.*)?)$")


def new_file(category: str) -> str:
    """The text of a file without tools."""
    return f"{HEAD}category: {quoted(category)}\n"


def with_tools(text: str, cards: Sequence[ToolCard], name: str) -> str:
    """The text of a file with these tools added after the existing ones.

    A tool with instructions goes under `tools:`, one without under `described:`.

    Raises:
        SpecError: when the file is not a tool file, or writes the mapping in braces, so that no line can be added.
    """
    for key in ("tools", "described"):
        lines = [line for c in cards if (c.instructions is not None) == (key == "tools") for line in _entry(c)]
        text = _with_lines(text, key, lines, name) if lines else text
    # Existing files may contain more than this module expects.
    validate(read_yaml(text, name), ToolFile)
    return text


def with_instructions(text: str, card: ToolCard, name: str) -> str:
    """The text of a file with a described tool's entry moved to `tools:`, and the card's instructions added to it.

    What its author wrote moves as it is, with its comments; only braces are written out as lines.

    Raises:
        SpecError: when braces are in the way, so that no line can be moved.
    """
    document = read_yaml(text, name)
    own, key = document.keys["described",], document.keys["described", card.name]
    names = [span for path, span in document.keys.items() if len(path) == 2 and path[0] == "described"]
    rows = [row + "\n" for row in text.rstrip("\n").split("\n")]
    start, outer = key.line - 1, key.column - 1
    end = _end(rows, key.line, outer)
    fields = [span for path, span in document.keys.items() if path[:-1] == ("described", card.name)]
    lines = [row[outer:].rstrip("\n") if row.strip() else "" for row in rows[start:end]]
    inner = fields[0].column - 1 - outer if fields else 2
    if not fields or fields[0].line == key.line:
        if own.line == key.line or (end > key.line and any("#" in row for row in rows[start:end])):
            message, hint = "cannot move an entry that is written in braces", "write it with indented lines instead"
            raise SpecError(document.problem(("described", card.name), "yaml-syntax", message, hint, key=True))
        value = document.values["described", card.name]
        lines, inner = _entry(replace(card, instructions=None)), 2
        lines[0] += rows[start][value.column - 1 + value.length :].rstrip("\n") if end == key.line else ""
    cues = (line for cue in CUES for line in _text(cue, getattr(card.instructions, cue)))
    lines += [f"{' ' * inner}{line[2:]}" for line in cues]
    while key != names[0] and rows[start - 1].startswith(f"{' ' * outer}#"):
        start -= 1
        lines.insert(0, rows[start][outer:].rstrip("\n"))
    rest = [*rows[:start], *rows[end:]]
    if names == [key]:
        remark = rest[own.line - 1].partition("#")[2]
        rest[own.line - 1] = f"#{remark}" if remark else ""
    validate(read_yaml(moved := _with_lines("".join(rest), "tools", lines, name), name), ToolFile)
    return moved


def _with_lines(text: str, key: str, lines: Sequence[str], name: str) -> str:
    document = read_yaml(text, name) if _has_content(text) else Document(name, text, {})
    rows = text.splitlines(keepends=True)
    if rows and not rows[-1].endswith("\n"):
        rows[-1] += "\n"
    if (key,) not in document.keys:
        return "".join([*rows, f"{key}:\n", *_indented(lines, 2)])
    own = document.keys[(key,)]
    inner = [span for path, span in document.keys.items() if len(path) == 2 and path[0] == key]
    if not inner:
        at = own.line - 1
        rows[at] = _NOTHING.sub(r":\1", rows[at].rstrip("\n")).rstrip() + "\n"
        return "".join([*rows[: at + 1], *_indented(lines, own.column + 1), *rows[at + 1 :]])
    if any(span.line == own.line for span in inner):
        message = "cannot add to a mapping that is written on one line"
        hint = "write it with indented lines instead of braces"
        raise SpecError(document.problem((key,), "yaml-syntax", message, hint, key=True))
    end = _end(rows, own.line, own.column - 1)
    return "".join([*rows[:end], *_indented(lines, inner[0].column - 1), *rows[end:]])


def _indented(lines: Sequence[str], indent: int) -> list[str]:
    return [f"{' ' * indent}{line}".rstrip(" ") + "\n" for line in lines]


def _end(rows: Sequence[str], start: int, outer: int) -> int:
    """The position after the last line of the mapping that begins at a line; comments after it stay after it."""
    end = start
    for at in range(start, len(rows)):
        row = rows[at]
        if not row.strip() or row.lstrip().startswith("#"):
            continue
        if len(row) - len(row.lstrip(" ")) <= outer:
            break
        end = at + 1
    return end


def _has_content(text: str) -> bool:
    return any(line.strip() and not line.lstrip().startswith("#") for line in text.splitlines())


def _entry(card: ToolCard) -> list[str]:
    """The lines of an entry, indented like its name."""
    is_told = card.description or card.instructions is None
    lines = [f"{quoted(card.name)}:", *(_text("description", card.description) if is_told else ())]
    if card.phrases:
        lines += ["  phrases:", *(f"    - {quoted(phrase)}" for phrase in card.phrases)]
    if card.instructions is None:
        return lines
    told = ((key, getattr(card.instructions, key)) for key in CUES)
    return [*lines, *(line for key, text in told if text for line in _text(key, text))]


def _text(key: str, text: str) -> list[str]:
    """A text as a person would write it: on one line, or as a block if it has several plain lines."""
    rows = text.split("\n")
    plain = all(row.isprintable() and row == row.rstrip() for row in rows)
    if len(rows) > 1 and plain and rows[0] and not rows[0].startswith(" ") and rows[-1]:
        return [f"  {key}: |-", *(f"    {row}" for row in rows)]
    return [f"  {key}: {quoted(text)}"]


def quoted(text: str) -> str:
    """A text as YAML: in double quotes unless it consists of plain words."""
    if _PLAIN.fullmatch(text) and text.lower() not in _YAML_WORDS:
        return text
    said = json.dumps(text, ensure_ascii=False)
    return "".join(c if c.isprintable() else f"\\U{ord(c):08X}" for c in said)
