"""Problems as pages show them: the words of `cuecard check`, the line with carets, a link to the editor."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Literal
from urllib.parse import quote, urlsplit

from markupsafe import Markup, escape

from cuecard.errors import InputError, Problem, Severity, most_telling, visible
from cuecard.records import dataclass

EDITOR = "vscode://file{path}:{line}:{column}"
"""The template of links without a wish."""

_PLACE = re.compile(r"(?P<file>.+?):(?P<line>\d+)(?::(?P<column>\d+))?")
_RUNS = frozenset({"", "blob", "data", "javascript", "vbscript"})
_LINE = re.compile(r"  (?P<number>\d+) \| (?P<text>.*)")
_CARETS = re.compile(r"  (?P<number> +) \| (?P<text>.*)")


@dataclass(frozen=True, slots=True)
class ProblemView:
    """A problem: where, what, the lines of its picture, the way out, and the code that explains it."""

    severity: Severity
    place: str
    link: str
    message: str
    lines: tuple[tuple[Literal["line", "carets"], str, str], ...]
    hint: str
    code: str


def problem_views(problems: Iterable[Problem], editor: str = "") -> tuple[tuple[ProblemView, ...], int]:
    """The problems that are shown, and how many others there are."""
    told, more = most_telling(problems)
    return tuple(_view(each, editor) for each in told), more


def spoken(text: str) -> Markup:
    """A sentence with its words of code as such, which problems put between backticks."""
    parts = text.split("`")
    told = (Markup("<code>{}</code>").format(part) if n % 2 else escape(part) for n, part in enumerate(parts))
    return Markup("").join(told) if len(parts) % 2 else escape(text)


def _view(problem: Problem, editor: str) -> ProblemView:
    span = problem.span
    place = f"{problem.name}:{span.line}:{span.column}" if span else problem.name
    lines: list[tuple[Literal["line", "carets"], str, str]] = []
    for line in problem.picture().split("\n")[1:]:
        if found := _LINE.fullmatch(line):
            lines.append(("line", found["number"], found["text"]))
        elif found := _CARETS.fullmatch(line):
            lines.append(("carets", found["number"], found["text"]))
    link = editor_link(editor, Path.cwd(), place) if editor and span else ""
    hint = visible(" ".join(problem.hint.split("\n")))
    return ProblemView(
        problem.severity, visible(place), link, visible(problem.message), tuple(lines), hint, problem.code
    )


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
