"""Links that open an editor at a line, made from a template such as `vscode://file/{path}:{line}:{column}`."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import quote, urlsplit

from cuecard.errors import InputError, Problem

EDITOR = "vscode://file{path}:{line}:{column}"
"""The template without a wish."""

_PLACE = re.compile(r"(?P<file>.+?):(?P<line>\d+)(?::(?P<column>\d+))?")
_RUNS = frozenset({"", "blob", "data", "javascript", "vbscript"})


def check_editor(template: str) -> str:
    """The template itself.

    Raises:
        InputError: when no link can be made of it, or a browser would run it.
    """
    try:
        scheme = urlsplit(template.format(path="/", line=1, column=1)).scheme.lower()
    except (ValueError, LookupError, AttributeError):
        scheme = ""
    if scheme in _RUNS or "{path}" not in template:
        hint = f"write a link with the places to fill in, such as `{EDITOR}`"
        raise InputError(Problem("wrong-option", "no link to an editor can be made of this", hint, "--editor"))
    return template


def editor_link(template: str, folder: Path, place: str) -> str:
    """The link to a place such as `agent.xml:47`, whose file is relative to a folder; empty if it is no such place."""
    found = _PLACE.fullmatch(place)
    if not found:
        return ""
    path = (folder / found["file"]).absolute()
    parts = [part for part in path.parts if part != "."]
    clean: list[str] = []
    for part in parts:
        clean = clean[:-1] if part == ".." and len(clean) > 1 else [*clean, part]
    told = quote(Path(*clean).as_posix(), safe="/:")
    return template.format(path=told, line=found["line"], column=found["column"] or "1")


def short_place(place: str) -> str:
    """The place without the folders of its file, as rows show it; empty if it is none."""
    return place.rpartition("/")[2] if _PLACE.fullmatch(place) else ""
